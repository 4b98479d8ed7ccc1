#!/usr/bin/env python3
"""Run every pass for Neuron, and @neuron-cleanup, over real modules: how often each fires, by who made the module.

    tools/pass_firing.py [--opt target/release/hlo-opt] [--shared ../shared] [--key KEY ...] [--out tools/pass_firing.md]

Passes that need options get some that fit the module: the first array parameter as weight and input, the first array that
is computed as target, two shards, f32 to bf16. Every output is verified. What passes refuse is counted by message. Exit
status 0 if every module that can be read comes through or is refused with a diagnostic of the pass.
"""

import argparse
import collections
import concurrent.futures
import csv
import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLEANUP = "@neuron-cleanup"
# The passes of the table, in the order of the registry.
KEYS = """remove-passthrough-outputs remove-gradiant-outputs partition-embeding-ops eliminate-redundant-compare
config-lowering metadata-naming hilo-conditional-to-select replace-minimum-constant opt-barrier-removal
trivial-cc-removal collective-token-removal transform-variadic-reduce emit-offloaded-dropout inline-weights replace-rng
add-logit-output inject-numerical-errors convert-inputs-to-optimal-shape dynamic-slice-transpose rewrite-module-dtype
aws_neuron_common_instruction_elimination aws_neuron_resolve_self_comparison legalize-device-assignment inject-prints
aws_neuron_constant_slice_clamp_simplifier rewrite_scatter_partition aws_neuron_constant_slice_convert_canonicalizer
aws_neuron_dynamic_slice_reshape_canonicalizer legalize-intrinsics legalize-compare""".split()
# What makes a module of which family.
FAMILIES = [
    ("Neuron", r"^torch-neuronx"),
    ("torch-xla", r"^torch-xla"),
    ("TensorFlow", r"^tf"),
    ("JAX before XLA", r"^jax.*unoptimized|^xla-bench|before"),
    ("JAX after XLA", r"^jax"),
    ("other", r""),
]
ELEMENTS = {"f32": ("<f4", 4), "f16": ("<f2", 2), "bf16": ("|V2", 2), "s32": ("<i4", 4), "pred": ("|b1", 1), "f64": ("<f8", 8)}
PARAMETER = re.compile(r"^ *(?:ROOT )?%([\w.-]+) = (\w+)\[([\d,]*)\]\S* parameter\((\d+)\)", re.M)
COMPUTED = re.compile(r"^ *(?:ROOT )?%([\w.-]+) = (?:f32|bf16|f16|f64)\[[\d,]*\]\S* (?:dot|add|multiply|subtract|divide)\(", re.M)
APPLIED = re.compile(r"^remark: (\S+): applied: ", re.M)


def options(key, text, folder):
    """The options of a pass that fit a module, in braces; None if it has nothing they could name."""
    entry = text[text.rfind("\nENTRY"):]
    if key in ("inject-numerical-errors", "inject-prints"):
        found = COMPUTED.search(entry)
        return found and f"{{targets={found[1]}}}"
    if key in ("inline-weights", "convert-inputs-to-optimal-shape"):
        for name, element, sizes, number in PARAMETER.findall(entry):
            count = 1
            for size in filter(None, sizes.split(",")):
                count *= int(size)
            if not 1 < count < 1 << 22 or element not in ELEMENTS:
                continue
            if key != "inline-weights":
                return f"{{inputs={name}:{count}x1:1x0}}"
            description, width = ELEMENTS[element]
            header = f"{{'descr': '{description}', 'fortran_order': False, 'shape': ({sizes},), }}\n".replace(",,", ",")
            with open(os.path.join(folder, "w.npy"), "wb") as file:
                file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(count * width))
            open(os.path.join(folder, "graph.hlo"), "w", encoding="utf-8").close()
            metadata = {"model_files": "graph.hlo", "version": "1.0", "weights": {number: "w.npy"}}
            with open(os.path.join(folder, "metadata.json"), "w", encoding="utf-8") as file:
                json.dump(metadata, file)
            return f'{{dir="{folder}"}}'
        return None
    return {
        "partition-embeding-ops": "{shards=2}",
        "rewrite-module-dtype": "{from=f32 to=bf16 overflow=saturate}",
        "legalize-device-assignment": "{skip-transfers}",
    }.get(key, "")


def programs(key):
    """The lit tests of a pass that are dumps of programs."""
    found = glob.glob(os.path.join(ROOT, "lit-tests", "passes", key, "*jax*.hlo"))
    return [f"`{os.path.basename(path)}`" for path in sorted(found)]


def run(opt, path, *extra):
    """The result of hlo-opt on a file."""
    return subprocess.run([opt, path, *extra], capture_output=True, text=True, errors="replace")


def try_file(opt, path, keys):
    """What each pass does to a file: rewrites, or a message. None if the file can't be read."""
    printed = run(opt, path)
    if printed.returncode != 0:
        return None, printed.stderr
    results = {}
    for key in keys:
        with tempfile.TemporaryDirectory() as folder:
            chosen = options(key, printed.stdout, folder)
            if chosen is None:
                results[key] = (0, None)
                continue
            done = run(opt, path, f"--passes={key}{chosen}", "--remarks", "-o", os.devnull, "--stats=json")
        if done.returncode == 0:
            stats = next(line for line in done.stderr.splitlines() if line.startswith('{"stats"'))
            changed = sum(row["changed"] != "no" for row in json.loads(stats)["stats"])
            results[key] = (max(len(APPLIED.findall(done.stderr)), changed), None)
        else:
            fault = next((line for line in done.stderr.splitlines() if "rror" in line), done.stderr[:200])
            results[key] = (0, (done.returncode, fault))
    return results, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opt", default=os.path.join(ROOT, "target/release/hlo-opt"))
    parser.add_argument("--shared", default=os.path.join(ROOT, os.pardir, "shared"))
    parser.add_argument("--key", action="append", help="only these")
    parser.add_argument("--out", help="write the table there")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    real = os.path.join(args.shared, "corpus", "real")
    with open(os.path.join(real, "index.tsv"), encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    keys = args.key or [*KEYS, CLEANUP]
    families = {name: 0 for name, _ in FAMILIES}
    fired = {key: {name: [0, 0] for name in families} for key in keys}
    refused = collections.Counter()
    faults, unread = [], []

    def one(row):
        return row, *try_file(args.opt, os.path.join(real, row["file"]), keys)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for row, results, message in pool.map(one, rows):
            family = next(name for name, pattern in FAMILIES if re.search(pattern, row["producer"]))
            if results is None:
                unread.append((row["file"], message.splitlines()[0] if message else ""))
                continue
            families[family] += 1
            for key, (rewrites, fault) in results.items():
                if rewrites:
                    cell = fired[key][family]
                    cell[0] += 1
                    cell[1] += rewrites
                if fault is None:
                    continue
                # A pass may refuse (5); anything else, an invalid module included, is its fault.
                text = re.sub(r"`[^`]*`|\"[^\"]*\"|\d+", "_", fault[1])
                refused[key, text] += 1
                if fault[0] != 5 or "left an invalid module" in fault[1]:
                    faults.append((row["file"], key, *fault))
    lines = [
        "# How often passes fire on real modules",
        "",
        "Written by `tools/pass_firing.py`: files in which a pass changed something, and rewrites. Every result was verified.",
        "",
        "| pass | " + " | ".join(f"{name} ({count})" for name, count in families.items()) + " |",
        "|---|" + "--:|" * len(families),
    ]
    for key in keys:
        cells = [f"{files} / {rewrites}" if files else "" for files, rewrites in fired[key].values()]
        lines.append(f"| `{key}` | " + " | ".join(cells) + " |")
    never = [key for key in keys if not any(files for files, _ in fired[key].values())]
    lines += ["", "Those that fire on none of them, and the tests in which they fire on what JAX makes of a program:", ""]
    lines += [f"* `{key}`: {', '.join(programs(key)) or 'none'}" for key in never]
    lines += ["", "`config-lowering` only writes a log. `legalize-compare` looks at the entry alone; the comparisons in total order of these modules are in the comparators of sorts.", "", "## Refused", "", "| pass | modules | message |", "|---|--:|---|"]
    for (key, text), count in sorted(refused.items()):
        lines.append(f"| `{key}` | {count} | {text.replace('|', chr(92) + '|')} |")
    lines += ["", f"Not read: {len(unread)} of {len(rows)}." if unread else "All modules were read.", ""]
    table = "\n".join(lines)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            file.write(table)
    print(table)
    for fault in faults:
        print("FAULT", *fault)
    for name, message in unread:
        print("not read", name, message)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
