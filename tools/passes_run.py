#!/usr/bin/env python3
"""Run modules before and after passes on XLA's CPU back end and compare the results bit by bit.

    PYTHON-WITH-JAXLIB tools/passes_run.py [--opt target/debug/hlo-opt] [--shared ../shared]
                                                 [--key KEY ...] [--seeds 3] [-v]

The modules are the inputs of lit-tests/passes and SHARED/passes/*.before.hlo; what comes after is what our pass makes of
them. Only passes count that don't say that they change the meaning (`hlo-opt --list-passes=json`). Zeros of floats
are compared without their signs where a pass says that they are the same. Pairs that can't be run are listed with the reason: -v shows each, otherwise there is a count. SHARED/oracle runs XLA, in a child process.
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
# How passes say that results may be the other zero.
ZEROS_ARE_SAME = "zeros of either sign are the same"
# How they say that inputs are to be passed in another form, which is not known here.
INPUTS_CHANGE = "inputs are passed in"
SCRATCH = tempfile.TemporaryDirectory()


@functools.cache
def copy_of(folder):
    """A copy of a folder of tests: what fails leaves files where it ran."""
    return shutil.copytree(folder, os.path.join(SCRATCH.name, os.path.basename(folder)))


def pairs(args, infos):
    """Name, texts before and after, and whether signs of zeros count, of every module that a pass changes."""
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
        if not all(key in infos and infos[key]["meaning"] in ("same", "same-after") for key in keys):
            continue
        texts = []
        for extra in ([], [f"--passes={passes}"]):
            command = [args.opt, "-", "--print-large-constants", *extra]
            done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=copy_of(os.path.dirname(path)))
            texts.append(done.stdout if done.returncode == 0 else None)
        if None not in texts and texts[0] != texts[1]:
            details = [infos[key]["meaning_detail"] or "" for key in keys]
            signs_of_zeros = not any(ZEROS_ARE_SAME in detail for detail in details)
            inputs_change = any(INPUTS_CHANGE in detail for detail in details)
            yield name, texts[0], texts[1], signs_of_zeros, inputs_change


def without_signs_of_zeros(outputs):
    """The leaves with each negative zero made a positive one. Words are bit patterns, of the parts of complex numbers."""
    leaves = []
    for name, dimensions, words in outputs:
        width = re.fullmatch(r"(?:f|bf|c)(\d+)(?:e\d+m\d+(?:fn)?)?", name)
        bits = int(width.group(1)) // (2 if name.startswith("c") else 1) if width else 0
        zero = 1 << (bits - 1) if bits else None
        leaves.append((name, dimensions, [0 if word == zero else word for word in words]))
    return leaves


def compare(xlarun, before, after, seeds, signs_of_zeros):
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
        outputs = [first["outputs"], second["outputs"]]
        if not signs_of_zeros:
            outputs = [without_signs_of_zeros(leaves) for leaves in outputs]
        if outputs[0] != outputs[1]:
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
    infos = {info["key"]: info for info in json.loads(listed.stdout)}
    counts = collections.Counter()
    differ = []
    for name, before, after, signs_of_zeros, inputs_change in pairs(args, infos):
        if inputs_change:
            verdict = "other inputs"
        else:
            verdict = compare(xlarun, before, after, args.seeds, signs_of_zeros)
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
