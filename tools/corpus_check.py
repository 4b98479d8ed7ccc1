#!/usr/bin/env python3
"""Checks on a reference folder that its scorers don't make.

    corpus_check.py --shared DIR [--batch CMD] [--roundtrip PROGRAM]

1. Round trip: every module that XLA accepts, and every dump of corpus/real, is read in lenient mode; its default print
   (constants in full), its print as read and its short print must read back as the same module, and the second print must
   equal the first. Exempt are: the cut dumps, which must be refused (index.tsv: still rejected after the small fix); short
   prints of modules with control predecessors or metadata, which XLA's short form leaves out; and what lenient mode refuses by
   design, by the code of the refusal (KNOWN_DIFFERENCES.md).
2. Elided constants: prints of modules with `constant({...})` must be XLA's, once the made-up numbers that XLA prints for
   them are taken out.
"""

import argparse
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

SETS = ("corpus/embedded/modules.jsonl.gz", "corpus/embedded/probes.jsonl", "conformance/constructs.jsonl")
# Refused in lenient mode because XLA drops a part of the text.
REFUSED_BY_DESIGN = ("HLO0013", "HLO0007", "HLO0022")
REFUSED_BY_DESIGN_LIMIT = 3


def records(path):
  opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
  with opened:
    yield from map(json.loads, opened)


def roundtrip(program, paths):
  """The first line of each failure, by path."""
  run = subprocess.run([program, "--quiet", "-"], input="\n".join(paths), capture_output=True, text=True, check=False)
  if not re.search(r"^\d+ files, \d+ failures$", run.stdout, re.MULTILINE):
    sys.exit(f"{program} ended early: {run.stderr[-500:]}")
  failures = {}
  for line in run.stdout.splitlines():
    path, colon, fault = line.partition(": ")
    if colon and path in known_paths:
      failures[path] = fault
  return failures


known_paths = set()


def check_roundtrips(shared, program):
  faults = []
  with tempfile.TemporaryDirectory() as folder:
    texts = {}
    for name in SETS:
      for number, record in enumerate(records(os.path.join(shared, name))):
        if record.get("verdict") == "accept":
          path = os.path.join(folder, f"{os.path.basename(name).split('.')[0]}-{number}.hlo")
          texts[path] = (record["id"], record["text"])
          with open(path, "w", encoding="utf-8", newline="") as out:
            out.write(record["text"])
    for name in ("corpus/files", "corpus/big"):
      for record in records(os.path.join(shared, name, "files.jsonl")):
        if record.get("verdict") == "accept":
          path = os.path.join(shared, name, record["name"])
          with open(path, encoding="utf-8", errors="replace") as text:
            texts[path] = (record["name"], text.read())
    known_paths.update(texts)
    failures = roundtrip(program, list(texts))
    reordered = refused = 0
    for path, fault in failures.items():
      identity, text = texts[path]
      if fault.startswith("second short print") and ("control-predecessors" in text or "metadata=" in text):
        reordered += 1
      elif fault.startswith("rejected: ") and any(f": {code}: " in fault for code in REFUSED_BY_DESIGN):
        refused += 1
      else:
        faults.append(f"{identity}: {fault}")
    if refused > REFUSED_BY_DESIGN_LIMIT:
      faults.append(f"{refused} modules are refused by design, at most {REFUSED_BY_DESIGN_LIMIT} should be")
    print(f"round trip: {len(texts)} accepted modules, {len(faults)} faults; {reordered} short prints without "
          f"what the short form leaves out, {refused} refused by design")

  real = os.path.join(shared, "corpus/real")
  with open(os.path.join(real, "index.tsv"), encoding="utf-8") as index:
    columns, *rows = [line.rstrip("\n").split("\t") for line in index]
  verdict = columns.index("verdict_after_small_fix")
  cut = {row[0] for row in rows if len(row) > verdict and row[verdict].startswith("reject")}
  paths = sorted(os.path.join(real, name) for name in os.listdir(real) if name.endswith(".hlo"))
  known_paths.update(paths)
  failures = {os.path.basename(path): fault for path, fault in roundtrip(program, paths).items()}
  for name, fault in failures.items():
    if name not in cut or not fault.startswith("rejected: "):
      faults.append(f"{name}: {fault}")
  faults += [f"{name}: is cut, but was accepted" for name in sorted(cut - set(failures))]
  print(f"round trip: {len(paths)} real dumps, {len(failures)} rejected, {len(cut)} of the dumps are cut")
  return faults


def elided(text, is_elided):
  """The lines of a print without the payload of the constants whose name is in `is_elided`."""
  lines = []
  for line in text.splitlines():
    match = re.match(r"(\s*(?:ROOT )?%?([^ ]+) = \S+ constant\().*?(\)(?:,.*)?)$", line)
    lines.append(match[1] + match[3] if match and match[2] in is_elided else line)
  return lines


def check_elided(shared, batch):
  """Compares the default prints of modules with elided constants."""
  server = subprocess.Popen(shlex.split(batch), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
  faults = []
  count = 0
  for record in records(os.path.join(shared, SETS[0])):
    if not record["dots"] or record.get("verdict") != "accept" or "default" not in record:
      continue
    for form in ("default", "short"):
      if form not in record:
        continue
      request = {"id": record["id"], "text": record["text"], "options": form, "large_constants": False}
      server.stdin.write(json.dumps(request) + "\n")
      server.stdin.flush()
      answer = json.loads(server.stdout.readline())
      count += 1
      names = set(re.findall(r"%?([^\s%=]+) = \S+ constant\(\{\.\.\.\}\)", answer.get("text", "")))
      ours, theirs = elided(answer.get("text", ""), names), elided(record[form], names)
      if ours != theirs:
        different = next((pair for pair in zip(ours, theirs) if pair[0] != pair[1]), ("", "other length"))
        faults.append(f"{record['id']} {form}: {different[0].strip()[:150]} | {different[1].strip()[:150]}")
  server.stdin.close()
  server.wait()
  print(f"elided constants: {count} prints, {len(faults)} differ")
  return faults


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--shared", required=True)
  parser.add_argument("--batch", default="target/release/hlo-check batch text --strict")
  parser.add_argument("--roundtrip", default="target/release/examples/roundtrip")
  args = parser.parse_args()
  faults = check_roundtrips(args.shared, args.roundtrip) + check_elided(args.shared, args.batch)
  for fault in faults:
    print("FAULT", fault[:400])
  return 1 if faults else 0


if __name__ == "__main__":
  sys.exit(main())
