//! Which tests run, and in which order.

use std::collections::BTreeSet;

use clap::ValueEnum;
use regex::{Regex, RegexBuilder};

use super::discovery::Test;

/// Order of running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// By name.
    Lexical,
    /// By chance; see `--seed`.
    Random,
    /// What failed last time first, then the slowest.
    #[default]
    Smart,
}

/// Sorts the tests.
pub fn sort(tests: &mut [Test], order: Order, seed: u64) {
    match order {
        Order::Lexical => tests.sort_by_cached_key(Test::full_name),
        Order::Smart => tests.sort_by_cached_key(|test| {
            // Times are not negative, so their bits are in their order.
            let slowest_first = u64::MAX - test.previous_elapsed().to_bits();
            (!test.previously_failed(), slowest_first, test.full_name())
        }),
        Order::Random => shuffle(tests, seed),
    }
}

/// Fisher-Yates with splitmix64: the same seed gives the same order everywhere.
fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed;
    for end in (1..items.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = state;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^= value >> 31;
        let at = value % (end as u64 + 1);
        items.swap(end, at as usize);
    }
}

/// Regular expressions on `suite :: path`, and the memory of the last run.
#[derive(Debug, Default)]
pub struct Filter {
    /// Must be found.
    pub only: Option<Regex>,
    /// Must not be found.
    pub out: Option<Regex>,
    /// Must have failed last time.
    pub failed: bool,
}

/// A filter's expression: case doesn't count.
///
/// # Errors
/// What is wrong with the expression.
pub fn filter_regex(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text)
        .case_insensitive(true)
        .build()
        .map_err(|error| format!("invalid regular expression: '{text}', {error}"))
}

impl Filter {
    /// Whether the test stays.
    pub fn keeps(&self, test: &Test) -> bool {
        let name = test.full_name();
        self.only.as_ref().is_none_or(|regex| regex.is_match(&name))
            && !self.out.as_ref().is_some_and(|regex| regex.is_match(&name))
            && (!self.failed || test.previously_failed())
    }
}

/// One of several machines' parts of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub run: usize,
    /// Of how many.
    pub count: usize,
}

impl Shard {
    /// The tests of this shard: every `count`-th.
    pub fn select(self, tests: Vec<Test>) -> Vec<Test> {
        tests.into_iter().skip(self.run - 1).step_by(self.count).collect()
    }

    /// The sentence that says what was selected of `total` tests.
    pub fn describe(self, total: usize) -> String {
        const PREVIEW: usize = 3;
        let numbers = || (self.run..=total).step_by(self.count);
        let size = numbers().count();
        let shown: Vec<String> = numbers().take(PREVIEW).map(|n| n.to_string()).collect();
        let more = if size > PREVIEW { ", ..." } else { "" };
        format!(
            "Selecting shard {}/{} = size {size}/{total} = tests #({}*k)+{} = [{}{more}]",
            self.run,
            self.count,
            self.count,
            self.run,
            shown.join(", ")
        )
    }
}

/// Names given with `--xfail` and its like, separated by `;`.
#[derive(Clone, Debug, Default)]
pub struct NameList(BTreeSet<String>);

impl NameList {
    /// Reads a list.
    pub fn parse(text: &str) -> Self {
        NameList(text.split(';').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// Whether it has the test, by path or full name.
    pub fn has(&self, test: &Test) -> bool {
        !self.0.is_empty() && (self.0.contains(&test.path) || self.0.contains(&test.full_name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards() {
        let shard = Shard { run: 2, count: 3 };
        assert_eq!(shard.describe(12), "Selecting shard 2/3 = size 4/12 = tests #(3*k)+2 = [2, 5, 8, ...]");
        assert_eq!(
            Shard { run: 3, count: 3 }.describe(2),
            "Selecting shard 3/3 = size 0/2 = tests #(3*k)+3 = []"
        );
    }

    #[test]
    fn shuffling_keeps_everything_and_depends_on_the_seed_alone() {
        let order = |seed| {
            let mut items: Vec<u32> = (0..50).collect();
            shuffle(&mut items, seed);
            items
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<u32>>());
    }
}
