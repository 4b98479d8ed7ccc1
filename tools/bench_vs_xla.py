#!/usr/bin/env python3
"""Times XLA's HLO parser and printer and ours, alternating, and prints a table of ratios.

    bench_vs_xla.py FILE...

Run it with a Python that has jaxlib. Times are CPU seconds of one thread, the best of several rounds, with a malloc
heap that is kept warm on both sides; an old module is freed outside the timed region. Ours comes from the example
`throughput` of hlo-text (cargo build --release -p hlo-text --example throughput), which also reports the bytes that are
live after a parse.
"""

import json
import math
import os
import subprocess
import sys
import time

ROUNDS = 5
REPEATS = 2
WARM_HEAP = {
    "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 34),
    "MALLOC_TOP_PAD_": str(1 << 28),
}


def xla_parse_time(hlo, text, rounds=ROUNDS):
  """Seconds of the fastest of some rounds, and the module."""
  best = math.inf
  module = None
  for _ in range(rounds):
    module = None
    start = time.thread_time()
    module = hlo.hlo_module_from_text(text)
    best = min(best, time.thread_time() - start)
  return best, module


def xla_times(hlo, text):
  parse, module = xla_parse_time(hlo, text)
  render = math.inf
  for _ in range(ROUNDS):
    start = time.thread_time()
    module.to_string()
    render = min(render, time.thread_time() - start)
  return parse, render


class Ours:

  def __init__(self):
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    program = os.path.join(root, "target", os.environ.get("PROFILE", "release"), "examples", "throughput")
    self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

  def times(self, path):
    self.process.stdin.write(f"{ROUNDS} {path}\n")
    self.process.stdin.flush()
    return json.loads(self.process.stdout.readline())


def geomean(values):
  return math.exp(sum(map(math.log, values)) / len(values))


def main():
  if os.environ.get("MALLOC_TOP_PAD_") != WARM_HEAP["MALLOC_TOP_PAD_"]:
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **WARM_HEAP})
  from jaxlib import _hlo as hlo  # pylint: disable=import-outside-toplevel

  ours = Ours()
  parse_ratios, print_ratios = [], []
  print("| file | MB | parse XLA MB/s | ours | ratio | print XLA MB/s | ours | ratio | live heap / input |")
  print("|---|---|---|---|---|---|---|---|---|")
  for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as f:
      text = f.read()
    megabytes = len(text.encode()) / 1e6
    theirs = [math.inf, math.inf]
    mine = {"parse": math.inf, "print": math.inf}
    for _ in range(REPEATS):
      for index, seconds in enumerate(xla_times(hlo, text)):
        theirs[index] = min(theirs[index], seconds)
      answer = ours.times(path)
      mine = {**answer, "parse": min(mine["parse"], answer["parse"]), "print": min(mine["print"], answer["print"])}
    parse_ratios.append(theirs[0] / mine["parse"])
    print_ratios.append(theirs[1] / mine["print"])
    name = os.path.basename(path)[:40]
    print(f"| {name} | {megabytes:.2f} | {megabytes / theirs[0]:.0f} | {megabytes / mine['parse']:.0f} |"
          f" {parse_ratios[-1]:.1f}x | {megabytes / theirs[1]:.0f} | {megabytes / mine['print']:.0f} |"
          f" {print_ratios[-1]:.1f}x | {mine['live'] / (megabytes * 1e6):.2f} |", flush=True)
  print(f"| geomean | | | | {geomean(parse_ratios):.1f}x | | | {geomean(print_ratios):.1f}x | |")
  print(f"| lowest | | | | {min(parse_ratios):.1f}x | | | {min(print_ratios):.1f}x | |")


if __name__ == "__main__":
  main()
