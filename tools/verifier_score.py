#!/usr/bin/env python3
"""Compares the verifier with XLA's on every module of a reference folder.

    verifier_score.py ask --shared DIR --answers FILE [--modules FILE...]
    verifier_score.py score --shared DIR --answers FILE [--ours target/release/hlo-check] [--list KIND] [--modules FILE...]

`ask` needs the Python of the reference folder's oracle. It has XLA's CPU compiler, with every pass disabled, look at each
module that XLA's parser takes, and appends what its verifier says on the module as it was given, one JSON object per
line; modules that have an answer are not asked again. `score` sets our verifier's answers against these and prints the
table of outcomes, and whether the code we give is one of those that XLA's stated cause stands for (CAUSES below).
--list prints the modules of an outcome: alarm (we refuse what XLA takes), silence, cause, unknown (causes that are in no
row of the table).
"""

import argparse
import collections
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys

# Without passes code generation may abort on what passes would have replaced; then XLA is asked with them.
FLAGS = ("--xla_disable_all_hlo_passes=true", "")
# More devices than this are not made up for a module.
MAX_DEVICES = 1024


def modules(shared, extra):
  """Yields (set, name, text) of every module, texts once."""
  seen = set()

  def new(text):
    key = hashlib.sha256(text.encode()).hexdigest()
    return key not in seen and not seen.add(key)

  def records(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
      for line in file:
        yield json.loads(line)

  def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
      return file.read()

  for name in ("corpus/embedded/modules.jsonl.gz", "corpus/embedded/probes.jsonl", "conformance/constructs.jsonl",
               "conformance/print_options.jsonl"):
    path = os.path.join(shared, name)
    if os.path.exists(path):
      for record in records(path):
        if record.get("verdict", "accept") == "accept" and "text" in record and new(record["text"]):
          yield name.split("/")[-1].split(".")[0], record.get("id", ""), record["text"]
  for folder in ("corpus/files", "corpus/real", "corpus/issues", "passes", "goldens", "eval"):
    for parent, _, files in sorted(os.walk(os.path.join(shared, folder))):
      for name in sorted(files):
        if name.endswith(".hlo"):
          text = read(os.path.join(parent, name))
          if new(text):
            yield folder.split("/")[-1], os.path.relpath(os.path.join(parent, name), shared), text
  for path in extra:
    text = read(path)
    for number, part in enumerate(re.split(r"^// -----.*\n", text, flags=re.M)):
      if part.strip() and new(part):
        yield "extra", f"{path}#{number}", part


def header_number(text, key):
  header = text[text.find("HloModule"):].split("\n", 1)[0]
  found = re.search(rf"\b{key}=(\d+)", header)
  return int(found[1]) if found else 1


def compile_options(hlopb, pjrt, proto, replicas, partitions):
  view = hlopb.Module(proto)
  field = pjrt.fld
  build = field(1, -1) + field(2, view.result.raw) + field(4, replicas) + field(5, partitions)
  if partitions != 1:
    build += field(6, 1)
  options = b"".join(field(1, parameter.raw) for parameter in view.params)
  if len(view.params) == 1 and view.params[0].dtype == "tuple":
    options += field(2, 1)
  return options + field(3, build)


def ask_one(shared_modules, text):
  """XLA's answer: what its verifier says, or why there is none."""
  xlarun, hlopb = shared_modules
  # In a child, since the parser and the construction of modules may abort.
  def parse():
    return xlarun.parse(text).as_serialized_hlo_module_proto()
  kind, value, tail = xlarun.in_child(parse, 60)
  if kind != "ret":
    return {"verdict": "parse", "message": str(value)}
  proto = value
  replicas, partitions = header_number(text, "replica_count"), header_number(text, "num_partitions")
  devices = replicas * partitions
  if devices > MAX_DEVICES:
    replicas = partitions = devices = 1

  def compile_it():
    import pjrt  # pylint: disable=g-import-not-at-top
    client = pjrt.Client()
    try:
      client.compile(proto, "hlo", compile_options(hlopb, pjrt, proto, replicas, partitions))
    except pjrt.PjrtError as error:
      return str(error)
    return ""

  for flags in FLAGS:
    flags = f"{flags} --xla_force_host_platform_device_count={devices}"
    kind, value, tail = xlarun.in_child(compile_it, 120, {"XLA_FLAGS": flags})
    if kind == "ret":
      break
  else:
    fatal = [line for line in tail.split("\n") if re.match(r"F\d{4}|F\d{8}", line) or "Check failed" in line]
    message = "" if kind == "timeout" else fatal[0] if fatal else f"{value} {tail[-300:]}"
    return {"verdict": "timeout" if kind == "timeout" else "crash", "message": message}
  if value.startswith("during context [") and "Failed after pipeline-start" in value:
    return {"verdict": "reject", "message": value}
  return {"verdict": "accept", "message": value, "with_passes": flags.startswith(" ")}


def load_answers(path):
  answers = {}
  if os.path.exists(path):
    with open(path, encoding="utf-8") as file:
      for line in file:
        answer = json.loads(line)
        # A second question is asked with passes, which have faults of their own.
        if answers.get(answer["key"], {}).get("verdict") == "crash":
          answer["with_passes"] = True
        answers[answer["key"]] = answer
  return answers


def key_of(text):
  return hashlib.sha256(text.encode()).hexdigest()[:24]


def ask(args):
  sys.path.insert(0, os.path.join(args.shared, "oracle"))
  import hlopb  # pylint: disable=g-import-not-at-top
  import xlarun  # pylint: disable=g-import-not-at-top
  known = load_answers(args.answers)
  with open(args.answers, "a", encoding="utf-8") as out:
    for kind, name, text in modules(args.shared, args.modules):
      key = key_of(text)
      if key in known and known[key]["verdict"] not in args.again:
        continue
      answer = {"key": key, "set": kind, "name": name, **ask_one((xlarun, hlopb), text)}
      out.write(json.dumps(answer) + "\n")
      out.flush()


# What XLA says (a regular expression), and the codes it stands for here. The first that matches counts.
CAUSES = [
    (r"Expected instruction to have shape equal to [^:]*:\n[^\n]* copy-start\(", "CopyBuffers"),
    (r"Expected instruction to have shape equal to", "ResultShape ConstantShape WhileSignature BranchSignature"),
    (r"layout minor_to_major|layout has|is not a sparse array", "EntryLayoutShape LayoutRank"),
    (r"Dimensions overflow|may overflow int64", "ShapeSize EntryLayoutShape"),
    (r"batch_dims\.size\(\) \+ contracting_dims\.size\(\)", "ScaledDot"),
    (r"AllToAll split_dimension", "CollectiveDimension"),
    (r"product_of_iota_dimensions", "ShardingDevices"),
    (r"Couldn't find parameter", "EntryParameters"),
    (r"instruction should have \d+ operands", "WrongOperandCount"),
    (r"^[^\n]*(scatter_dims_to_operand_dims|Updates tensor|Scatter op has window)", "ScatterDimensions"),
    (r"must take 0 parameters", "WrongOperandCount"),
    (r"must have compatible dimension|requires all operands to have the same shape", "OperandShapes"),
    (r"[Mm]apped computation|Map applied function", "MapSignature"),
    (r"called from \S+ to have \d+ parameters.* sort\(|Expected computation (\S+) called from", "CallSignature "
     "WhileSignature BranchSignature SortComparator"),
    (r"out-of-bounds in shape.* reverse\(|reverse dimensions", "ReverseDimensions"),
    (r"Slice index count|start index to slice|limit index", "SliceBounds"),
    (r"start indices must|[Dd]ynamic (update )?slice start ind", "StartIndices"),
    (r"Dynamic slice index count|Negative size index to dynamic slice|Slice dim size", "DynamicSliceSize"),
    (r"Cannot concatenate arrays", "Concatenation"),
    (r"Gather index leaf|[Gg]ather (op|dimension|index)", "GatherDimensions"),
    (r"to and/or operation|for atan2 operation|Complex component type|Expected input element type", "ElementTypes"),
    (r"random number is required to have same bits|Stochastic convert", "RandomBits"),
    (r"for Cholesky|TriangularSolve|shared dimension of 'a'|two minor dimensions|leading batch dimensions of 'a'",
     "MatrixShape"),
    (r"Window dimensions do not match RHS", "ConvolutionDimensions"),
    (r"should be compatible with feature count|[Ee]xpected feature_index|feature count", "BatchNormFeature"),
    (r"window-reduced operand|Select function", "SelectAndScatter"),
    (r"to_apply computation parameter are inconsistent|root in to_apply|to_apply computation root", "Scan"),
    (r"Cannot have use_global_device_ids=true without channel_id", "GroupMode"),
    (r"Replica groups must be specified in flattened-id mode", "GroupsMissing"),
    (r"Replica groups expected to be of uniform size", "GroupSizes"),
    (r"empty replica group|is out of range \(should be|is repeated in instruction's replica-groups|Replica \S+ is repeated|"
     r"replica groups should contain", "ReplicaGroups"),
    (r"shard_count = |must be dividable by", "ShardCount"),
    (r"ag->operand\(i\)->shape\(\)\.IsArray|ars->scatter_dimension\(\) <|all_gather_dimension\(\) >=|"
     r"scatter_dimension\(\) >=", "CollectiveDimension NotAnArray"),
    (r"(ag|ars)->shape\(\)\.IsTuple\(\)", "CollectiveOperands ResultShape"),
    (r"operand_count\(\) == split_count|HLO all-to-all has operands with different shapes|RaggedAllToAll operand",
     "CollectiveOperands"),
    (r"(Source|Target) \S+ .*must be <|(Source|Target) -\d+ .*must be >= 0", "SourceTargetRange"),
    (r"(Source|Target) \S+ appears more than", "SourceTargetRepeated"),
    (r"Unmatching (input|output)|Buffer offset|Unexpected number of operands", "PermuteBuffers"),
    (r"All reduce channel id must be greater", "AllReduceChannel"),
    (r"mix of layout constrained and unconstrained AllReduce", "AllReduceLayouts"),
    (r"thread name same as|expects same async thread name|execution thread does not match", "ThreadMismatch"),
    (r"expected to contain only the root and parameter instructions", "AsyncContent"),
    (r"requires one consumer|The consumer of a|can only be used as the first operand|"
     r"^(?!.*HasExactly).*instruction->users\(\)\.size\(\) == 1", "StartUsers"),
    (r"requires one operand|The operand of a|The first operand of a async-update", "DoneOperand"),
    (r"async shape to be in the form|to match (the )?async computation (parameter|root) shape|prefix of the async|"
     r"shape of output to match the async shape|expects its shape to match|parameter shape of operand to be|"
     r"to be a tuple with shapes that match", "AsyncShape AsyncOperands"),
    (r"expects the shape of operand|new operands, but the shape|to be fully bound|expects \d+ operands, found",
     "AsyncOperands"),
    (r"async_start->.*Invalid aliasing|async_start.*aliasing|Negative operand number in aliasing|"
     r"in aliasing config is out of bounds|Output index should not be empty|IgnoreBuffer\(\)\( *output_subshape",
     "AsyncAliasing"),
    (r"Invalid aliasing|Different aliasing shapes|may not have an output-to-operand aliasing", "AliasingPair"),
    (r"same channel id|same is-host-transfer property", "ChannelPair"),
    (r"Host-transfer send/recv instructions", "HostTransfers"),
    (r"more than one writers", "BufferWriters"),
    (r"custom-call to (Pin|Unpin|CreateBuffer)|buffer is used in", "BufferCustomCall"),
    (r"Seen buffers while buffers", "BufferContext"),
    (r"Sharding is tuple-shaped|shape is a tuple but sharding is not|tuple sharding|leaf", "ShardingTree"),
    (r"Number of tile assignment dimensions", "ShardingRank"),
    (r"in tile assignment|tile_assignment should have|sharding should have", "ShardingDevices"),
    (r"Inconsistent (while|conditional) sharding", "ShardingConsistency"),
    (r"Mismatched tuple structure in", "OriginTree"),
    (r"Unbounded dynamism is disabled", "UnboundedSize"),
    (r"does not support custom element sizes", "ElementSize"),
    (r"Fused computation shape|Fused parameter count|Shape mismatch between parameter number", "FusionSignature"),
    (r"cannot be a fusion computation|does not match expected instruction|Root of .* may not have users|must have users|"
     r"parameter number", "FusionBody"),
    (r"root instruction of entry computation.*should be compatible", "EntryResult"),
    (r"Number of parameters in entry|entry computation parameter .* should be compatible", "EntryParameters"),
    (r"Shape and memory space of the result", "AliasShape AliasTarget"),
    (r"hlo_input_output_alias_config\.cc:\d+\) .*donor|IndexIsValid\(param_shape, donor", "DonorTarget"),
    (r"hlo_input_output_alias_config\.cc", "AliasTarget"),
    (r"registered as a buffer donor", "DonorAliased"),
    (r"Seen floating point types of different precisions", "MixedPrecision"),
    (r"Implicit broadcast is not allowed", "ImplicitBroadcast"),
    (r"Expected comparison type", "ComparisonType"),
    (r"to_apply computation parameter and operand .* in .*= [^ ]+ map\(", "MapSignature"),
    (r"to_apply computation parameter and operand", "ReducerSignature MapSignature Scan"),
    (r"Reduction function|reduction function", "ReducerSignature"),
    (r"Conditional computation shape does not lead to a scalar predicate", "WhilePredicate"),
    (r"first operand of (indexed )?conditional", "BranchIndex"),
    (r"shape does not match parameter's .* conditional\(", "BranchSignature"),
    (r"shape does not match parameter's .* while\(", "WhileSignature"),
    (r"shape does not match parameter's", "CallSignature"),
    (r"Expected computation .* called from .* to have", "CallSignature WhileSignature BranchSignature"),
    (r"[Cc]omposite", "CompositeCall"),
    (r"SameElementType\(broadcast|broadcast->|Broadcast", "BroadcastDimensions"),
    (r"SameElementType\(reshape|ElementsIn\(reshape|reshape->", "ReshapeElements"),
    (r"SameElementType\(dynamic_reshape|dynamic_reshape", "ReshapeElements WrongOperandCount"),
    (r"Expected \d+ operands for|expects at least one argument|must have at least 2 arguments|must take 0 parameters",
     "WrongOperandCount"),
    (r"non-positive|Window has", "WindowShape"),
    (r"Window must have same number of dimensions", "ConvolutionDimensions"),
    (r"Expected array argument", "NotAnArray"),
    (r"to be token-shaped", "NotAToken"),
    (r"Expected element type in shape|Expected an integral element type|Expected pred or an integral|"
     r"pred operand must have PRED", "ElementTypes"),
    (r"with different element types|incompatible element types", "OperandTypes"),
    (r"Binary op with incompatible shapes|must be equal rank|Operands to select|Clamp with incompatible shapes",
     "OperandShapes"),
    (r"bitcast types with undivisible|Conversion between complex and real|not equal to ratio of bit-widths|"
     r"Convert does not allow", "ConversionWidth"),
    (r"exponent_bits|mantissa_bits", "PrecisionBits"),
    (r"stochastic convert", "RandomBits"),
    (r"Transpose dimensions|transpose->", "TransposePermutation"),
    (r"duplicated in reverse|out-of-bounds in reverse|in reverse", "ReverseDimensions"),
    (r"start index to slice|limit index|to slice operation|Stride \(|slice start|limit .* must be greater", "SliceBounds"),
    (r"Dynamic slice indices|[Dd]ynamic[- ][Ss]lice start|must be of integral type|start indices", "StartIndices"),
    (r"Slice dim size", "DynamicSliceSize"),
    (r"Update dim size|[Uu]pdate element type|Dynamic update slice update", "UpdateShape"),
    (r"[Pp]adding", "PaddingShape"),
    (r"[Cc]oncatenate", "Concatenation"),
    (r"scatter_dims_to_operand_dims|Updates tensor|Scatter op|scatter op|update_window|inserted_window|Scatter ",
     "ScatterDimensions"),
    (r"[Gg]ather|offset_dims|start_index_map|collapsed_slice|[Ss]lice sizes", "GatherDimensions"),
    (r"[Ii]ota", "Iota"),
    (r"index into non-tuple|out of tuple bounds", "TupleIndex"),
    (r"DimensionSize", "DimensionSize"),
    (r"topk|TopK", "TopK"),
    (r"Cannot infer shape for ragged dot", "RaggedDot"),
    (r"Cannot infer shape for dot|in Dot", "DotDimensions"),
    (r"scale|Contracting dimensions must have exactly one", "ScaledDot"),
    (r"convolution|feature_group_count|batch_group_count|sparsity|conv>|Window dimensions do not match", "ConvolutionDimensions"),
    (r"FFT|fft", "FftLength"),
    (r"cholesky|Cholesky|triangular|square matri|must have rank >= 2", "MatrixShape"),
    (r"batch-norm|BatchNorm", "BatchNormFeature"),
    (r"[Rr]educing out-of-bounds|Duplicate reduction dimension", "ReductionDimensions"),
    (r"Sort compare computation|compare computation of sort", "SortComparator"),
    (r"sort_dimension", "SortDimension"),
    (r"[Ss]can |number and roots|to_apply computation root", "Scan"),
    (r"Window has|non-positive", "WindowShape"),
    (r"[Ss]elect function|window-reduced operand", "SelectAndScatter"),
    (r"GetRngSeed", "RandomSeedCall"),
    (r"Source and destination buffers in CopyDone", "CopyBuffers"),
    (r"outfeed shape", "OutfeedShape"),
    (r"Rng instruction|Rng distribution|Element type not supported", "RandomOperands"),
    (r"RngBitGenerator|RngGetAndUpdateState", "RandomState ResultShape"),
    (r"cycle is detected", "OperandCycle"),
]


def our_answers(binary, items):
  """Yields the verifier's answer for each (key, text)."""
  process = subprocess.Popen([binary, "batch", "verify"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
  for key, text in items:
    process.stdin.write(json.dumps({"id": key, "text": text}) + "\n")
    process.stdin.flush()
    yield json.loads(process.stdout.readline())
  process.stdin.close()
  process.wait()


def code_numbers(root):
  """The number of each code, from the table in the sources."""
  with open(os.path.join(root, "crates/hlo-text/src/diagnostic/mod.rs"), encoding="utf-8") as file:
    return dict(re.findall(r'^    (\w+) "(HLO\d+)" "', file.read(), flags=re.M))


def expected_codes(message, numbers):
  for pattern, names in CAUSES:
    if re.search(pattern, message, flags=re.S):
      return {numbers[name] for name in names.split()}
  return None


# Modules that XLA refuses as invalid where it makes them, before its verifier sees them.
INVALID = re.compile(r"layout minor_to_major|Dimensions overflow|may overflow int64|product_of_iota_dimensions|"
                     r"A composite call op must|index_primitive_type|is not a sparse array|Couldn't find parameter|"
                     r"instruction should have \d+ operands|layout has invalid tiles")


def outcome_of(answer, ours, numbers):
  codes = [fault["code"] for fault in ours["faults"]]
  if answer["verdict"] == "accept" and not answer.get("with_passes") and INVALID.search(answer["message"]):
    answer = {**answer, "verdict": "reject"}
  if answer["verdict"] == "accept":
    if not codes:
      return "both accept"
    if not any(fault["error"] for fault in ours["faults"]):
      return "both accept, with a warning"
    return "alarm" if ours["read"] else "not read"
  if answer["verdict"] == "reject":
    if not codes:
      return "silence"
    wanted = expected_codes(answer["message"], numbers)
    if wanted is None:
      return "unknown"
    if codes[0] in wanted:
      return "both reject, cause first"
    if not ours["read"]:
      return "both reject, by the reader"
    return "both reject, cause among others" if wanted & set(codes) else "cause"
  return f"XLA: {answer['verdict']}, we {'refuse' if codes else 'accept'}"


def score(args):
  root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
  binary = args.ours or os.path.join(root, "target/release/hlo-check")
  numbers = code_numbers(root)
  answers = load_answers(args.answers)
  items = [(key_of(text), kind, name, text) for kind, name, text in modules(args.shared, args.modules)]
  asked = [item for item in items if item[0] in answers]
  table = collections.defaultdict(collections.Counter)
  for (key, kind, name, _), ours in zip(asked, our_answers(binary, ((item[0], item[3]) for item in asked))):
    answer = answers[key]
    outcome = outcome_of(answer, ours, numbers)
    table[outcome][kind] += 1
    if args.list and args.list in outcome:
      print(f"{outcome}: {kind} {name}\n  XLA:  {answer['message'][:400]!r}\n  ours: "
            f"{[(fault['code'], fault['message'][:200]) for fault in ours['faults'][:3]]}")
  kinds = sorted({kind for counts in table.values() for kind in counts})
  print(f"{len(asked)} of {len(items)} modules have an answer of XLA\n")
  print("| outcome | " + " | ".join(kinds) + " | all |")
  print("|---" * (len(kinds) + 2) + "|")
  for outcome in sorted(table):
    counts = table[outcome]
    print(f"| {outcome} | " + " | ".join(str(counts[kind]) for kind in kinds) + f" | {sum(counts.values())} |")
  bad = sum(sum(table[name].values()) for name in ("alarm", "silence", "cause", "unknown"))
  return 1 if bad else 0


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  commands = parser.add_subparsers(dest="command", required=True)
  for name, run in (("ask", ask), ("score", score)):
    command = commands.add_parser(name)
    command.set_defaults(run=run)
    command.add_argument("--shared", required=True)
    command.add_argument("--answers", required=True)
    command.add_argument("--modules", nargs="*", default=[])
    if name == "ask":
      command.add_argument("--again", nargs="*", default=[], help="verdicts that are asked for again")
    else:
      command.add_argument("--ours")
      command.add_argument("--list")
  args = parser.parse_args()
  return args.run(args)


if __name__ == "__main__":
  sys.exit(main())
