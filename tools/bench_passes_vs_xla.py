#!/usr/bin/env python3
"""Times passes and the verifier beside XLA's parser, alternating, and prints a table of ratios.

    bench_passes_vs_xla.py [--passes LIST] FILE...

Run it with a Python that has jaxlib. Times are CPU seconds of one thread, the best of several rounds; below 1 we are faster
than XLA reads the same file. The passes' include the hashes that say whether anything changed, and none of the reading,
verifying and printing around them. Ours come from the example `pass_throughput` of hlo-passes (cargo build --release
--workspace --example pass_throughput). The peak is the resident memory of a whole hlo-opt that reads, verifies after each
pass and prints, less that of one that does so with an empty module.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

from bench_vs_xla import WARM_HEAP

ROUNDS = 3
REPEATS = 2
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
RELEASE = os.path.join(ROOT, "target", os.environ.get("PROFILE", "release"))
EMPTY = "HloModule m\nENTRY e {\n  ROOT r = f32[] parameter(0)\n}\n"


def xla_parse_time(hlo, text):
  best = math.inf
  module = None
  for _ in range(ROUNDS):
    module = None
    start = time.thread_time()
    module = hlo.hlo_module_from_text(text)
    best = min(best, time.thread_time() - start)
  del module
  return best


def peak_bytes(passes, path):
  program = os.path.join(RELEASE, "hlo-opt")
  # The heap of this process must not become the child's idea of its own: no preset of malloc.
  environment = {key: value for key, value in os.environ.items() if key not in WARM_HEAP}
  child = subprocess.Popen([program, path, f"--passes={passes}", "-o", os.devnull], env=environment,
                           stderr=subprocess.DEVNULL)
  _, status, usage = os.wait4(child.pid, 0)
  child.returncode = os.waitstatus_to_exitcode(status)
  return usage.ru_maxrss * 1024 if child.returncode == 0 else math.nan


def main():
  if os.environ.get("MALLOC_TOP_PAD_") != WARM_HEAP["MALLOC_TOP_PAD_"]:
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **WARM_HEAP})
  arguments = argparse.ArgumentParser()
  arguments.add_argument("--passes", default="tuple-simplifier,call-inliner,dce")
  arguments.add_argument("files", nargs="+")
  arguments = arguments.parse_args()
  from jaxlib import _hlo as hlo  # pylint: disable=import-outside-toplevel

  ours = subprocess.Popen([os.path.join(RELEASE, "examples", "pass_throughput")], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True)
  with tempfile.NamedTemporaryFile("w", suffix=".hlo") as empty:
    empty.write(EMPTY)
    empty.flush()
    least = peak_bytes(arguments.passes, empty.name)
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
      theirs = min(theirs, xla_parse_time(hlo, text))
      ours.stdin.write(f"{ROUNDS} {arguments.passes} {path}\n")
      ours.stdin.flush()
      answer = json.loads(ours.stdout.readline())
      if "error" in answer:
        sys.exit(f"{path}: {answer['error']}")
      passes, verifier = min(passes, answer["passes"]), min(verifier, answer["verify"])
    peak = (peak_bytes(arguments.passes, path) - least) / size
    row = [passes / theirs, verifier / theirs, peak]
    worst = [max(pair) for pair in zip(worst, row)]
    print(f"| {os.path.basename(path)[:44]} | {size / 1e6:.2f} | {theirs * 1e3:.0f} | {passes * 1e3:.1f} | {row[0]:.3f} |"
          f" {verifier * 1e3:.1f} | {row[1]:.3f} | {row[2]:.1f} |", flush=True)
  print(f"| highest | | | | {worst[0]:.3f} | | {worst[1]:.3f} | {worst[2]:.1f} |")


if __name__ == "__main__":
  main()
