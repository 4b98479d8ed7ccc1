#!/usr/bin/env python3
"""Run the before/after examples of every implemented pass and compare structurally.

    tools/passes_score.py [--opt target/debug/hlo-opt] [--diff target/debug/examples/structural_diff]
                          [--shared ../shared] [--key KEY ...] [-v]

SHARED/passes holds KEY[.CASE].before.hlo and .after.hlo. Options that an example is made for stand in OPTIONS below.
Structural equality leaves names, metadata, and the order of independent instructions and computations out of account;
`equal-after-dce` means that dead code differs. Exit status 0 if no example of an implemented pass differs.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# What the examples are made with, by key or by (key, case).
OPTIONS = {
    "convert-inputs-to-optimal-shape": "inputs=p:2x3:1x0",
    "inject-numerical-errors": "targets=mul error=0.001",
    "inject-prints": "targets=x",
    "inline-weights": "dir=weights",
    "partition-embeding-ops": "shards=2",
    "rewrite-module-dtype": "from=f32 to=bf16",
    ("inline-weights", "renumbering"): "dir=renumbering",
}


# Examples of several passes, by key and case.
CHAINS = {
    ("aws_neuron_dynamic_slice_reshape_canonicalizer", "chain-to-multiple-groups"):
        "aws_neuron_constant_slice_convert_canonicalizer,aws_neuron_dynamic_slice_reshape_canonicalizer",
}


def write_npy(path, dimensions, values):
    """Write an array of f32 as numpy does."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {dimensions!r}, }}"
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}f", *values))


def write_weights(folder, weights):
    """Write a weights folder; `weights` maps parameter numbers to (dimensions, values)."""
    os.makedirs(os.path.join(folder, "weights"))
    files = {}
    for number, (dimensions, values) in weights.items():
        files[number] = f"weights/{number}.npy"
        write_npy(os.path.join(folder, files[number]), dimensions, values)
    open(os.path.join(folder, "graph.hlo"), "w", encoding="utf-8").close()
    metadata = {"model_files": "graph.hlo", "version": "1.0", "weights": files}
    with open(os.path.join(folder, "metadata.json"), "w", encoding="utf-8") as file:
        json.dump(metadata, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opt", default=os.path.join(ROOT, "target/debug/hlo-opt"))
    parser.add_argument("--diff", default=os.path.join(ROOT, "target/debug/examples/structural_diff"))
    parser.add_argument("--shared", default=os.path.join(ROOT, os.pardir, "shared"))
    parser.add_argument("--key", action="append", help="only these passes")
    parser.add_argument("-v", action="store_true", help="show what came out where it differs")
    args = parser.parse_args()

    examples = os.path.join(args.shared, "passes")
    if not os.path.isdir(examples):
        sys.exit(f"there are no examples: {examples} is not a folder")
    listed = subprocess.run([args.opt, "--list-passes=json"], capture_output=True, text=True, check=True)
    implemented = {info["key"] for info in json.loads(listed.stdout) if info["status"] != "unimplemented"}

    with tempfile.TemporaryDirectory() as work:
        write_weights(os.path.join(work, "weights"), {"1": ((2,), [1.5, -2])})
        write_weights(os.path.join(work, "renumbering"), {"0": ((2,), [1, 2]), "2": ((), [0.5])})
        cases, failures = [], []
        for name in sorted(os.listdir(examples)):
            if not name.endswith(".before.hlo"):
                continue
            key, _, case = name.removesuffix(".before.hlo").partition(".")
            if key not in implemented or (args.key and key not in args.key):
                continue
            options = OPTIONS.get((key, case), OPTIONS.get(key, ""))
            passes = f"{key}{{{options}}}" if options else CHAINS.get((key, case), key)
            out = os.path.join(work, name)
            command = [args.opt, os.path.join(os.path.abspath(examples), name), f"--passes={passes}", "-o", out]
            done = subprocess.run(command, capture_output=True, text=True, cwd=work)
            if done.returncode:
                failures.append((name, done.stderr.strip()))
                continue
            after = os.path.join(examples, name.replace(".before.", ".after."))
            cases.append((name, out, after))
        pairs = "".join(f"{out}\t{after}\n" for _, out, after in cases)
        compared = subprocess.run([args.diff], input=pairs, capture_output=True, text=True, check=True)
        verdicts = compared.stdout.splitlines()
        counts = {}
        for (name, out, _), verdict in zip(cases, verdicts, strict=True):
            counts[verdict.split()[0]] = counts.get(verdict.split()[0], 0) + 1
            if verdict not in ("equal", "equal-after-dce"):
                with open(out, encoding="utf-8") as file:
                    failures.append((name, verdict + ("\n" + file.read() if args.v else "")))
            elif args.v and verdict != "equal":
                print(f"{name}: {verdict}")
    for name, why in failures:
        print(f"{name}: {why}")
    total = len(cases) + len([name for name, _ in failures if name not in {case[0] for case in cases}])
    print(f"{total} examples of {len(implemented)} implemented passes: {counts}, {len(failures)} failed")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
