#!/usr/bin/env python3
"""Runs XLA's own .hlo tests and compares each result with tools/xla_tests.tsv.

    tools/xla_tests.py --files DIR --binary target/release/hlo-check [--write]

Of the files in DIR those count whose RUN lines call nothing but hlo-opt (without --platform and --stage), FileCheck
and a few small programs. Every one must be in the table, end as the table says and for the reason it gives, and the
table must be what the rule gives: a pass that is not provided ends a test UNSUPPORTED, an option that only XLA can
honour likewise, an unknown pass fails it. Files without RUN lines, and those that call other programs, are run too:
there it only matters that their RUN lines can be read. --write writes the table anew; look at the difference.

The tests run on copies, since results are written beside them.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = {"hlo-opt", "FileCheck", "sed", "echo", "not", "xargs", "sort", "ls"}
BEYOND = ("--platform", "--stage")
HEADER = "# file\tresult\treason; written by tools/xla_tests.py --write\n"


def run_lines(text):
  """The RUN lines of a test, continued ones in one piece."""
  lines, unfinished = [], ""
  for match in re.finditer(r"RUN:[ \t]*(.*)", text):
    line = unfinished + match.group(1).rstrip()
    if line.endswith("\\"):
      unfinished = line[:-1] + " "
    else:
      lines.append(line)
      unfinished = ""
  return lines


def without_quotes(line):
  """The line with quoted text made harmless, so that operators in it don't count."""
  return re.sub(r"'[^']*'|\"[^\"]*\"", lambda match: "q" * len(match.group()), line)


def programs(line):
  """The programs a RUN line calls, those that others call for it included."""
  found = set()
  for command in re.split(r"\|\|?|&&|;", without_quotes(line)):
    words = command.split()
    while words:
      found.add(words[0])
      if words[0] == "not":
        words = words[1:]
      elif words[0] == "xargs" and words[1:2] == ["-I"]:
        words = words[3:]
      else:
        break
  return found


def counts(text):
  """Whether a file is one of those the table is about."""
  lines = run_lines(text)
  return bool(lines) and all(
    programs(line) <= PROGRAMS and not any(option in line for option in BEYOND) for line in lines
  )


def passes_of(line, listed):
  """The passes that the calls of hlo-opt in a RUN line name, in order."""
  found = []
  for match in re.finditer(r"(?<!\S)--?passes[= ](\S+)", line):
    value = match.group(1).strip("'\"")
    found += listed if value == "{}" else value.split(",")
  return found


def by_rule(name, text, status, folder):
  """The result the rule gives, `None` where the checks decide: (result, what the reason must name)."""
  for line in run_lines(text):
    if "hlo-opt" not in programs(line):
      continue
    for key in passes_of(line, list(status)):
      if status.get(key, "known to XLA") == "unimplemented":
        return "UNSUPPORTED", key
      if key not in status:
        negated = re.match(r"\s*not\b", line)
        return (None, "") if negated else ("UNSUPPORTED", key)
    for path in re.findall(r"%s/\.\./(\S+)", line):
      if not os.path.exists(os.path.join(folder, path)):
        return "FAIL", path
  return None, ""


def reason_of(code, log, text):
  """The sentence that explains a result. Where a test runs every pass there is, which of those that are not
  implemented comes first is left open."""
  if code == "UNSUPPORTED":
    reason = log.strip().splitlines()[0] if log.strip() else ""
    unimplemented = re.match(r"pass (\S+) is not implemented", reason)
    if unimplemented:
      named = any(unimplemented.group(1) in passes_of(line, []) for line in run_lines(text))
      return unimplemented.group() if named else "a pass of --list-passes is not implemented"
    return reason
  if code == "FAIL":
    error = re.search(r"^# \| (error: .*)$", log, re.M)
    return "hlo-opt can't read its input" if error and "can't read" in error.group(1) else "a check fails"
  return "all checks hold"


def run(binary, folder, names):
  """{file: (code, log)}"""
  with tempfile.TemporaryDirectory() as temp:
    for name in names:
      shutil.copy(os.path.join(folder, name), temp)
    with open(os.path.join(temp, "lit.toml"), "w", encoding="utf-8") as file:
      file.write('name = "xla"\nsuffixes = [".hlo"]\n')
    output = os.path.join(temp, "results.json")
    command = [os.path.abspath(binary), "--quiet", "--ignore-fail", "--skip-test-time-recording",
               "--diagnostics=compatible", "-o", output, temp]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not os.path.exists(output):
      sys.exit(f"{binary} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    with open(output, encoding="utf-8") as file:
      tests = json.load(file)["tests"]
  return {test["name"].split(" :: ", 1)[1]: (test["code"], test["output"]) for test in tests}


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--files", required=True, help="folder of the tests")
  parser.add_argument("--binary", default="target/release/hlo-check")
  parser.add_argument("--table", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "xla_tests.tsv"))
  parser.add_argument("--write", action="store_true", help="write the table")
  args = parser.parse_args()

  names = sorted(name for name in os.listdir(args.files) if name.endswith(".hlo"))
  texts = {}
  for name in names:
    with open(os.path.join(args.files, name), encoding="utf-8", errors="replace") as file:
      texts[name] = file.read()
  with_lines = [name for name in names if run_lines(texts[name])]
  results = run(args.binary, args.files, with_lines)
  listing = subprocess.run([args.binary, "opt", "--list-passes=json"], capture_output=True, text=True, check=True)
  status = {row["key"]: row["status"] for row in json.loads(listing.stdout)}

  faults = []
  rows = []
  for name in with_lines:
    code, log = results.get(name, ("MISSING", ""))
    if code in ("UNRESOLVED", "MISSING", "TIMEOUT"):
      faults.append(f"{name}: {code}\n{log}")
    if not counts(texts[name]):
      continue
    reason = reason_of(code, log, texts[name])
    rows.append((name, code, reason))
    wanted, named = by_rule(name, texts[name], status, args.files)
    if wanted is not None and (code != wanted or (wanted == "UNSUPPORTED" and named not in log)):
      faults.append(f"{name}: {code} ({reason}), but by the rule {wanted} because of {named}\n{log}")

  if args.write:
    with open(args.table, "w", encoding="utf-8") as file:
      file.write(HEADER)
      file.writelines("\t".join(row) + "\n" for row in rows)
  with open(args.table, encoding="utf-8") as file:
    table = [tuple(line.rstrip("\n").split("\t")) for line in file if not line.startswith("#")]
  expected = {row[0]: row for row in table}
  for row in rows:
    if expected.get(row[0]) != row:
      faults.append(f"{row[0]}: {row[1]} ({row[2]}), but the table says {expected.get(row[0], ('', 'nothing'))[1:]}")
  faults += [f"{name}: in the table, but not among the tests" for name in expected if name not in {row[0] for row in rows}]

  summary = {}
  for _, code, _ in rows:
    summary[code] = summary.get(code, 0) + 1
  shown = ", ".join(f"{count} {code}" for code, count in sorted(summary.items()))
  print(f"{len(rows)} tests of hlo-opt and FileCheck alone: {shown}; "
        f"{len(with_lines) - len(rows)} others could be read; {len(faults)} faults")
  print("\n".join(faults), end="\n" if faults else "")
  sys.exit(1 if faults else 0)


if __name__ == "__main__":
  main()
