#!/usr/bin/env python3
"""Runs the scorers of a reference folder against the release build and holds the results to floors.

    score.py --shared DIR [--floors FILE] [--raise] [--only NAME]

DIR is a folder with score/text_score.py, score/filecheck_score.py and the data they read. A floor is a line
`set column metric permille` of the floors file; a result below its floor fails the run. --raise writes the results as
new floors where they are higher; floors are never lowered.
"""

import argparse
import os
import re
import subprocess
import sys

TEXT_SETS = {
    "embedded": (["corpus/embedded/modules.jsonl.gz"], "default,short,canonical"),
    "probes": (["corpus/embedded/probes.jsonl"], "default,short,canonical"),
    "files": (["corpus/files/files.jsonl"], "default,short,canonical"),
    "big": (["corpus/big/files.jsonl"], "default,short,canonical"),
    "constructs": (["conformance/constructs.jsonl"], "default,short,canonical"),
    "print_options": (["conformance/print_options.jsonl"], "default"),
}
METRICS = ("accepted", "default", "short", "canonical", "options", "rejected", "position", "survived")


def per_hundred_thousand(good, total):
  return good * 100000 // total if total else 100000


def text_results(shared, name, binary):
  paths, options = TEXT_SETS[name]
  command = [sys.executable, os.path.join(shared, "score/text_score.py"), "--batch", f"{binary} batch text --strict",
             "--options", options, "--timeout", "30"]
  command += [os.path.join(shared, path) for path in paths]
  out = subprocess.run(command, capture_output=True, text=True, check=False).stdout
  print(f"-- {name}\n{out}", flush=True)
  results = {}
  for line in out.splitlines():
    words = line.split()
    if not words or words[0] not in METRICS:
      continue
    pairs = re.findall(r"(\d+)/(\d+)", line)
    if pairs:
      good, total = map(int, pairs[-1])
      results[name, "plain", words[0]] = per_hundred_thousand(good, total)
  return results


def filecheck_results(shared, binary):
  command = [sys.executable, os.path.join(shared, "score/filecheck_score.py"), "--filecheck",
             f"{os.path.abspath(binary)} filecheck", "--list", "0", os.path.join(shared, "filecheck/cases_dev.jsonl")]
  out = subprocess.run(command, capture_output=True, text=True, check=False).stdout
  print("-- filecheck\n" + (out.splitlines() or [""])[0], flush=True)
  results = {}
  summary = (out.splitlines() or [""])[0]
  for metric in ("exact", "pass/fail", "first error placed alike"):
    pair = re.search(re.escape(metric) + r"\s+(\d+)/(\d+)", summary)
    if pair:
      good, total = map(int, pair.groups())
      results["filecheck", "all", metric.replace(" ", "_")] = per_hundred_thousand(good, total)
  return results


def read_floors(path):
  floors = {}
  if path and os.path.exists(path):
    with open(path, encoding="utf-8") as f:
      for line in f:
        words = line.split("#")[0].split()
        if words:
          floors[tuple(words[:3])] = int(words[3])
  return floors


def write_floors(path, floors):
  with open(path, "w", encoding="utf-8") as f:
    f.write("# Lowest allowed scores, in hundred-thousandths. They may only rise: tools/score.py --raise.\n")
    for key in sorted(floors):
      f.write(f"{' '.join(key)} {floors[key]}\n")


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--shared", required=True)
  parser.add_argument("--floors")
  parser.add_argument("--raise", dest="raise_floors", action="store_true")
  parser.add_argument("--binary", default="target/release/hlo-check")
  parser.add_argument("--only", default="")
  args = parser.parse_args()

  results = {}
  for name in TEXT_SETS:
    if args.only in ("", name):
      results.update(text_results(args.shared, name, args.binary))
  if args.only in ("", "filecheck"):
    results.update(filecheck_results(args.shared, args.binary))

  floors = read_floors(args.floors)
  failed = 0
  for key, floor in sorted(floors.items()):
    if args.only and key[0] != args.only:
      continue
    result = results.get(key)
    if result is None or result < floor:
      failed += 1
      print(f"below its floor: {' '.join(key)}: {result} < {floor}")
  if args.raise_floors and args.floors:
    for key, result in results.items():
      floors[key] = max(floors.get(key, 0), result)
    write_floors(args.floors, floors)
  print(f"{len(floors) - failed} passed, {failed} failed")
  return 1 if failed else 0


if __name__ == "__main__":
  sys.exit(main())
