#!/usr/bin/env python3
"""Compare our lit's verdicts with those of LLVM's lit, test by test.

    tools/lit_diff.py --lit LIT --ours target/debug/examples/lit-dev [--llvm-bin DIR] [FOLDER]

FOLDER (default: crates/hlo-check/tests/lit/verdicts) must hold both a lit.toml and a lit.cfg. The
expected verdicts in FOLDER/expected.txt, if there is one, are checked against both. Exit status 0
if nothing differs beyond what expected.txt says.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORPUS = os.path.join(ROOT, "crates", "hlo-check", "tests", "lit")


def verdicts(command, env, output):
    """Run a lit that writes `output`; give {path: (code, log)}."""
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not os.path.exists(output):
        sys.exit(f"{command[0]} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    with open(output, encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    return {test["name"].split(" :: ", 1)[1]: (test["code"], test["output"]) for test in tests}


def expectations(folder):
    """Give {path: (our code, lit's code)} of expected.txt."""
    path = os.path.join(folder, "expected.txt")
    if not os.path.exists(path):
        return {}
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                codes, name = line.split()
                ours, _, real = codes.partition("/")
                found[name] = (ours, real or ours)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=os.path.join(CORPUS, "verdicts"))
    parser.add_argument("--lit", required=True, help="LLVM's lit")
    parser.add_argument("--ours", help="our lit; only LLVM's is checked without")
    parser.add_argument("--llvm-bin", default="", help="folder with count, not, split-file, FileCheck")
    parser.add_argument("-j", default="2")
    parser.add_argument("-v", action="store_true", help="show the logs of tests that differ")
    args = parser.parse_args()

    env = dict(os.environ)
    env["PATH"] = os.pathsep.join(
        [os.path.join(CORPUS, "shims"), args.llvm_bin, env.get("PATH", "")]
    )
    expected = expectations(args.folder)
    common = ["-q", "-j", args.j, "-Dparam=given", "--ignore-fail", "--order=lexical"]
    with tempfile.TemporaryDirectory() as temp:
        # Each runs on its own copy: both write beside the tests.
        results = {}
        for name, program in (("lit", args.lit), ("ours", args.ours)):
            if not program:
                continue
            copy = os.path.join(temp, name)
            subprocess.run(["cp", "-r", args.folder, copy], check=True)
            output = os.path.join(temp, name + ".json")
            results[name] = verdicts([program, *common, "-o", output, copy], env, output)

    names = sorted(set().union(expected, *results.values()))
    bad = differing = 0
    for name in names:
        real = results["lit"].get(name, ("MISSING", ""))
        want_ours, want_real = expected.get(name, (None, real[0]))
        ours = results.get("ours", {}).get(name, (want_ours or real[0], ""))
        want_ours = want_ours or real[0]
        differing += ours[0] != real[0]
        if ours[0] != want_ours or real[0] != want_real:
            bad += 1
            print(f"{name}: ours {ours[0]} (expected {want_ours}), lit {real[0]} (expected {want_real})")
            if args.v:
                print("--- ours\n" + ours[1] + "--- lit\n" + real[1])
    print(f"{len(names)} tests, {differing} where ours and lit differ, {bad} not as expected")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
