#!/usr/bin/env python3
"""Compares inferred result shapes with the stated ones on every module of a reference folder.

    shape_score.py --shared DIR [--answers FILE] [--ours target/release/hlo-check] [--list]

For each opcode: instructions whose stated shape is the inferred one, whose stated shape is another, whose shape doesn't
follow wholly from operands and attributes (it must be stated), and whose operands or attributes give none. With --answers (see
verifier_score.py ask) modules that XLA's verifier refuses are left out; XLA's parser believes wrong shapes. --list prints
the differences. Exits 1 if fewer than 99.9 % agree.
"""

import argparse
import collections
import glob
import json
import os
import subprocess
import sys

import verifier_score

LEAST = 0.999


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--shared", required=True)
  parser.add_argument("--answers")
  parser.add_argument("--ours")
  parser.add_argument("--list", action="store_true")
  args = parser.parse_args()
  root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
  binary = args.ours or os.path.join(root, "target/release/hlo-check")
  answers = verifier_score.load_answers(args.answers) if args.answers else {}
  process = subprocess.Popen([binary, "batch", "shapes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
  big = sorted(glob.glob(os.path.join(args.shared, "corpus/big/*.hlo")))
  table = collections.defaultdict(lambda: [0, 0, 0, 0])
  counts = collections.Counter()
  for kind, name, text in verifier_score.modules(args.shared, big):
    verdict = answers.get(verifier_score.key_of(text), {}).get("verdict", "accept")
    if verdict in ("reject", "parse"):
      counts["refused by XLA"] += 1
      continue
    process.stdin.write(json.dumps({"id": name, "text": text}) + "\n")
    process.stdin.flush()
    ours = json.loads(process.stdout.readline())
    counts["read" if ours["read"] else "not read"] += 1
    for opcode, columns in ours["opcodes"].items():
      for index, count in enumerate(columns):
        table[opcode][index] += count
    if args.list:
      for fault in ours["faults"]:
        print(f"{kind} {name}: {fault[:300]}")
  process.stdin.close()
  process.wait()
  print(", ".join(f"{count} modules {what}" for what, count in sorted(counts.items())) + "\n")
  print("| opcode | as stated | otherwise | must be stated | invalid |\n|---|---|---|---|---|")
  total = [0, 0, 0, 0]
  for opcode in sorted(table):
    print(f"| {opcode} | " + " | ".join(map(str, table[opcode])) + " |")
    total = [a + b for a, b in zip(total, table[opcode])]
  print("| all | " + " | ".join(map(str, total)) + " |")
  known = total[0] + total[1] + total[3]
  share = total[0] / known if known else 1.0
  print(f"\n{100 * share:.4f} % of {known} shapes that follow from operands and attributes are as stated")
  return 0 if share >= LEAST else 1


if __name__ == "__main__":
  sys.exit(main())
