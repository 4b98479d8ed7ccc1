//! What each rule of the verifier asks, at length, with an example that breaks it and the same without the fault.
//!
//! A rule marked `pass` can only be broken by a pass: a text that did would not be read.

use super::Code;
use super::explanation::{Explanation, explanations};

explanations! {
    explain_rule, RULE_NUMBERS;
    RemovedReference "HLO1001" pass
        "An edit took an instruction or a computation away that others still refer to, or made an instruction \
         an operand in another computation. Text can't say such a thing: it is a fault of the pass that ran \
         before.";
    OperandCycle "HLO1002" pass
        "An instruction needs its own result, by way of operands or of control predecessors, so it can never \
         run. Text can't say such a thing: it is a fault of the pass that ran before.";
    RepeatedName "HLO1003" pass
        "Names of instructions are unique in the whole module, not only in their computation. Reading a text \
         makes them so: it is a fault of the pass that ran before.";
    WrongOperandCount "HLO1004" text
        "The opcode takes a fixed number of operands, an even or odd number, or at least one.";
    UnboundedSize "HLO1005" text
        "A dimension whose size nothing bounds, `?`, can't be compiled. Give it a bound: `<=8`.";
    LayoutRank "HLO1006" text
        "A layout names each dimension of its array once, from the one that varies fastest on. Tiles and \
         splits have positive sizes.";
    ScheduleOrder "HLO1007" pass
        "In a module with `is_scheduled=true` the instructions of a computation run in the order they are in, \
         so each comes after its operands and control predecessors. Reading a text sees to that: it is a \
         fault of the pass that ran before.";
    ThreadMismatch "HLO1008" text
        "A fusion, loop or conditional runs on the execution thread of the computation it is in, and an \
         asynchronous operation names the thread of the computation it starts.";
    OriginTree "HLO1009" text
        "`origin` says for each array of the result where it comes from in the original program, so it has \
         the tuple structure of the result.";
    AllReduceLayouts "HLO1010" text
        "Either every all-reduce of a module has `constrain_layout=true`, or none has.";
    BufferContext "HLO1011" text
        "Buffers, `b(f32[4])`, are for custom calls, loops and updates in place. Other opcodes take arrays; a \
         custom call of target `Unpin` gives the array in a buffer.";
    BufferWriters "HLO1012" text
        "A buffer has one writer at most: the order of two would decide what it holds.";
    BufferCustomCall "HLO1013" text
        "`Pin` makes a buffer of an array, `Unpin` an array of a buffer, both with an alias; `CreateBuffer` \
         makes one of nothing; any other custom call gives back each buffer it takes, and says so in \
         `output_to_operand_aliasing`.";
    ElementSize "HLO1014" text
        "`E(n)` in a layout is for types of less than a byte, which may be packed. All others take whole \
         bytes.";
    ShapeSize "HLO1015" text
        "The elements of an array, and the bytes they take, are counted in 64 bits.";
    EntryLayoutShape "HLO1101" text
        "A shape of `entry_computation_layout` is not one an array can have: its layout doesn't name each \
         dimension once, or it has more elements than can be counted.";
    EntryResult "HLO1102" text
        "`entry_computation_layout` states what the entry computation gives, and its root gives something \
         else.";
    EntryParameters "HLO1103" text
        "`entry_computation_layout` states what the entry computation takes, and its parameters are others.";
    AliasTarget "HLO1104" text
        "An entry of `input_output_alias` joins an array of the result with an array of a parameter. Both \
         must exist, and a parameter's array can't become two outputs.";
    AliasShape "HLO1105" text
        "With `must-alias` the output lies in the parameter's memory, so shape, layout and memory space are \
         the same. `may-alias` leaves that open.";
    DonorTarget "HLO1106" text
        "An entry of `buffer_donor` names an array of a parameter of the entry computation.";
    DonorAliased "HLO1107" text
        "A buffer that `input_output_alias` gives to an output can't be given away by `buffer_donor` as well.";
    StartUsers "HLO1201" text
        "What a start, update, send or receive gives is used once, by the done or update that goes with it.";
    DoneOperand "HLO1202" text
        "A done takes what its own kind of start gives.";
    AsyncShape "HLO1203" text
        "The shape of `async-start` and `async-update` is a tuple: the operands given so far as a tuple, the \
         result of the computation, contexts. That of `async-done` is the result.";
    AsyncOperands "HLO1204" text
        "The operands of `async-start` are those its shape lists first.";
    AsyncContent "HLO1205" text
        "A computation that runs asynchronously is a single operation of its parameters, whatever its thread. \
         Several operations stand in a computation that this one calls, or need the frontend attribute \
         `_collectives_group`.";
    AsyncAliasing "HLO1206" text
        "`output_to_operand_aliasing` of `async-start` joins parts of its tuple with parts of the \
         computation's parameters; both exist and have the same shape.";
    ChannelPair "HLO1207" text
        "A send or receive and its done use one channel, and both or neither are transfers with the host.";
    HostTransfers "HLO1208" text
        "Transfers with the host over one channel are alike: the same opcode and shapes.";
    ShardingTree "HLO1301" text
        "A sharding has the tuple structure of the shape: one for each array of a tuple.";
    ShardingRank "HLO1302" text
        "A tiled sharding says for each dimension of the array into how many parts it is cut; subgroups come \
         after these.";
    ShardingDevices "HLO1303" text
        "A sharding names each device once, and as many as the module has partitions.";
    ShardingConsistency "HLO1304" text
        "A loop, its body's parameter and root, and its condition's parameter hold the same values, so they \
         are sharded alike as far as they are sharded. So are a conditional and the roots of its branches.";
    ResultShape "HLO1401" text
        "The result shape follows from the operands and attributes. What is written is read as it is, but it \
         must agree.";
    ElementTypes "HLO1402" text
        "The opcode is not defined for elements of this type.";
    OperandTypes "HLO1403" text
        "Both operands have the same element type. Convert one of them.";
    OperandShapes "HLO1404" text
        "The operands have the same dimensions.";
    ImplicitBroadcast "HLO1405" text
        "Operands are not stretched to the dimensions of the result. A `broadcast` does that.";
    MixedPrecision "HLO1406" text
        "The operands are floating-point numbers of different widths. Only some opcodes, such as `dot` and \
         `all-reduce`, take such operands; `--allow-mixed-precision` lets all.";
    NotAnArray "HLO1407" text
        "The operand is a tuple, a token or a buffer, and the opcode computes with arrays.";
    NotAToken "HLO1408" text
        "The operand orders effects, so it is a token, from `after-all` or another opcode that gives one.";
    ComparisonType "HLO1409" text
        "`type=` of a compare says how the operands are compared, and their element type leaves no choice, except that \
         floating-point numbers may also be compared in `TOTALORDER`. For hlo-opt this is a warning of its input: \
         `legalize-compare` puts such comparisons right.";
    ConversionWidth "HLO1410" text
        "`bitcast-convert` keeps the bits: to a narrower type it adds a last dimension of the ratio of the \
         widths, to a wider type it takes such a dimension away.";
    PrecisionBits "HLO1411" text
        "`reduce-precision` leaves at least one bit for the exponent, and no negative number for the \
         mantissa.";
    RandomBits "HLO1412" text
        "`stochastic-convert` takes floating-point numbers, and unsigned random bits of the same width and \
         shape.";
    ConstantShape "HLO1413" pass
        "A constant has a literal, and the literal the constant's shape. Reading a text sees to that: it is a \
         fault of the pass that ran before.";
    BroadcastDimensions "HLO1501" text
        "`dimensions` says for each dimension of the operand which dimension of the result it becomes; sizes \
         and element type stay.";
    ReshapeElements "HLO1502" text
        "A reshape keeps the element type and the number of elements.";
    TransposePermutation "HLO1503" text
        "`dimensions` of a transpose names each dimension of the operand once.";
    ReverseDimensions "HLO1504" text
        "`dimensions` of a reverse names dimensions of the operand, none twice.";
    SliceBounds "HLO1505" text
        "A slice has a range for each dimension, which starts at 0 or later, ends within the dimension, and \
         has a positive stride.";
    StartIndices "HLO1506" text
        "A dynamic slice or update has a start index for each dimension: integer scalars of one type, or one \
         vector.";
    DynamicSliceSize "HLO1507" text
        "`dynamic_slice_sizes` has a size for each dimension, none larger than the operand's.";
    UpdateShape "HLO1508" text
        "What `dynamic-update-slice` writes has the rank and element type of what it writes into, and fits \
         into it.";
    PaddingShape "HLO1509" text
        "`padding` has an entry for each dimension; what is put between elements is not negative, and neither \
         is the size that results. The padding value is a scalar of the operand's type.";
    Concatenation "HLO1510" text
        "The operands have the same rank, element type and dimensions but for the one along which they are \
         put together.";
    GatherDimensions "HLO1511" text
        "The dimensions of a gather's operand are offset, collapsed or batching dimensions; those of its \
         result are offset dimensions or come from the indices. The message names the attribute that doesn't \
         fit.";
    ScatterDimensions "HLO1512" text
        "The dimensions of a scatter's operand are window, inserted or batching dimensions; the updates have \
         the window dimensions and those of the indices. The message names the attribute or operand that \
         doesn't fit.";
    Iota "HLO1513" text
        "`iota` counts along one of its dimensions, in integers, floating-point or complex numbers.";
    TupleIndex "HLO1514" text
        "`get-tuple-element` takes a tuple, and `index` is below its number of elements.";
    DimensionSize "HLO1515" text
        "`dimensions` names one dimension of the operand, and a size that is set is an `s32[]`.";
    TopK "HLO1516" text
        "`k` is at most the size of the last dimension.";
    BitcastSize "HLO1551" text
        "A bitcast gives the same bytes another shape: as many, and in the same memory. Checked with \
         `--layout-sensitive` only.";
    LayoutChange "HLO1552" text
        "When layouts are final, only copies, transposes, reshapes and their like change them. Checked with \
         `--layout-sensitive` only.";
    HostCopy "HLO1553" text
        "A copy from the host's memory, `S(5)`, can't change the layout on its way. Checked with \
         `--layout-sensitive` only.";
    MemoryChange "HLO1554" text
        "Of the fast memory, `S(1)`, dynamic slices and updates can't move anything to another one; a slice \
         can't move from the device to the host, `S(5)`, nor an update from the host to the device. Checked \
         with `--layout-sensitive` only.";
    DotDimensions "HLO1601" text
        "Contracting and batch dimensions come in pairs, one of each operand, of the same size, and none is \
         named twice.";
    RaggedDot "HLO1602" text
        "Exactly one dimension of the left operand is ragged; the group sizes and, where it is neither batch \
         nor contracting, a group dimension of the right operand go with it.";
    ScaledDot "HLO1603" text
        "Each scale has the rank of the operand it scales, and sizes that divide the operand's; not both are \
         scalars.";
    ConvolutionDimensions "HLO1604" text
        "The labels name each dimension once, groups divide batch and features, the input's features are \
         those of the kernel, and the window has the kernel's size.";
    FftLength "HLO1605" text
        "`fft_length` has one to three sizes, those of the last dimensions of the signal. `RFFT` takes `f32` \
         or `f64`, the others complex numbers.";
    MatrixShape "HLO1606" text
        "Cholesky decompositions and triangular solves take square matrices of floating-point or complex \
         numbers; the right side of a solve has the same type, batch and matrix size.";
    BatchNormFeature "HLO1607" text
        "Scale, offset, mean and variance have an element for each feature.";
    CallSignature "HLO1701" text
        "A call gives the computation as many operands as it has parameters, of the same shapes.";
    CompositeCall "HLO1702" text
        "A composite call says in its frontend attributes what it stands for: `composite.name`, and if given, \
         attributes and a version.";
    FusionSignature "HLO1703" text
        "The parameters of a fusion's computation are its operands, and its root is its result.";
    FusionBody "HLO1704" text
        "The computation of a fusion belongs to that fusion alone, and everything in it is used on the way to \
         its root; the root itself is not.";
    AliasingPair "HLO1705" text
        "`output_to_operand_aliasing` joins a part of the result with a part of an operand; both exist and \
         have the same shape.";
    WhileSignature "HLO1706" text
        "Condition and body of a loop take what the loop starts from, and the body gives it, too.";
    WhilePredicate "HLO1707" text
        "The condition of a loop gives a `pred[]`.";
    BranchIndex "HLO1708" pass
        "A conditional with two branches is chosen by a `pred[]`, one with any number of branches by an \
         `s32[]`. Reading a text sees to that: it is a fault of the pass that ran before.";
    BranchSignature "HLO1709" text
        "Each branch of a conditional takes the operand of the same number, and all give the same shape.";
    MapSignature "HLO1710" text
        "The computation of a map takes an element of each operand, of exactly its type, and gives one.";
    ReducerSignature "HLO1711" text
        "The computation of a reduction takes the values so far and the next ones, all scalars of the \
         operands' types, and gives the values so far.";
    ReductionDimensions "HLO1712" text
        "`dimensions` of a reduce names dimensions of the inputs, none twice.";
    WindowShape "HLO1713" text
        "A window has a size, stride and dilations of at least 1 for each dimension it goes over.";
    SelectAndScatter "HLO1714" text
        "`select` compares two elements, `scatter` adds them up, and the source has an element for each \
         window of the operand.";
    SortComparator "HLO1715" text
        "The comparison of a sort takes two elements of each operand and gives a `pred[]`.";
    SortDimension "HLO1716" text
        "A sort works along a dimension of its operands.";
    Scan "HLO1717" text
        "The computation of a scan takes a slice of each input and the carries, and gives a slice of each \
         output and the carries.";
    CustomCallLayouts "HLO1718" pass
        "`operand_layout_constraints` has a shape for each operand, the operand's but for the layout. Reading \
         a text sees to that: it is a fault of the pass that ran before.";
    RandomSeedCall "HLO1719" text
        "The custom call `GetRngSeed` takes nothing and gives a `u64[]`.";
    GroupMode "HLO1801" pass
        "`use_global_device_ids=true` numbers devices across replicas and partitions, which only a collective \
         with a `channel_id` does. Reading a text refuses it or warns of it.";
    ReplicaGroups "HLO1802" text
        "Replica groups name every participant exactly once: 0, 1, 2 and so on, as many as the module has \
         replicas or partitions.";
    GroupSizes "HLO1803" text
        "All groups of this collective have the same size.";
    GroupsMissing "HLO1804" text
        "With global device numbers there is no default for the groups.";
    CollectiveDimension "HLO1805" text
        "A gathering or scattering collective works along a dimension of its operands.";
    ShardCount "HLO1806" text
        "Gathering makes a dimension as many times larger as a group has members, scattering as many times \
         smaller.";
    CollectiveOperands "HLO1807" text
        "A tuple `all-to-all` has an operand for each member of a group, all of the same shape.";
    SourceTargetRange "HLO1808" text
        "`source_target_pairs` names participants: replicas, or with a channel partitions.";
    SourceTargetRepeated "HLO1809" text
        "No participant sends twice or receives twice.";
    PermuteBuffers "HLO1810" text
        "A collective permute in place takes input, output and the offsets of both: tuples with a number for \
         each dimension.";
    AllReduceChannel "HLO1811" text
        "The channel of an all-reduce is positive.";
    CopyBuffers "HLO1901" text
        "`copy-start` gives destination, source and a context, the first two of the same shape.";
    OutfeedShape "HLO1902" text
        "`outfeed_shape` is the shape of what is fed.";
    RandomOperands "HLO1903" text
        "`rng` takes two scalars of the result's type; the normal distribution is one of floating-point \
         numbers.";
    RandomState "HLO1904" text
        "A random number generator gives back its state, of the same shape, before the bits.";
}
