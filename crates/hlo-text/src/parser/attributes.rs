//! Attributes of the instruction in the making: which key is meant, its value, its place in the printing order.

use crate::diagnostic::{Code, Diagnostic, Span, did_you_mean, shorten};
use crate::ir::{
    Attr, AttrKey, AttrKind, AttrName, AttrValue, COMMON_ATTRIBUTES, ElementClass, ElementType,
    InstructionId, Opcode, Shape, Symbol, words,
};
use crate::lexer::{Cursor, Token};

use crate::printer::printing_rank;

use super::ParseResult;
use super::builder::{Builder, CacheKind, Cached, PendingAttr};
use super::raw::{KEPT, no_raw_value, raw_value_extent};
use super::text_cache::{braces_length, text_hash};
use super::tokens::AttributeToken;

/// The attribute of comparisons that is a part of their type today.
const COMPARISON_ORDER: &str = "order";

/// Attributes of `X-start` beside those of X.
const ASYNC_START_ATTRIBUTES: &[AttrKey] = &[AttrKey::AsyncExecutionThread, AttrKey::OutputToOperandAliasing];

/// Attributes of older and newer XLA versions, which are kept as they are: opcode, name, and whose they are.
const DIALECT_ATTRIBUTES: &[(Option<Opcode>, &str, &str)] = &[
    (None, "outer_dimension_partitions", "of XLA before 2021, which has it in `backend_config` since"),
    (Some(Opcode::TopK), "is_stable", "of XLA since 2026"),
    (Some(Opcode::CollectiveBroadcast), "has_dynamic_root", "of XLA since 2026"),
    (Some(Opcode::Convolution), "algorithm", "of XLA since 2026"),
    (Some(Opcode::Dot), "sparsity", "of XLA from 2024 to 2025"),
    (Some(Opcode::CopyStart), "is_cross_program_prefetch", "of XLA before 2023"),
    (None, "async_group_id", "of XLA before 2023"),
];

impl<'s> Builder<'s> {
    /// Takes an attribute of the innermost instruction; the current token is its name. `opcode` is whose
    /// attributes it takes.
    pub(crate) fn attribute(
        &mut self,
        cursor: &mut Cursor<'s>,
        opcode: Option<Opcode>,
    ) -> ParseResult<AttributeToken> {
        self.take_after_operands();
        let span = Span::new(cursor.start(), cursor.end() - 1);
        let (Some(opcode), false) = (opcode, self.frames.is_empty()) else {
            return Err(cursor.unexpected("an instruction before its attributes"));
        };
        self.check_operand_count_once()?;
        let Some((key, rank)) = self.find_key(cursor.word(), opcode) else {
            return self.unknown_attribute(cursor, opcode, span);
        };
        self.check_not_given(key, span)?;
        let value = match key.kind() {
            AttrKind::Computation => {
                cursor.bump();
                // The value follows when the computation has been read.
                self.push_attribute(rank, key, AttrValue::Bool(false), span);
                return Ok(AttributeToken::Computation);
            }
            AttrKind::Computations => {
                cursor.bump();
                self.push_attribute(rank, key, AttrValue::Bool(false), span);
                return Ok(AttributeToken::Computations);
            }
            AttrKind::Metadata => {
                let metadata = self.metadata(cursor)?;
                if let Some(frame) = self.frames.last_mut() {
                    frame.metadata = Some(metadata);
                }
                AttrValue::Bool(true)
            }
            AttrKind::ControlPredecessors => {
                cursor.bump();
                self.control_predecessors(cursor)?;
                AttrValue::Bool(true)
            }
            _ => self.value(cursor, key)?,
        };
        self.push_attribute(rank, key, value, span);
        Ok(AttributeToken::Complete)
    }

    #[inline]
    fn push_attribute(&mut self, rank: u8, key: AttrKey, value: AttrValue, span: Span) {
        self.attributes.push(PendingAttr { rank, attr: Attr { key, value }, span });
    }

    /// The attribute of `opcode` spelt `word`, and its place in the printing order.
    #[inline]
    fn find_key(&self, word: &str, opcode: Opcode) -> Option<(AttrKey, u8)> {
        let name = AttrName::from_text(word.as_bytes())?;
        let own = opcode.info().attributes.iter().position(|row| name.is(row.0));
        if let Some(place) = own {
            let key = opcode.info().attributes[place].0;
            if opcode == Opcode::Conditional && !self.conditional_has(key) {
                return None;
            }
            return Some((key, printing_rank(key, Some(place))));
        }
        if let Some(row) = COMMON_ATTRIBUTES.iter().find(|row| name.is(row.0)) {
            return Some((row.0, printing_rank(row.0, None)));
        }
        let word = self.frames.last()?.word;
        if word.opcode == Opcode::AsyncStart && word.wrapped.is_some() {
            let key = ASYNC_START_ATTRIBUTES.iter().copied().find(|&key| name.is(key))?;
            return Some((key, printing_rank(key, None)));
        }
        None
    }

    /// Which keys a conditional has depends on the type of its first operand.
    fn conditional_has(&self, key: AttrKey) -> bool {
        let Some(frame) = self.frames.last() else { return true };
        let Some(&operand) = self.operands.get(frame.operands) else { return true };
        let is_pred = match self.module.shape_of(operand) {
            Shape::Array(array) => array.element_type == ElementType::Pred,
            _ => return true,
        };
        is_pred != (key == AttrKey::BranchComputations)
    }

    fn check_not_given(&self, key: AttrKey, span: Span) -> ParseResult<()> {
        let from = self.frames.last().map_or(0, |frame| frame.attributes);
        let first = self.attributes[from..].iter().find(|pending| pending.attr.key == key);
        match first {
            None => Ok(()),
            Some(first) => {
                let message = format!("attribute `{}` is given twice", key.name());
                Err(Diagnostic::new(Code::DuplicateAttribute, span, message)
                    .also(first.span, "the first time here")
                    .boxed())
            }
        }
    }

    fn unknown_attribute(
        &mut self,
        cursor: &mut Cursor<'s>,
        opcode: Opcode,
        span: Span,
    ) -> ParseResult<AttributeToken> {
        let word = cursor.word();
        if !self.strict() && opcode == Opcode::Compare && word == COMPARISON_ORDER {
            return self.comparison_order(cursor, span);
        }
        let message = format!("`{opcode}` has no attribute `{}`", shorten(word));
        let mut error = Diagnostic::new(Code::UnknownAttribute, span, message);
        let own = opcode.info().attributes.iter().map(|row| row.0.name());
        let common = COMMON_ATTRIBUTES.iter().map(|row| row.0.name());
        let close = did_you_mean(word, own.clone().chain(common));
        error = error.help(match close {
            Some(close) => format!("did you mean `{close}`?"),
            None => {
                let own: Vec<&str> = own.collect();
                if own.is_empty() {
                    "it has only the attributes every instruction may have".to_owned()
                } else {
                    format!("its attributes are {} and those every instruction may have", own.join(", "))
                }
            }
        });
        if self.strict() {
            return Err(error.boxed());
        }
        let start = cursor.start();
        let Some(end) = raw_value_extent(self.source, cursor.end()) else {
            return Err(no_raw_value(cursor));
        };
        let raw = self.module.strings.intern(&self.source.as_bytes()[start..end]);
        cursor.seek(end);
        let known = DIALECT_ATTRIBUTES
            .iter()
            .find(|row| row.1 == word && row.0.is_none_or(|of| of == opcode))
            .map(|row| row.2);
        let warning = match (known, close) {
            (Some(whose), _) => {
                Diagnostic::new(Code::Dialect, span, format!("`{word}` is {whose}")).warning().help(KEPT)
            }
            (None, Some(close)) => Diagnostic { code: Code::UnknownAttributeKept, ..error.warning() }
                .help(format!("did you mean `{close}`? As it stands {KEPT}")),
            (None, None) => Diagnostic { code: Code::UnknownAttributeKept, ..error.warning() }.help(KEPT),
        };
        self.warnings.push(warning);
        self.push_attribute(
            printing_rank(AttrKey::Unknown, None),
            AttrKey::Unknown,
            AttrValue::Raw(raw),
            span,
        );
        Ok(AttributeToken::Complete)
    }

    /// Takes `order=TOTAL` or `order=PARTIAL` of a comparison: the type of the comparison says it today.
    fn comparison_order(&mut self, cursor: &mut Cursor<'s>, span: Span) -> ParseResult<AttributeToken> {
        let start = cursor.start();
        cursor.bump();
        let total = match (cursor.token(), cursor.text()) {
            (Token::Ident, "TOTAL") => true,
            (Token::Ident, "PARTIAL") => false,
            _ => return Err(cursor.unexpected("`TOTAL` or `PARTIAL`")),
        };
        cursor.bump();
        let text = &self.source.as_bytes()[start..cursor.previous_end()];
        let text = self.module.strings.intern(text);
        let message = "`order` of a comparison is how other XLA versions write `type=TOTALORDER`";
        self.warnings.push(Diagnostic::new(Code::Dialect, span, message).warning());
        let is_float =
            self.frames.last().and_then(|frame| self.operand_shape(frame, 0)).is_some_and(|shape| {
                let array = self.module.shape(shape).as_array();
                array.is_some_and(|array| array.element_type.class() == ElementClass::Float)
            });
        let key = AttrKey::ComparisonType;
        if total && is_float {
            self.check_not_given(key, span)?;
            let own = Opcode::Compare.info().attributes.iter().position(|row| row.0 == key);
            let value = AttrValue::Word(words::ComparisonType::FloatTotalOrder.word());
            self.push_attribute(printing_rank(key, own), key, value, span);
            self.note_as_read(key, text);
        }
        Ok(AttributeToken::Complete)
    }

    /// Notes how the attribute `key` of the innermost instruction is spelt.
    fn note_as_read(&mut self, key: AttrKey, text: Symbol) {
        self.pending_as_read.push((self.frames.len().saturating_sub(1), key, text));
    }

    /// Takes key and value of `key`; equal texts are typed once.
    fn value(&mut self, cursor: &mut Cursor<'s>, key: AttrKey) -> ParseResult<AttrValue> {
        let source = self.source.as_bytes();
        let start = cursor.end();
        let cacheable = match key.kind() {
            AttrKind::Bool | AttrKind::Int | AttrKind::Int32 | AttrKind::Float | AttrKind::Word(_) => None,
            AttrKind::OriginalValue | AttrKind::Literal => None,
            _ if source.get(start) == Some(&b'{') => braces_length(&source[start..]),
            _ => None,
        };
        let Some(length) = cacheable else {
            let name_at = cursor.start();
            let warnings = self.warnings.len();
            cursor.bump();
            let value = super::value::parse_attribute_value(cursor, &mut self.context(), key)?;
            self.note_dialect(cursor, key, name_at, warnings);
            return Ok(value);
        };
        let name_at = cursor.start();
        let text = &source[start..start + length];
        let kind = CacheKind(key as u8);
        let hash = text_hash(kind, text);
        if let Some(Cached::Value(value)) = self.cache.get(source, hash, kind, text) {
            cursor.seek(start + length);
            return Ok(value);
        }
        let warnings = self.warnings.len();
        cursor.bump();
        let value = super::value::parse_attribute_value(cursor, &mut self.context(), key)?;
        // What gave a warning gives it each time.
        if self.warnings.len() > warnings {
            self.note_dialect(cursor, key, name_at, warnings);
        } else if cursor.previous_end() == start + length {
            self.cache.insert(hash, kind, start, length, Cached::Value(value));
        }
        Ok(value)
    }

    /// Notes the spelling of the attribute just taken, from its name at `start`, if reading it gave a warning that
    /// it is of another XLA version. Warnings from number `warnings` on are of this attribute.
    fn note_dialect(&mut self, cursor: &Cursor<'s>, key: AttrKey, start: usize, warnings: usize) {
        let mut new = self.warnings[warnings..].iter();
        if new.any(|warning| warning.code == Code::Dialect) {
            let text = &self.source.as_bytes()[start..cursor.previous_end()];
            let text = self.module.strings.intern(text);
            self.note_as_read(key, text);
        }
    }

    /// Takes `metadata={...}`.
    fn metadata(&mut self, cursor: &mut Cursor<'s>) -> ParseResult<crate::ir::MetadataId> {
        let source = self.source.as_bytes();
        let key = Span::new(cursor.start(), cursor.end());
        let start = cursor.end();
        let kind = CacheKind(AttrKey::Metadata as u8);
        let mut entry = None;
        if source.get(start) == Some(&b'{')
            && let Some(length) = braces_length(&source[start..])
        {
            let text = &source[start..start + length];
            let hash = text_hash(kind, text);
            if let Some(Cached::Metadata(metadata)) = self.cache.get(source, hash, kind, text) {
                cursor.seek(start + length);
                return Ok(metadata);
            }
            entry = Some((hash, length));
        }
        cursor.bump();
        let metadata = super::metadata::parse_metadata(cursor, &mut self.context(), key)?;
        let metadata = self.module.intern_metadata(metadata);
        if let Some((hash, length)) = entry
            && cursor.previous_end() == start + length
        {
            self.cache.insert(hash, kind, start, length, Cached::Metadata(metadata));
        }
        Ok(metadata)
    }

    /// Takes `{a, b}` of earlier instructions.
    fn control_predecessors(&mut self, cursor: &mut Cursor<'s>) -> ParseResult<()> {
        cursor.expect(Token::LBrace, "`{` and the names of instructions")?;
        let mut seen: hashbrown::HashSet<InstructionId, foldhash::fast::FixedState> =
            hashbrown::HashSet::with_hasher(crate::ir::HASHER);
        loop {
            if !matches!(cursor.token(), Token::Name | Token::Ident) {
                return Err(cursor.unexpected("the name of an instruction"));
            }
            let name = self.intern_name(cursor.word());
            let Some(id) = self.lookup(name) else {
                let message = format!("instruction `{}` is not defined", shorten(cursor.word()));
                let span = cursor.span();
                cursor.bump();
                return Err(Diagnostic::new(Code::UndefinedInstruction, cursor.span(), message)
                    .also(span, "this one")
                    .help("a control predecessor must be defined before, in the same computation")
                    .boxed());
            };
            cursor.bump();
            if let Some(frame) = self.frames.last_mut()
                && seen.insert(id)
            {
                frame.control_predecessors.push(id);
            }
            if !cursor.eat(Token::Comma) {
                break;
            }
        }
        cursor.expect(Token::RBrace, "`,` or `}` after the name")
    }

    /// The value of the last key, a computation, begins.
    pub(crate) fn open_called_computation(&mut self) {
        self.called_keys.push((self.attributes.len().saturating_sub(1), self.called.len()));
    }

    /// The computation just read is the value of the key that was open last.
    pub(crate) fn called_computation(&mut self) {
        let Some((key, _)) = self.called_keys.pop() else { return };
        if let (Some(computation), Some(pending)) = (self.called.pop(), self.attributes.get_mut(key)) {
            pending.attr.value = AttrValue::Computation(computation);
        }
    }

    /// The value of the last key, a list of computations, begins.
    pub(crate) fn open_called_computations(&mut self) {
        self.open_called_computation();
    }

    /// The computations read since the list began are the value of its key.
    pub(crate) fn called_computations(&mut self) {
        let Some((key, from)) = self.called_keys.pop() else { return };
        let computations = self.called.split_off(from.min(self.called.len()));
        let value = self.module.intern_value(crate::ir::Value::Computations(computations));
        if let Some(pending) = self.attributes.get_mut(key) {
            pending.attr.value = AttrValue::Value(value);
        }
    }

    /// Takes an attribute of the `HloModule` line.
    pub(crate) fn header_attribute(&mut self, cursor: &mut Cursor<'s>) -> ParseResult<()> {
        let dialect = self.dialect;
        let depth = self.depth;
        let mut header = std::mem::take(&mut self.module.header);
        let mut seen = std::mem::take(&mut self.header_keys);
        let mut nested = |text: &str| super::parse_nested_module(text, dialect, depth + 1);
        let result = super::header::parse_header_attribute(
            cursor,
            &mut self.context(),
            &mut header,
            &mut seen,
            &mut nested,
        );
        self.header_keys = seen;
        self.module.header = header;
        result
    }

    /// Takes the four stack-frame tables.
    pub(crate) fn stack_frame_tables(&mut self, cursor: &mut Cursor<'s>) -> ParseResult<()> {
        self.stack_frames = super::stack_frames::parse_stack_frames(cursor, &mut self.context())?;
        Ok(())
    }
}
