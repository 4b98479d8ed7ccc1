//! What a module does beside computing its result, counted by kind: what passes must not lose.

use hlo_text::Module;
use hlo_text::ir::{ComputationId, InstructionId, Opcode};

use crate::Map;
use crate::registry::{Effect, PassInfo};

/// How often a run of the entry computation comes to each kind of side effect, if every branch is taken and every loop
/// turns once. Inlining a call changes nothing in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectCounts {
    counts: [u64; KINDS.len()],
}

/// The kinds that are counted. [`Effect::Order`] is no instruction's.
const KINDS: [Effect; 4] = [Effect::Collective, Effect::Random, Effect::Transfer, Effect::CustomCall];

impl Effect {
    /// The side effect of an instruction itself, if it has one; what it calls doesn't count.
    pub fn of(module: &Module, id: InstructionId) -> Option<Self> {
        if !module.has_own_side_effect(id) {
            return None;
        }
        use Opcode as O;
        Some(match module.instruction(id).opcode {
            O::Send | O::SendDone | O::Recv | O::RecvDone | O::Infeed | O::Outfeed => Self::Transfer,
            O::Rng | O::RngGetAndUpdateState => Self::Random,
            O::CustomCall => Self::CustomCall,
            _ => Self::Collective,
        })
    }
}

impl EffectCounts {
    /// Counts those of a module.
    pub fn of(module: &Module) -> Self {
        let mut known: Map<ComputationId, Self> = Map::default();
        // Callees first, without recursion: a computation is looked at again when its callees are known.
        let mut stack = vec![module.entry()];
        while let Some(&computation) = stack.last() {
            let depth = stack.len();
            let mut counts = Self::default();
            for id in module.live_instructions(computation) {
                if let Some(at) = Effect::of(module, id).and_then(place) {
                    counts.counts[at] = counts.counts[at].saturating_add(1);
                }
                module.for_each_called_computation(id, |callee| match known.get(&callee) {
                    Some(called) => counts.add(called),
                    None => stack.push(callee),
                });
            }
            if stack.len() == depth {
                stack.pop();
                known.insert(computation, counts);
            }
        }
        known.remove(&module.entry()).unwrap_or_default()
    }

    fn add(&mut self, other: &Self) {
        for (own, other) in self.counts.iter_mut().zip(other.counts) {
            *own = own.saturating_add(other);
        }
    }

    /// How many there are of a kind.
    pub fn count(&self, effect: Effect) -> u64 {
        place(effect).map_or(0, |at| self.counts[at])
    }

    /// The first kind of which `after` has fewer although the pass isn't said to remove such.
    pub fn lost(&self, after: &Self, pass: &PassInfo) -> Option<Effect> {
        let lost = |effect: &Effect| after.count(*effect) < self.count(*effect);
        KINDS.into_iter().filter(|effect| !pass.may_remove.contains(effect)).find(lost)
    }
}

fn place(effect: Effect) -> Option<usize> {
    KINDS.iter().position(|kind| *kind == effect)
}

#[cfg(test)]
mod tests {
    use hlo_text::{ParseOptions, parse_module};

    use super::*;
    use crate::registry;

    const TEXT: &str = "HloModule m

f {
  a = f32[] parameter(0)
  r = f32[] rng(a, a), distribution=rng_uniform
  ROOT c = f32[] custom-call(r), custom_call_target=\"t\", custom_call_has_side_effect=true
}

unused {
  a = f32[] parameter(0)
  ROOT c = f32[] custom-call(a), custom_call_target=\"t\", custom_call_has_side_effect=true
}

ENTRY e {
  p = f32[] parameter(0)
  x = f32[] call(p), to_apply=f
  y = f32[] call(x), to_apply=f
  k = token[] after-all()
  o = token[] outfeed(y, k), outfeed_shape=f32[]
  ROOT n = f32[] custom-call(y), custom_call_target=\"t\"
}
";

    #[test]
    fn effects_of_callees_count_for_every_call() {
        let module = parse_module(TEXT, &ParseOptions::default()).expect("it reads").module;
        let counts = EffectCounts::of(&module);
        assert_eq!(KINDS.map(|kind| counts.count(kind)), [0, 2, 1, 2]);
        let fewer = EffectCounts { counts: [0, 1, 1, 2] };
        let row = |key| registry::find(key).expect("a key");
        assert_eq!(counts.lost(&fewer, row("dce")), Some(Effect::Random));
        assert_eq!(counts.lost(&fewer, row("replace-rng")), None);
        assert_eq!(fewer.lost(&counts, row("dce")), None);
    }
}
