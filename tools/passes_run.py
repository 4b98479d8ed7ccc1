#!/usr/bin/env python3
"""Run modules before and after passes on XLA's CPU back end and compare the results bit by bit.

    PYTHON-WITH-JAXLIB tools/passes_run.py [--opt target/debug/hlo-opt] [--shared ../shared]
                                                 [--key KEY ...] [--seeds 3] [-v]

The modules are the inputs of lit-tests/passes and SHARED/passes/*.before.hlo; what comes after is what our pass makes of
them. Only passes count that don't say that they change the meaning (`hlo-opt --list-passes=json`). Pairs that can't be
run are listed with the reason: -v shows each, otherwise there is a count. SHARED/oracle runs XLA, in a child process.
Exit status 0 if no results differ.
"""

import argparse
import collections
import functools
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUN_LINE = re.compile(r"^// RUN: hlo-opt .*?--passes=('[^']*'|\S+)", re.M)
# What one device can't run as it is meant.
SEVERAL = re.compile(r"\b(?:replica_count|num_partitions)=(?!1\b)\d")
COLLECTIVE = re.compile(r" (?:all-reduce|all-gather|reduce-scatter|all-to-all|collective-\w+)(?:-start)?\(")
SEPARATOR = re.compile(r"^// -----$", re.M)
KEY = re.compile(r"([\w-]+)(?:\{[^}]*\})?,?")
SCRATCH = tempfile.TemporaryDirectory()


@functools.cache
def copy_of(folder):
    """A copy of a folder of tests: what fails leaves files where it ran."""
    return shutil.copytree(folder, os.path.join(SCRATCH.name, os.path.basename(folder)))


def pairs(args, meanings):
    """Name and texts before and after of every module that a pass changes."""
    inputs = []
    for path in sorted(glob.glob(os.path.join(ROOT, "lit-tests", "passes", "*", "*.hlo"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        found = RUN_LINE.search(text)
        if not found:
            continue
        name = os.path.relpath(path, ROOT)
        cases = SEPARATOR.split(text) if "--split-input-file" in text else [text]
        for number, case in enumerate(cases, 1):
            own = name if len(cases) == 1 else f"{name} case {number}"
            inputs.append((own, path, case, found.group(1).strip("'")))
    for path in sorted(glob.glob(os.path.join(args.shared, "passes", "*.before.hlo"))):
        name = os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            inputs.append((name, path, file.read(), name.split(".")[0]))
    for name, path, text, passes in inputs:
        keys = KEY.findall(passes)
        if args.key and not set(args.key) & set(keys):
            continue
        if not all(meanings.get(key) in ("same", "same-after") for key in keys):
            continue
        texts = []
        for extra in ([], [f"--passes={passes}"]):
            command = [args.opt, "-", "--print-large-constants", *extra]
            done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=copy_of(os.path.dirname(path)))
            texts.append(done.stdout if done.returncode == 0 else None)
        if None not in texts and texts[0] != texts[1]:
            yield name, texts[0], texts[1]


def compare(xlarun, before, after, seeds):
    """`equal`, `differs` or why there is nothing to compare."""
    if SEVERAL.search(before) and COLLECTIVE.search(before):
        return "before: collectives among several devices"
    for seed in range(seeds):
        results = []
        for which, text in (("before", before), ("after", after)):
            result = xlarun.run_text(text, seed)
            if result["outcome"] != "ok":
                message = str(result["message"]).strip().split("\n")[0][:100]
                return f"{which}: {result['outcome']}: {message}"
            results.append(result)
        first, second = results
        if first["inputs"] != second["inputs"]:
            return "other parameters"
        shapes = [[leaf[:2] for leaf in result["outputs"]] for result in results]
        if shapes[0] != shapes[1]:
            return "other results"
        if first["outputs"] != second["outputs"]:
            return f"differs with seed {seed}"
    return "equal"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opt", default=os.path.join(ROOT, "target/debug/hlo-opt"))
    parser.add_argument("--shared", default=os.path.join(ROOT, os.pardir, "shared"))
    parser.add_argument("--key", action="append", help="only these passes")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("-v", action="store_true", help="name every pair")
    args = parser.parse_args()
    args.opt = os.path.abspath(args.opt)
    sys.path.insert(0, os.path.join(args.shared, "oracle"))
    import xlarun

    listed = subprocess.run([args.opt, "--list-passes=json"], capture_output=True, text=True, check=True)
    meanings = {info["key"]: info["meaning"] for info in json.loads(listed.stdout)}
    counts = collections.Counter()
    differ = []
    for name, before, after in pairs(args, meanings):
        verdict = compare(xlarun, before, after, args.seeds)
        kind = "equal" if verdict == "equal" else "differs" if verdict.startswith("differs") else "not run"
        counts[kind] += 1
        if kind == "differs":
            differ.append(name)
        if args.v or kind == "differs" or verdict.startswith("after:"):
            print(f"{name}: {verdict}", flush=True)
    print(f"{sum(counts.values())} pairs: {dict(counts)}")
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
