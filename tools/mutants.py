#!/usr/bin/env python3
"""Do the tests notice when the code of a pass is changed?

    tools/mutants.py [--work DIR] [--jobs N] [--shard K/N] [--again OUTPUT] [--log FILE] [FILE ...]

cargo-mutants (cargo install cargo-mutants) says what can be changed: a function's value, an operator, an arm or a guard of a
match, a field. Building each change by itself takes a minute; here a copy of the workspace holds them all. A function
becomes a choice between its bodies, and the variable HLO_MUTANT says which one runs:

    fn f() -> bool { match crate::mutation::active() { 7 => { a != b } 8 => { true } _ => { a == b } } }

Changes that don't compile are taken out. With each of the others the lit tests of the file's pass run, then those of all
passes, then the tests of hlo-passes, until one fails. FILEs (all of crates/hlo-passes/src/passes by default) choose where
changes are made. Prints the changes that no test noticed and how many there were of each outcome; --log writes what came of
each, and which test noticed it. Exit status 1 if a change was not noticed that tools/mutants_argued.txt doesn't hold: a line of
it is the change, a tab, and why it is left.
"""

import argparse
import collections
import concurrent.futures
import filecmp
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PASSES = "crates/hlo-passes/src/passes"
PASSES_TESTS = "lit-tests/passes"
ARGUED = os.path.join(ROOT, "tools/mutants_argued.txt")
# A test run that takes longer is caught in a loop.
SECONDS = 60
# What one run may take of memory, in KiB.
MEMORY = 4 << 20

MUTATION = """//! Which of the changes runs.

use std::sync::OnceLock;

pub(crate) fn active() -> u32 {
    static ACTIVE: OnceLock<u32> = OnceLock::new();
    *ACTIVE.get_or_init(|| std::env::var("HLO_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0))
}
"""

# What a function of ours may give instead, by the type in its PassResult, which cargo-mutants doesn't know.
OF_RESULT = [
    (r"\(\)", ["()"]),
    (r"bool", ["true", "false"]),
    (r"Option<.*>", ["None"]),
    (r"Vec<.*>", ["Vec::new()"]),
]


class Mutant:
  """One change of one function."""

  def __init__(self, number, file, place, name, start, end, replacement, function):
    self.number, self.file, self.place, self.name = number, file, place, name
    self.start, self.end, self.replacement, self.function = start, end, replacement, function


def offset(lines, place):
  """Where a line and column, from 1, are in the text."""
  return lines[place["line"] - 1] + place["column"] - 1


def line_starts(text):
  return [0] + [match.end() for match in re.finditer("\n", text)]


def body_of(text, start):
  """Where the body of the function at `start` begins: the first brace outside of brackets."""
  depth = 0
  for match in re.finditer(r"//[^\n]*|\"(?:[^\"\\]|\\.)*\"|[()\[\]{]", text[start:]):
    token = match[0]
    if token in "([":
      depth += 1
    elif token in ")]":
      depth -= 1
    elif token == "{" and depth == 0:
      return start + match.start()
  raise ValueError("a function without a body")


def find_mutants(files):
  command = ["cargo", "mutants", "--list", "--json", "-p", "hlo-passes"]
  for file in files:
    command += ["-f", file]
  listed = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)
  texts, mutants, left_out, seen = {}, [], [], set()
  for entry in listed:
    file = entry["file"]
    if file not in texts:
      with open(os.path.join(ROOT, file), encoding="utf-8") as opened:
        texts[file] = opened.read()
    text = texts[file]
    lines = line_starts(text)
    span = [offset(lines, entry["span"][end]) for end in ("start", "end")]
    name = entry["name"].split(": ", 1)[1]
    line = entry["span"]["start"]["line"]
    place = f"{file}:{line}"
    source = text.split("\n", line)[line - 1].strip()
    function = entry["function"] and tuple(offset(lines, entry["function"]["span"][end]) for end in ("start", "end"))
    # Constants are computed before any variable is read.
    if not function or re.match(r"(pub(\([a-z]+\))? )?const fn", text[function[0]:]):
      left_out.append(f"{place}: {name}")
      continue
    replacements = [(name, entry["replacement"])]
    result = re.match(r"-> PassResult<(.*)>$", entry["function"]["return_type"])
    if entry["genre"] == "FnValue" and result:
      if (file, function) in seen:
        continue
      seen.add((file, function))
      values = next((values for type_, values in OF_RESULT if re.fullmatch(type_, result[1])), [])
      replacements = [(re.sub(r" with .*", f" with Ok({value})", name), f"Ok({value})") for value in values]
    for described, replacement in replacements:
      mutants.append(Mutant(len(mutants) + 1, file, place, f"{described}: {source}", *span, replacement, function))
  return texts, mutants, left_out


def instrument(text, mutants):
  """The text with all changes in it, and for each of its lines the change that it belongs to."""
  functions = collections.defaultdict(list)
  for mutant in mutants:
    functions[mutant.function].append(mutant)
  # A function within another one is part of that one's body.
  outer = {}
  for function in functions:
    around = [other for other in functions if other[0] <= function[0] and function[1] <= other[1]]
    outer[function] = max(around, key=lambda other: other[1] - other[0])
  grouped = collections.defaultdict(list)
  for function, found in functions.items():
    grouped[outer[function]] += found
  pieces, owners, at = [], [], 0

  def put(piece, owner=0):
    pieces.append(piece)
    owners.extend([owner] * piece.count("\n"))

  for function in sorted(grouped):
    body = body_of(text, function[0])
    put(text[at:body])
    put("{ match crate::mutation::active() {\n")
    for mutant in grouped[function]:
      changed = text[body:mutant.start] + mutant.replacement + " " + text[mutant.end:function[1]]
      put(f"{mutant.number} =>\n{changed}\n", mutant.number)
    put("_ => ")
    put(text[body:function[1]])
    put("\n} }")
    at = function[1]
  put(text[at:])
  return "".join(pieces), owners + [0]


def copy_if_changed(source, target):
  """Copies the bytes; a file that has them already keeps its time, so that it isn't compiled again."""
  if not (os.path.exists(target) and filecmp.cmp(source, target, shallow=False)):
    shutil.copyfile(source, target)
    shutil.copymode(source, target)


def copy_workspace(work, texts):
  tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
  for path in filter(None, tracked.split("\0")):
    source, target = os.path.join(ROOT, path), os.path.join(work, path)
    if os.path.isfile(source):
      os.makedirs(os.path.dirname(target), exist_ok=True)
      # What the build writes stays as it was built; anything else may be left from other files' changes.
      if not (os.path.exists(target) and path in texts):
        copy_if_changed(source, target)
  with open(os.path.join(work, "crates/hlo-passes/src/mutation.rs"), "w", encoding="utf-8") as file:
    file.write(MUTATION)
  library = os.path.join(work, "crates/hlo-passes/src/lib.rs")
  with open(library, encoding="utf-8") as file:
    text = file.read()
  with open(library, "w", encoding="utf-8") as file:
    file.write(text + "\nmod mutation;\n")


def build(work, texts, mutants):
  """Builds what compiles. Gives the test programs, the changes that don't compile, and those in the build."""
  viable = list(mutants)
  unviable = []
  command = ["cargo", "test", "--no-run", "--message-format=json", "-p", "hlo-passes", "-p", "hlo-check", "--bins", "--lib",
             "--tests"]
  environment = {**os.environ, "RUSTFLAGS": "--cap-lints allow", "CARGO_TARGET_DIR": os.path.join(work, "target")}
  while True:
    owners = {}
    for file, text in texts.items():
      instrumented, owners[file] = instrument(text, [mutant for mutant in viable if mutant.file == file])
      path = os.path.join(work, file)
      with open(path, encoding="utf-8") as opened:
        same = opened.read() == instrumented
      if not same:
        with open(path, "w", encoding="utf-8") as opened:
          opened.write(instrumented)
    result = subprocess.run(command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            check=False)
    messages = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    if result.returncode == 0:
      programs = [message["executable"] for message in messages
                  if message.get("executable") and message["package_id"].split("#")[0].endswith("hlo-passes")]
      return programs, unviable, viable
    broken = set()
    for message in messages:
      if message["reason"] != "compiler-message" or message["message"]["level"] != "error":
        continue
      said = [message["message"], *message["message"]["children"]]
      spans = [span for part in said for span in part["spans"] if span["file_name"] in owners]
      changed = {is_primary: {owners[span["file_name"]][span["line_start"] - 1] for span in spans
                              if span["is_primary"] == is_primary} - {0} for is_primary in (True, False)}
      # Where the bodies of one function differ in type the error is that of the one without a change.
      broken |= changed[True] or changed[False]
    if not broken:
      errors = [message["message"]["rendered"] for message in messages
                if message["reason"] == "compiler-message" and message["message"]["level"] == "error"]
      sys.exit("".join(errors) + result.stderr[-4000:])
    unviable += [mutant for mutant in viable if mutant.number in broken]
    viable = [mutant for mutant in viable if mutant.number not in broken]
    print(f"{len(broken)} don't compile", file=sys.stderr, flush=True)


def key_of(text):
  named = re.match(r"//! `([\w-]+)`:", text)
  return named[1] if named else None


def passes_tests(command, number, work):
  environment = {**os.environ, "HLO_MUTANT": str(number)}
  limited = ["bash", "-c", f"ulimit -v {MEMORY}; exec \"$@\"", "bash", *command]
  with tempfile.TemporaryFile() as output:
    process = subprocess.Popen(limited, cwd=work, env=environment, stdout=output, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
      status = process.wait(SECONDS)
    except subprocess.TimeoutExpired:
      # With all that it started.
      os.killpg(process.pid, signal.SIGKILL)
      process.wait()
      return "timeout", ""
    output.seek(0)
    said = output.read(1 << 20).decode(errors="replace")
  noticed = re.search(r"^(FAIL: .*|test .* FAILED|---- .* stdout ----|memory allocation of .*|fatal runtime error.*)$", said, re.M)
  return "passed" if status == 0 else "failed", noticed[0] if noticed else f"status {status}: {said[:200]!r}"


def main():
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("files", nargs="*", default=[PASSES + "/**"])
  parser.add_argument("--work", default=os.path.join(ROOT, "target/mutants"))
  parser.add_argument("--jobs", type=int, default=os.cpu_count())
  parser.add_argument("--shard", default="0/1", help="K/N: only the changes whose number has remainder K by N")
  parser.add_argument("--again", metavar="OUTPUT", help="only the changes that this earlier output calls missed")
  parser.add_argument("--log", default=os.devnull, help="where to write what came of each change, and which test noticed it")
  args = parser.parse_args()
  texts, mutants, left_out = find_mutants(args.files)
  copy_workspace(args.work, texts)
  programs, unviable, viable = build(args.work, texts, mutants)
  test = os.path.join(args.work, "target/debug/hlo-check")
  unit_tests = ["bash", "-ec", "cd crates/hlo-passes; for program in \"$@\"; do \"$program\" -q; done", "bash", *programs]
  runs = [[test, "-q", PASSES_TESTS], unit_tests]
  for run in runs:
    result, why = passes_tests(run, 0, args.work)
    if result != "passed":
      sys.exit(f"without any change this fails: {' '.join(run)}: {why}")

  def outcome(mutant):
    key = key_of(texts[mutant.file])
    folder = os.path.join(PASSES_TESTS, key or "")
    own = [[test, "-q", folder]] if key and os.path.isdir(os.path.join(args.work, folder)) else []
    for run in own + runs:
      result, why = passes_tests(run, mutant.number, args.work)
      if result != "passed":
        return result, why
    return "missed", ""

  shard, shards = map(int, args.shard.split("/"))
  chosen = [mutant for mutant in viable if mutant.number % shards == shard]
  if args.again:
    with open(args.again, encoding="utf-8") as file:
      before = {re.sub(r"^missed (.*?):\d+: ", r"\1: ", line.rstrip("\n")) for line in file if line.startswith("missed ")}
    chosen = [mutant for mutant in chosen if f"{mutant.file}: {mutant.name}" in before]
  counts = collections.Counter()
  with open(ARGUED, encoding="utf-8") as file:
    argued = {line.split("\t")[0] for line in file if "\t" in line}
  fresh = 0
  with open(args.log, "w", encoding="utf-8") as log, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
    for mutant, (result, why) in zip(chosen, pool.map(outcome, chosen)):
      print(f"{result} {mutant.place}: {mutant.name}\t{why}", file=log, flush=True)
      # Lines move; what is argued is the change.
      is_argued = f"{mutant.file}: {mutant.name}" in argued
      counts[result if result != "missed" else "argued" if is_argued else "missed"] += 1
      if result == "missed" and not is_argued:
        fresh += 1
        print(f"missed {mutant.place}: {mutant.name}", flush=True)
      elif result == "timeout":
        # Worth a look: a slow machine takes long, too.
        print(f"timeout {mutant.place}: {mutant.name}", flush=True)
  print(f"{len(mutants)} changes, {len(unviable)} that don't compile, {len(left_out)} in constants left out")
  print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
  return 1 if fresh else 0


if __name__ == "__main__":
  sys.exit(main())
