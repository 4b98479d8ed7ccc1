#!/usr/bin/env python3
"""Compare what our stock passes make of modules with what XLA's own passes made of them.

    tools/goldens_score.py [--opt target/debug/hlo-opt] [--shared ../shared] [--pass NAME ...] [--ask PYTHON] [-v]
                           [--modules FILE ...]

SHARED/goldens/PASS/NNN.before.hlo is what XLA's pass saw, NNN.after.hlo what it left; its README says which rows of
index.jsonl to trust. Texts are compared byte by byte, but for the order of lines inside a computation and the order of
computations. XLA's pass saw the module in memory, whose instructions may have had another order than the text has; with
--ask PYTHON (one with jaxlib) the rows that differ are asked again, this time of XLA reading the text. -v shows the lines
that differ. Exit status 0 if no row differs from either.

With --modules and --ask XLA is asked of these modules instead (`hlo-check gen` makes some). Headers don't count, as XLA's
compiler knows no numbers of devices there, so modules with `num_partitions` have other side effects for it. What else differs
has its reasons in the documentation of our passes, or none.
"""

import argparse
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Which rows of a pass count.
TRUST = {
    "tuple-simplifier": lambda row: row.get("trusted"),
    "call-inliner": lambda row: row.get("confirmed"),
    "dce": lambda row: row.get("trusted"),
    "flatten-call-graph": lambda row: row.get("trusted"),
    "cse": lambda row: True,
    "conditional-to-select": lambda row: row.get("trusted"),
}


def normal_form(text):
    """The header and the computations, each a name and a bag of lines."""
    header, computations, current = [], collections.Counter(), None
    for line in text.rstrip("\n").split("\n"):
        if current is None and line.endswith("{") and not line.startswith("HloModule"):
            current = [line]
        elif current is not None:
            if line.startswith("}"):
                computations[(current[0], line, tuple(sorted(current[1:])))] += 1
                current = None
            else:
                current.append(line.strip())
        elif line.strip():
            header.append(line)
    return header, computations


def ask(python, shared, path, name):
    """What XLA's pass makes of the text, `None` if that can't be seen."""
    command = [python, os.path.join(shared, "oracle", "stock_pass.py"), path, name]
    done = subprocess.run(command, capture_output=True, text=True)
    _, found, after = done.stdout.partition("=== after\n")
    end = after.rfind("\n}\n")
    return normal_form(after[: end + 3]) if done.returncode == 0 and found and end >= 0 else None


def compare_modules(args):
    """Asks XLA of each module. Gives how many differ."""
    failed = 0
    for name in args.passes or TRUST:
        equal = asked = 0
        for path in args.modules:
            theirs = ask(args.ask, args.shared, path, name)
            if theirs is None:
                continue
            asked += 1
            command = [args.opt, path, "--no-verify", "--print-large-constants", f"--passes={name}"]
            done = subprocess.run(command, capture_output=True, text=True)
            ours = normal_form(done.stdout)
            if done.returncode == 0 and ours[1] == theirs[1]:
                equal += 1
                continue
            print(f"{name} {path} differs")
            if args.v:
                show(ours, theirs)
        print(f"{name}: {equal} of {asked} equal, {len(args.modules) - asked} that XLA doesn't get through")
        failed += asked - equal
    return failed


def show(ours, theirs):
    """The lines that only one side has."""
    def lines(form):
        bag = collections.Counter(form[0])
        for (first, _, body), count in form[1].items():
            for line in (first, *body):
                bag[line] += count
        return bag
    for line, count in sorted((lines(theirs) - lines(ours)).items()):
        print(f"    XLA  {line}" + (f"  ({count} times)" if count > 1 else ""))
    for line, count in sorted((lines(ours) - lines(theirs)).items()):
        print(f"    ours {line}" + (f"  ({count} times)" if count > 1 else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opt", default=os.path.join(ROOT, "target/debug/hlo-opt"))
    parser.add_argument("--shared", default=os.path.join(ROOT, os.pardir, "shared"))
    parser.add_argument("--pass", action="append", dest="passes", choices=sorted(TRUST), help="only these")
    parser.add_argument("--ask", metavar="PYTHON", help="the interpreter of the oracle's scripts")
    parser.add_argument("-v", action="store_true", help="show the lines that differ")
    parser.add_argument("--modules", nargs="+", metavar="FILE", help="compare on these modules; needs --ask")
    args = parser.parse_args()
    if args.modules:
        if not args.ask:
            parser.error("--modules needs --ask")
        sys.exit(bool(compare_modules(args)))
    failed = 0
    for name in args.passes or TRUST:
        folder = os.path.join(args.shared, "goldens", name)
        with open(os.path.join(folder, "index.jsonl"), encoding="utf-8") as file:
            rows = [row for row in map(json.loads, file) if TRUST[name](row)]
        equal = equal_from_text = 0
        for row in rows:
            base = os.path.join(folder, f"{row['n']:03}")
            command = [args.opt, base + ".before.hlo", "--strict", "--no-verify", f"--passes={name}"]
            done = subprocess.run(command, capture_output=True, text=True)
            with open(base + ".after.hlo", encoding="utf-8") as file:
                theirs = normal_form(file.read())
            if done.returncode == 0 and normal_form(done.stdout) == theirs:
                equal += 1
                continue
            before = base + ".before.hlo"
            if args.ask and normal_form(done.stdout) == ask(args.ask, args.shared, before, name):
                equal_from_text += 1
                continue
            print(f"{name} {row['n']:03} differs ({row.get('src')} {row.get('test', '')})")
            if done.returncode:
                print("    " + done.stderr.strip().replace("\n", "\n    "))
            elif args.v:
                show(normal_form(done.stdout), theirs)
        also = f", {equal_from_text} more when XLA reads the text" if equal_from_text else ""
        print(f"{name}: {equal} of {len(rows)} equal{also}")
        failed += len(rows) - equal - equal_from_text
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
