#!/usr/bin/env python3
"""Times passes and the verifier beside XLA's parser, alternating, and prints a table of ratios.

    bench_passes_vs_xla.py [--passes LIST] FILE...

Run it with a Python that has jaxlib. Times are CPU seconds of one thread, the best of several rounds; below 1 we are faster
than XLA reads the same file. The passes' include the hashes that say whether anything changed, and none of the reading,
verifying and printing around them. Ours come from the example `pass_throughput` of hlo-passes (cargo build --release
--workspace --example pass_throughput). The peak is the resident memory of a whole hlo-opt that reads, verifies after each
pass and prints, the program itself included.
"""

import argparse
import json
import math
import os
import subprocess
import sys

from bench_vs_xla import WARM_HEAP, xla_parse_time

ROUNDS = 3
REPEATS = 2
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
RELEASE = os.path.join(ROOT, "target", os.environ.get("PROFILE", "release"))
# Runs a command line per line of input and answers with its exit status and peak in KiB. A child counts the memory of the
# process it was forked from, so that must be a small one.
MEASURE = """
import os, sys
for line in sys.stdin:
  words = line.rstrip("\\n").split("\\t")
  child = os.fork()
  if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.execv(words[0], words)
  _, status, usage = os.wait4(child, 0)
  print(os.waitstatus_to_exitcode(status), usage.ru_maxrss, flush=True)
"""


class Peaks:

  def __init__(self):
    # The presets of malloc are not for the program that is measured.
    environment = {key: value for key, value in os.environ.items() if key not in WARM_HEAP}
    self.process = subprocess.Popen([sys.executable, "-S", "-E", "-c", MEASURE], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True, env=environment)

  def of(self, passes, path):
    words = [os.path.join(RELEASE, "hlo-opt"), path, f"--passes={passes}", "-o", os.devnull]
    self.process.stdin.write("\t".join(words) + "\n")
    self.process.stdin.flush()
    status, kibibytes = map(int, self.process.stdout.readline().split())
    return kibibytes * 1024 if status == 0 else math.nan


def main():
  if os.environ.get("MALLOC_TOP_PAD_") != WARM_HEAP["MALLOC_TOP_PAD_"]:
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **WARM_HEAP})
  arguments = argparse.ArgumentParser()
  arguments.add_argument("--passes", default="tuple-simplifier,call-inliner,dce")
  arguments.add_argument("files", nargs="+")
  arguments = arguments.parse_args()
  peaks = Peaks()
  from jaxlib import _hlo as hlo  # pylint: disable=import-outside-toplevel

  ours = subprocess.Popen([os.path.join(RELEASE, "examples", "pass_throughput")], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True)
  print(f"`{arguments.passes}`\n")
  print("| file | MB | XLA parses, ms | passes, ms | passes / XLA | verifier, ms | verifier / XLA | peak / input |")
  print("|---|---|---|---|---|---|---|---|")
  worst = [0.0, 0.0, 0.0]
  for path in arguments.files:
    with open(path, encoding="utf-8") as f:
      text = f.read()
    size = len(text.encode())
    theirs, passes, verifier = math.inf, math.inf, math.inf
    for _ in range(REPEATS):
      theirs = min(theirs, xla_parse_time(hlo, text, ROUNDS)[0])
      ours.stdin.write(f"{ROUNDS} {arguments.passes} {path}\n")
      ours.stdin.flush()
      answer = json.loads(ours.stdout.readline())
      if "error" in answer:
        sys.exit(f"{path}: {answer['error']}")
      passes, verifier = min(passes, answer["passes"]), min(verifier, answer["verify"])
    peak = peaks.of(arguments.passes, path) / size
    row = [passes / theirs, verifier / theirs, peak]
    worst = [max(pair) for pair in zip(worst, row)]
    print(f"| {os.path.basename(path)[:44]} | {size / 1e6:.2f} | {theirs * 1e3:.0f} | {passes * 1e3:.1f} | {row[0]:.3f} |"
          f" {verifier * 1e3:.1f} | {row[1]:.3f} | {row[2]:.1f} |", flush=True)
  print(f"| highest | | | | {worst[0]:.3f} | | {worst[1]:.3f} | {worst[2]:.1f} |")


if __name__ == "__main__":
  main()
