#!/usr/bin/env python3
"""Time 1,000 tiny tests in our lit and in LLVM's lit, in the same run.

    tools/bench_lit.py --lit LIT --ours target/release/examples/lit-dev [--tests 1000] [-j 2]

Each test is `RUN: up < %s | up | count 3`: in our lit all three run in the process, in LLVM's they
are the scripts in crates/hlo-check/tests/lit/shims and LLVM's count. A second row runs tests
without programs (`RUN: true`, a shell built-in in one, a process in the other). Times are the best
of --repeat runs, wall clock of the whole program with start-up.
"""

import argparse
import os
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHIMS = os.path.join(ROOT, "crates", "hlo-check", "tests", "lit", "shims")
LIT_CFG = """import lit.formats
config.name = "bench"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".test"]
"""
LIT_TOML = 'name = "bench"\nsuffixes = [".test"]\n'


def best(command, env, repeat):
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        times.append(time.perf_counter() - begun)
        if done.returncode != 0:
            raise SystemExit(f"{command[0]} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lit", required=True)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--llvm-bin", default="")
    parser.add_argument("--tests", type=int, default=1000)
    parser.add_argument("-j", default="2")
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    env = dict(os.environ)
    env["PATH"] = os.pathsep.join([SHIMS, args.llvm_bin, env.get("PATH", "")])
    print(f"{args.tests} tests, -j{args.j}, best of {args.repeat} (LLVM's lit: of 1)")
    for title in ("up < %s | up | count 3", "true"):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "lit.cfg"), "w") as file:
                file.write(LIT_CFG)
            with open(os.path.join(folder, "lit.toml"), "w") as file:
                file.write(LIT_TOML)
            for number in range(args.tests):
                with open(os.path.join(folder, f"{number:04}.test"), "w") as file:
                    file.write(f"// RUN: {title}\nsome text\nmore text\n")
            options = ["-q", f"-j{args.j}", folder]
            ours = best([args.ours, *options], env, args.repeat)
            lit = best([args.lit, *options], env, 1)
            print(
                f"{title:24} ours {ours * 1000:8.1f} ms ({ours / args.tests * 1e6:7.1f} us/test)"
                f"   lit {lit * 1000:9.1f} ms ({lit / args.tests * 1e6:9.1f} us/test)"
                f"   {lit / ours:7.0f}x"
            )


if __name__ == "__main__":
    main()
