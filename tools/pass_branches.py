#!/usr/bin/env python3
"""List the numbered branches of the passes' documentation beside the tests that are about them.

    tools/pass_branches.py [KEY ...] [--missing]

A branch is a numbered item in the `//!` lines of the pass's file; a test is about it if its comment begins `Branch 3:` or
`Branches 1, 2 and 4:` or `Branches 1 to 3:`. --missing shows only branches without tests; then the exit status is 1 if
there are any.
"""

import argparse
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def branches(path):
    """Number and first line of each branch."""
    with open(path, encoding="utf-8") as file:
        doc = [line[4:].rstrip() for line in file if line.startswith("//! ")]
    found = (re.match(r"(\d+)\. (.*)", line) for line in doc)
    return {int(match[1]): match[2] for match in found if match}


def numbers(comment):
    """The numbers in `Branches 1, 2 and 4 to 6:`."""
    match = re.search(r"^// Branch(?:es)? ([\d, andto]+):", comment, re.M)
    result = set()
    for first, last in re.findall(r"(\d+)(?: to (\d+))?", match[1] if match else ""):
        result.update(range(int(first), int(last or first) + 1))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("keys", nargs="*", metavar="KEY")
    parser.add_argument("--missing", action="store_true", help="only branches without tests")
    args = parser.parse_args()
    missing = 0
    for path in sorted(glob.glob(os.path.join(ROOT, "crates/hlo-passes/src/passes/*/*.rs"))):
        with open(path, encoding="utf-8") as file:
            named = re.match(r"//! `([\w-]+)`:", file.readline())
        if not named or (args.keys and named[1] not in args.keys):
            continue
        key, documented = named[1], branches(path)
        tests = {}
        for test in sorted(glob.glob(os.path.join(ROOT, "lit-tests/passes", key, "*.*"))):
            with open(test, encoding="utf-8") as file:
                for number in numbers(file.read()):
                    tests.setdefault(number, []).append(os.path.splitext(os.path.basename(test))[0])
        for number, text in documented.items():
            names = tests.get(number, [])
            missing += not names
            if not (args.missing and names):
                print(f"{key} {number}. {text}\n    {', '.join(names) or 'NO TEST'}")
        for number in sorted(set(tests) - set(documented)):
            print(f"{key}: no branch {number}, but {', '.join(tests[number])}")
    sys.exit(bool(args.missing and missing))


if __name__ == "__main__":
    main()
