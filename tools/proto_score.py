#!/usr/bin/env python3
"""Compares protocol buffers written and read here with those of XLA (jaxlib 0.10.2).

    proto_score.py --shared DIR [--ours target/release/hlo-check] [--floors FILE] [--list] [--fields]

Run it with a Python that has jaxlib. DIR has `pb` (files written by XLA with the text XLA prints for each) and `corpus`
(HLO texts). The figures:

  pb text       files of pb whose text here is XLA's, byte for byte
  pb back       texts of pb whose protocol buffer made here is accepted by XLA and printed alike
  pb kept       files of pb, with unknown fields put into messages at random, that are written back with every field
  pb edited     the same after an edit elsewhere in the module: every unknown field is still there
  embedded      texts of XLA's tests whose protocol buffer made here XLA prints as it prints the text itself
  real          the same for texts of other toolchains

--list says which differ. --fields compares the fields with those of XLA's own protocol buffer for the same text.
XLA can die of its input, so it is in a process of its own.
"""

import argparse
import collections
import glob
import gzip
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile

UNKNOWN_NUMBERS = (4000, 90001, 536870911)


# ------------------------------------------------------------------------------------------------ messages

def read_varint(data, at):
  value = shift = 0
  while True:
    byte = data[at]
    at += 1
    value |= (byte & 127) << shift
    if byte < 128:
      return value, at
    shift += 7


def varint(value):
  value &= (1 << 64) - 1
  out = bytearray()
  while value > 127:
    out.append(value & 127 | 128)
    value >>= 7
  out.append(value)
  return bytes(out)


def decode(data):
  """The fields of a message: number, wire type, value."""
  fields, at = [], 0
  while at < len(data):
    key, at = read_varint(data, at)
    number, wire = key >> 3, key & 7
    if wire == 0:
      value, at = read_varint(data, at)
    else:
      length = {1: 8, 5: 4}.get(wire)
      if wire == 2:
        length, at = read_varint(data, at)
      value = data[at:at + length]
      at += length
    fields.append((number, wire, value))
  return fields


def encode(fields):
  out = bytearray()
  for number, wire, value in fields:
    out += varint(number << 3 | wire)
    if wire == 0:
      out += varint(value)
    else:
      out += (varint(len(value)) if wire == 2 else b"") + value
  return bytes(out)


def definitions(folder):
  """{message: {number: (field, type)}} from the definitions; nested messages by their whole names."""
  messages, stack = {}, []
  for path in sorted(glob.glob(os.path.join(folder, "*.proto"))):
    for line in open(path, encoding="utf-8"):
      line = line.split("//")[0].strip()
      block = re.match(r"(message|enum|oneof) (\w+) \{", line)
      field = re.match(r"(?:repeated |optional )?(map<\w+, [\w.]+>|[\w.]+) (\w+) = (\d+);", line)
      if block:
        stack.append(block[2] if block[1] == "message" else "")
        if block[1] == "message":
          messages[".".join(name for name in stack if name)] = {}
      elif line == "}":
        stack.pop()
      elif field and stack:
        owner = ".".join(name for name in stack if name)
        kind, entry = field[1], re.match(r"map<(\w+), ([\w.]+)>", field[1])
        if entry:
          kind = owner + "." + field[2] + ".entry"
          messages[kind] = {1: ("key", entry[1]), 2: ("value", entry[2])}
        if owner in messages:
          messages[owner][int(field[3])] = (field[2], kind)
  for owner, fields in messages.items():
    for number, (name, kind) in fields.items():
      scopes = owner.split(".")
      for depth in range(len(scopes), -1, -1):
        whole = ".".join(scopes[:depth] + [kind])
        if whole in messages:
          fields[number] = (name, whole)
          break
  return messages


def inject(data, message, messages, rng, injected):
  """The message with unknown fields in about every fourth message in it."""
  fields = []
  for number, wire, value in decode(data):
    kind = messages.get(message, {}).get(number, ("", ""))[1]
    # Entries of maps are made anew by everybody.
    if wire == 2 and kind in messages and not kind.endswith(".entry"):
      value = inject(value, kind, messages, rng, injected)
    fields.append((number, wire, value))
  if rng.random() < 0.25:
    number = rng.choice(UNKNOWN_NUMBERS)
    extra = rng.choice([(number, 0, rng.getrandbits(60)), (number, 2, b"kept %d" % rng.getrandbits(30)),
                        (number, 5, rng.randbytes(4)), (number, 1, rng.randbytes(8))])
    fields.insert(rng.randint(0, len(fields)), extra)
    injected.append((message, extra))
  return encode(fields)


def unknown_fields(data, message, messages, found):
  """Adds the injected fields of a message and of those in it."""
  for number, wire, value in decode(data):
    kind = messages.get(message, {}).get(number, ("", ""))[1]
    if number in UNKNOWN_NUMBERS:
      found[(message, number, wire, value)] += 1
    elif wire == 2 and kind in messages:
      unknown_fields(value, kind, messages, found)
  return found


# ------------------------------------------------------------------------------------------------ programs

class Ours:
  """The program here."""

  def __init__(self, binary):
    self.binary = binary

  def convert(self, inputs, to, *options):
    """{name: output, None if refused} of many files ({name: contents}) at once, and the messages."""
    with tempfile.TemporaryDirectory() as folder:
      os.makedirs(os.path.join(folder, "in"))
      os.makedirs(os.path.join(folder, "out"))
      paths = {}
      for index, (name, contents) in enumerate(inputs.items()):
        paths[name] = f"{index}.x"
        with open(os.path.join(folder, "in", paths[name]), "wb") as file:
          file.write(contents)
      messages = ""
      names = list(paths.values())
      for start in range(0, len(names), 500):
        command = [self.binary, "convert", f"--to={to}", "--out-dir=out", *options]
        command += ["in/" + name for name in names[start:start + 500]]
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        messages += done.stderr.decode("utf-8", "replace")
      outputs = {}
      for name, path in paths.items():
        path = os.path.join(folder, "out", path[:-2] + "." + to)
        outputs[name] = open(path, "rb").read() if os.path.exists(path) else None
      return outputs, messages


class Xla:
  """jaxlib, in a process of its own, and in a new one after each that dies."""

  def __init__(self, shared):
    sys.path.insert(0, os.path.join(shared, "oracle"))
    import xla_oracle  # pylint: disable=import-outside-toplevel
    self.oracle = xla_oracle
    self.hlo = xla_oracle.load_hlo()
    self.worker = self.pipe = None

  def _work(self, pipe):
    # What XLA says when it dies is nothing that is compared.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    while True:
      function, arguments = pipe.recv()
      try:
        pipe.send(("accept", getattr(self, function)(*arguments)))
      except Exception as error:  # pylint: disable=broad-except
        pipe.send(("reject", f"{type(error).__name__}: {error}"))

  def ask(self, function, *arguments, timeout=60):
    if self.worker is None:
      context = multiprocessing.get_context("fork")
      self.pipe, end = context.Pipe()
      self.worker = context.Process(target=self._work, args=(end,), daemon=True)
      self.worker.start()
      end.close()
    try:
      self.pipe.send((function, arguments))
      if self.pipe.poll(timeout):
        return self.pipe.recv()
      verdict = ("timeout", f"no answer in {timeout} s")
    except (EOFError, OSError):
      verdict = ("died", "")
    self.worker.kill()
    self.worker.join()
    self.worker = None
    return verdict

  def options(self, large):
    return self.oracle.print_options(self.hlo, "default", large)

  def _print_text(self, text, large):
    return self.hlo.hlo_module_from_text(text).to_string(self.options(large))

  def _print_proto(self, data, large):
    return self.hlo.HloModule.from_serialized_hlo_module_proto(data).to_string(self.options(large))

  def _proto_of_text(self, text):
    return self.hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()

  def print_text(self, text, large=False):
    return self.ask("_print_text", text, large)

  def print_proto(self, data, large=False):
    return self.ask("_print_proto", data, large)

  def proto_of_text(self, text):
    """XLA's own protocol buffer of a text."""
    return self.ask("_proto_of_text", text)

  def round_trip(self, text, large=False):
    """The text printed from XLA's own protocol buffer of a text."""
    verdict, data = self.proto_of_text(text)
    return self.print_proto(data, large) if verdict == "accept" else (verdict, data)


# ------------------------------------------------------------------------------------------------ comparisons

def first_difference(ours, theirs):
  for a, b in zip(ours.splitlines(), theirs.splitlines()):
    if a != b:
      at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
      start = max(0, at - 60)
      return f"    here {a[start:start + 160]!r}\n    XLA  {b[start:start + 160]!r}"
  return "    one is longer"


class Score:
  """How often something was as it should be."""

  def __init__(self, show):
    self.show = show
    self.counts = collections.defaultdict(lambda: [0, 0])
    self.explained = collections.Counter()

  def add(self, what, good, name, detail=""):
    self.counts[what][0] += bool(good)
    self.counts[what][1] += 1
    if not good and self.show:
      print(f"{what}: {name}\n{detail}")


def module_of(data):
  """The HloModuleProto in an HloProto."""
  return next(value for number, _, value in decode(data) if number == 1)


def score_pb(shared, ours, xla, messages, score):
  paths = sorted(glob.glob(os.path.join(shared, "pb", "*.pb")))
  files = {os.path.basename(path): open(path, "rb").read() for path in paths}
  texts = {}
  for name in files:
    stem = re.sub(r"\.(module|hlo)?\.?pb$", "", name).replace(".module", "")
    path = os.path.join(shared, "pb", stem + ".txt")
    texts[name] = open(path, "rb").read() if os.path.exists(path) else None
  large = not any(b"constant({...})" in (text or b"") for text in texts.values())
  elide = [] if large else ["--elide-constants"]
  got, complaints = ours.convert(files, "hlo", "--strict", *elide)
  if score.show and complaints:
    print(complaints)
  for name, text in texts.items():
    if text is None:
      verdict = "refused by XLA" if got[name] is None else "read here, refused by XLA"
      score.explained[verdict] += 1
      continue
    detail = "    refused" if got[name] is None else first_difference(got[name].decode(), text.decode())
    if got[name] != text:
      data = files[name] if "module" in name else module_of(files[name])
      verdict, printed = xla.print_proto(data, large)
      if verdict == "accept" and got[name] is not None and printed.encode() == got[name]:
        score.explained["pb text: printed otherwise by jaxlib 0.10.2 itself, and here as by it"] += 1
        continue
    score.add("pb text", got[name] == text, name, detail)

  written, complaints = ours.convert({name: text for name, text in texts.items() if text}, "pb", "--strict")
  for name, data in written.items():
    verdict, printed = ("refused here", "") if data is None else xla.print_proto(data, large)
    if data is None and xla.print_text(texts[name].decode())[0] != "accept":
      score.explained["pb back: XLA doesn't read its own text"] += 1
      continue
    good = verdict == "accept" and printed.encode() == texts[name]
    if not good and verdict == "accept":
      own, text = xla.round_trip(texts[name].decode(), large)
      if own == "accept" and text == printed:
        score.explained["pb back: XLA's own protocol buffer of the text is printed like that, too"] += 1
        continue
    detail = first_difference(printed, texts[name].decode()) if verdict == "accept" else f"    {verdict}: {printed}"
    score.add("pb back", good, name, detail)

  injected = {}
  for name, data in files.items():
    rng = random.Random(name)
    message = "HloModuleProto" if "module" in name else "HloProto"
    injected[name] = inject(data, message, messages, rng, [])
  kept, _ = ours.convert(injected, "pb", "--keep-container")
  readable = [name for name in files if got[name] is not None]
  for name in readable:
    score.add("pb kept", kept[name] is not None and sorted(decode(kept[name])) == sorted(decode(injected[name])), name)

  for name in readable:
    data = injected[name] if "module" in name else module_of(injected[name])
    with tempfile.TemporaryDirectory() as folder:
      path = os.path.join(folder, "in.pb")
      with open(path, "wb") as file:
        file.write(data)
      # Names of everything change, so that every instruction is written anew.
      command = [ours.binary, "opt", path, "--passes=canonicalize-names", "--emit-proto", "--no-verify"]
      done = subprocess.run(command, capture_output=True, check=False)
    wanted = unknown_fields(data, "HloModuleProto", messages, collections.Counter())
    if done.returncode:
      score.add("pb edited", False, name, done.stderr.decode()[:500])
      continue
    found = unknown_fields(done.stdout, "HloModuleProto", messages, collections.Counter())
    lost = wanted - found
    score.add("pb edited", not lost, name, f"    {list(lost.items())[:5]}")


def corpus(shared):
  """Names, texts and XLA's prints of what XLA accepts."""
  with gzip.open(os.path.join(shared, "corpus/embedded/modules.jsonl.gz"), "rt", encoding="utf-8") as lines:
    for line in lines:
      record = json.loads(line)
      if record["verdict"] == "accept" and not record.get("dots"):
        yield "embedded", record["id"] + " " + record["source"], record["text"], record.get("default")
  for path in sorted(glob.glob(os.path.join(shared, "corpus/real/*.hlo"))):
    yield "real", os.path.basename(path), open(path, encoding="utf-8", errors="replace").read(), None


def field_differences(ours, theirs, message, messages, path, found):
  """Counts the fields that one of two messages has otherwise."""
  def grouped(data):
    groups = collections.defaultdict(list)
    for number, wire, value in decode(data):
      groups[number].append((wire, value))
    return groups
  a, b = grouped(ours), grouped(theirs)
  for number in sorted(set(a) | set(b)):
    name, kind = messages.get(message, {}).get(number, (str(number), ""))
    if a.get(number) == b.get(number):
      continue
    where = f"{path}.{name}"
    if kind in messages and len(a.get(number, [])) == len(b.get(number, [])):
      for (_, mine), (_, their) in zip(a[number], b[number]):
        field_differences(mine, their, kind, messages, where, found)
    else:
      found[where + (" only here" if number not in b else " only in XLA's" if number not in a else "")] += 1


def score_corpus(shared, ours, xla, messages, score, fields):
  records = list(corpus(shared))
  written, complaints = {}, ""
  texts = {name: text.encode() for _, name, text, _ in records}
  written, complaints = ours.convert(texts, "pb", "--strict")
  differences = collections.Counter()
  for kind, name, text, wanted in records:
    if wanted is None:
      verdict, wanted = xla.print_text(text)
      if verdict != "accept":
        score.explained[f"{kind}: the text is refused by XLA"] += 1
        continue
    data = written[name]
    verdict, printed = ("refused here", "") if data is None else xla.print_proto(data)
    good = verdict == "accept" and printed == wanted
    if not good:
      own, own_text = xla.round_trip(text)
      if (own, own_text if own == "accept" else "") == (verdict, printed if verdict == "accept" else ""):
        what = "is printed like that, too" if own == "accept" else "is refused, too"
        score.explained[f"{kind}: XLA's own protocol buffer of the text {what}"] += 1
        continue
      own, theirs = xla.proto_of_text(text)
      found = collections.Counter()
      if own == "accept" and data is not None:
        field_differences(data, theirs, "HloModuleProto", messages, "", found)
        if not found:
          # What XLA makes of them isn't the same each time.
          score.explained[f"{kind}: XLA's own protocol buffer has the same fields"] += 1
          continue
      detail = first_difference(printed, wanted) if verdict == "accept" else f"    {verdict}: {printed[:300]}"
    score.add(kind, good, name, "" if good else detail)
    if fields and data is not None:
      own, theirs = xla.proto_of_text(text)
      if own == "accept":
        before = dict(differences)
        field_differences(data, theirs, "HloModuleProto", messages, "", differences)
        for where, count in differences.items():
          if where not in before:
            print(f"first at {name}: {where}")
  if fields:
    for where, count in differences.most_common():
      print(f"{count:6} {where}")


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--shared", required=True)
  parser.add_argument("--ours")
  parser.add_argument("--floors")
  parser.add_argument("--list", action="store_true")
  parser.add_argument("--fields", action="store_true")
  parser.add_argument("--only", choices=("pb", "corpus"))
  args = parser.parse_args()
  root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
  ours = Ours(os.path.abspath(args.ours or os.path.join(root, "target/release/hlo-check")))
  messages = definitions(os.path.join(root, "crates/hlo-text/proto"))
  xla, score = Xla(args.shared), Score(args.list)
  if args.only != "corpus":
    score_pb(args.shared, ours, xla, messages, score)
  if args.only != "pb":
    score_corpus(args.shared, ours, xla, messages, score, args.fields)
  floors = {}
  if args.floors:
    for line in open(args.floors, encoding="utf-8"):
      match = re.match(r"proto (\w+(?: \w+)?) (\d+)$", line.strip())
      if match:
        floors[match[1]] = int(match[2])
  status = 0
  for what, (good, all_) in score.counts.items():
    floor = floors.get(what)
    low = floor is not None and good * 100000 < floor * all_
    status |= low
    print(f"{what:10} {good:6} of {all_:6}  {100 * good / max(1, all_):7.3f} %{'  below the floor' if low else ''}")
  for what, count in sorted(score.explained.items()):
    print(f"{count:6}  {what}")
  return status


if __name__ == "__main__":
  sys.exit(main())
