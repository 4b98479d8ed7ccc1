#!/usr/bin/env python3
"""Makes a large module of a small one: the same computations again and again under new names.

    repeat_module.py MODULE MEGABYTES > LARGE

MODULE is a print in XLA's default form (names with `%`). Each copy's entry computation is called by the new entry with the
entry's parameters; the new entry's result is the tuple of theirs. Attributes of the module (layouts, aliases, schedule)
are left out, stack-frame tables stay.
"""

import re
import sys


def main():
  path, megabytes = sys.argv[1], float(sys.argv[2])
  with open(path, encoding="utf-8") as source:
    text = source.read()
  header, rest = text.split("\n", 1)
  name = header.split()[1].rstrip(",")
  first = re.search(r"^(?:ENTRY )?%", rest, re.MULTILINE).start()
  tables, body = rest[:first], rest[first:].rstrip("\n") + "\n\n"
  entry = re.search(r"^ENTRY (%\S+) \((.*)\) -> (.*) \{$", body, re.MULTILINE)
  entry_name, result = entry[1], entry[3]
  inside = body[entry.end():]
  inside = inside[:inside.index("\n}")]
  parameters = re.findall(r"^  (?:ROOT )?(%\S+) = (.*?) parameter\((\d+)\)", inside, re.MULTILINE)
  parameters.sort(key=lambda parameter: int(parameter[2]))
  result = re.search(r"^  ROOT %\S+ = (\(.*?\)|\S+) [a-z]", inside, re.MULTILINE)[1]
  # Names that are quoted are no names: quotes are even in number before every real one.
  pieces = re.split(r"(\"(?:[^\"\\]|\\.)*\"|%[\w.-]+)", body.replace("ENTRY ", "", 1))
  names = {piece for piece in pieces if piece.startswith("%")}
  out = sys.stdout
  out.write(f"HloModule {name}\n{tables}")
  wanted = int(megabytes * (1 << 20))
  written = len(tables)
  copies = 0
  while written < wanted:
    suffix = f".copy{copies}"
    copy = "".join(piece + suffix if piece in names else piece for piece in pieces)
    out.write(copy)
    written += len(copy)
    copies += 1
  out.write("ENTRY %all {\n")
  for number, (_, shape, _) in enumerate(parameters):
    out.write(f"  %in{number} = {shape} parameter({number})\n")
  operands = ", ".join(f"%in{number}" for number in range(len(parameters)))
  for number in range(copies):
    out.write(f"  %out{number} = {result} call({operands}), to_apply={entry_name}.copy{number}\n")
  results = ", ".join(f"%out{number}" for number in range(copies))
  out.write(f"  ROOT %result = ({', '.join([result] * copies)}) tuple({results})\n}}\n")


if __name__ == "__main__":
  main()
