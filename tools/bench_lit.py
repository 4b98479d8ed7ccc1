#!/usr/bin/env python3
"""Times 1,000 tiny tests in hlo-check and in LLVM's lit, in the same run.

    tools/bench_lit.py --lit LIT [--bin target/release] [--tests 1000] [-j 2]

Each test is `RUN: hlo-opt %s --passes=legalize-compare | FileCheck %s`. hlo-check runs both programs in its own
process; LLVM's lit starts them as processes, and they are the same: hlo-opt and hlo-check (under the name FileCheck)
of the folder --bin. A second row runs tests without programs (`RUN: true`, a built-in in one and a process in the
other). Times are wall clock of the whole program with start-up; runs of the two alternate, and the best of each
counts. The load of the machine is shown since it hits both.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

LIT_CFG = """import lit.formats
config.name = "bench"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".hlo"]
"""
LIT_TOML = 'name = "bench"\nsuffixes = [".hlo"]\n'
MODULE = """HloModule m{number}

// CHECK: ENTRY
// CHECK: ROOT {{{{.*}}}} = pred[4]{{0}} compare(%x, %y), direction=LT{{{{$}}}}
ENTRY e {{
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT lt = pred[4] compare(x, y), direction=LT, type=TOTALORDER
}}
"""
ROWS = (
  ("hlo-opt %s --passes=legalize-compare | FileCheck %s", MODULE),
  ("true", "some text\n"),
)


def timed(command, env):
  begun = time.perf_counter()
  done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
  elapsed = time.perf_counter() - begun
  if done.returncode != 0:
    sys.exit(f"{command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
  return elapsed


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--lit", required=True, help="LLVM's lit")
  parser.add_argument("--bin", default="target/release", help="folder of hlo-check and hlo-opt")
  parser.add_argument("--tests", type=int, default=1000)
  parser.add_argument("-j", default="2")
  parser.add_argument("--repeat", type=int, default=3, help="rounds; in each, LLVM's lit runs once and hlo-check twice")
  parser.add_argument("--at-least", type=float, help="fail unless the first row is that many times faster")
  args = parser.parse_args()

  with tempfile.TemporaryDirectory() as temp:
    programs = os.path.join(temp, "bin")
    os.mkdir(programs)
    for name, target in (("hlo-opt", "hlo-opt"), ("FileCheck", "hlo-check")):
      os.symlink(os.path.abspath(os.path.join(args.bin, target)), os.path.join(programs, name))
    env = dict(os.environ, PATH=os.pathsep.join([programs, os.environ.get("PATH", "")]))
    load = ", ".join(f"{number:.2f}" for number in os.getloadavg())
    print(f"{args.tests} tests, -j{args.j}, best of {args.repeat} rounds; load before: {load}; {os.cpu_count()} cores")
    ratios = []
    for at, (line, body) in enumerate(ROWS):
      folder = os.path.join(temp, f"row{at}")
      os.mkdir(folder)
      for name, text in (("lit.cfg", LIT_CFG), ("lit.toml", LIT_TOML)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
          file.write(text)
      for number in range(args.tests):
        with open(os.path.join(folder, f"{number:04}.hlo"), "w", encoding="utf-8") as file:
          file.write(f"// RUN: {line}\n" + (body.format(number=number) if body is MODULE else body))
      options = ["-q", f"-j{args.j}", folder]
      ours, theirs = [], []
      for _ in range(args.repeat):
        ours.append(timed([os.path.join(args.bin, "hlo-check"), *options], env))
        theirs.append(timed([args.lit, *options], env))
        ours.append(timed([os.path.join(args.bin, "hlo-check"), *options], env))
      ours, theirs = min(ours), min(theirs)
      ratios.append(theirs / ours)
      print(f"{line:52} hlo-check {ours * 1000:8.1f} ms   lit {theirs * 1000:9.1f} ms   {theirs / ours:6.0f}x")
  if args.at_least and ratios[0] < args.at_least:
    sys.exit(f"less than {args.at_least:.0f} times faster")


if __name__ == "__main__":
  main()
