//! What an HLO module is: arenas of computations and instructions with typed ids, interned names, shapes and
//! attribute values. Spans are not in here; they live beside the IR (see [`crate::SourceMap`]).

mod attribute;
mod effects;
mod element_type;
mod header;
mod ids;
mod interner;
mod iota_tile;
mod literal;
mod literal_conversion;
mod mesh;
mod metadata;
mod module;
mod mutate;
mod name_table;
mod opcode;
mod origin;
mod replica_groups;
mod shape;
mod sharding;
mod used_names;
mod value;
pub mod words;

pub use attribute::{Attr, AttrDefault, AttrInfo, AttrKey, AttrKind, AttrName, AttrValue};
pub use element_type::{ElementClass, ElementType};
pub use header::*;
pub use ids::{ComputationId, InstructionId, LiteralId, MetadataId, PoolRange, ShapeId, Symbol, ValueId};
pub(crate) use interner::HASHER;
pub use interner::Interner;
pub use iota_tile::{
    Iota, MAX_EXPANDED_DEVICES, MAX_FILLED_DEVICES, MAX_NORMALIZED_DEVICES, TileAssignment, TileDevices,
    TileError,
};
pub use literal::{Elements, Literal, LiteralData};
pub use literal_conversion::Overflow;
pub use mesh::{AxisError, AxisRef, Mesh, MeshAxis, MeshDevices, SubAxis};
pub use metadata::{Metadata, MetadataExtra, MetadataField, MetadataFieldKind};
pub use module::{Computation, Instruction, Module};
pub use mutate::NewInstruction;
pub use opcode::{Arity, COMMON_ATTRIBUTES, Opcode, OpcodeInfo, OperandFormat, Presence, ShapeRule};
pub use origin::*;
pub use replica_groups::*;
pub use shape::{ArrayShape, Layout, Shape, ShapeExtent, ShapeTable, SplitConfig, TileDimension, UNBOUNDED};
pub use sharding::*;
pub(crate) use used_names::{NameSet, is_legal_name, may_be_type, sanitize};
pub use value::*;
