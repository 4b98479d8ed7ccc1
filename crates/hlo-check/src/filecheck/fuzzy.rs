//! The line that looks most like what was meant.

/// How far from the start of the search a candidate may begin.
const SEARCHED: usize = 4096;
/// Candidates of this quality or worse are not shown.
const WORST: f64 = 50.0;

/// The offset of the best candidate, if one is good enough and not at the very start: least edit
/// distance to `example`, with a small penalty for each line skipped.
pub(super) fn best_match(example: &[u8], text: &[u8]) -> Option<usize> {
    let mut measure = Measure::new(example);
    let mut best: Option<(usize, f64)> = None;
    let mut lines = 0u32;
    for (at, &byte) in text.iter().enumerate().take(SEARCHED) {
        if byte == b'\n' {
            lines += 1;
        }
        if byte == b' ' || byte == b'\t' {
            continue;
        }
        let candidate = &text[at..text.len().min(at + example.len())];
        let candidate = &candidate[..memchr::memchr(b'\n', candidate).unwrap_or(candidate.len())];
        let penalty = f64::from(lines) / 100.0;
        let quality = f64::from(measure.distance(candidate)) + penalty;
        if best.is_none_or(|(_, best)| quality < best) {
            best = Some((at, quality));
        }
    }
    best.filter(|&(at, quality)| at != 0 && quality < WORST).map(|(at, _)| at)
}

/// Edit distance to one text, 64 columns at a time (Myers 1999, in Hyyrö's block form).
struct Measure {
    length: usize,
    /// Per block, for each byte value, which columns hold it.
    columns: Vec<[u64; 256]>,
    positive: Vec<u64>,
    negative: Vec<u64>,
}

impl Measure {
    fn new(example: &[u8]) -> Self {
        let columns: Vec<_> = example
            .chunks(64)
            .map(|chunk| {
                let mut columns = [0u64; 256];
                for (bit, &byte) in chunk.iter().enumerate() {
                    columns[usize::from(byte)] |= 1 << bit;
                }
                columns
            })
            .collect();
        let blocks = columns.len();
        Self { length: example.len(), columns, positive: vec![0; blocks], negative: vec![0; blocks] }
    }

    fn distance(&mut self, candidate: &[u8]) -> u32 {
        let Some(last) = self.columns.len().checked_sub(1) else { return candidate.len() as u32 };
        self.positive.fill(u64::MAX);
        self.negative.fill(0);
        let mut score = self.length as u32;
        let last_bit = 1u64 << ((self.length - 1) % 64);
        for &byte in candidate {
            // Horizontal differences that enter a block from the one above; the top row grows by one.
            let (mut carry_positive, mut carry_negative) = (1u64, 0u64);
            for block in 0..=last {
                let equal = self.columns[block][usize::from(byte)];
                let (positive, negative) = (self.positive[block], self.negative[block]);
                let vertical = equal | negative;
                let equal = equal | carry_negative;
                let diagonal = (((equal & positive).wrapping_add(positive)) ^ positive) | equal;
                let mut up = negative | !(diagonal | positive);
                let mut down = positive & diagonal;
                if block == last {
                    score += u32::from(up & last_bit != 0);
                    score -= u32::from(down & last_bit != 0);
                }
                let (out_positive, out_negative) = (up >> 63, down >> 63);
                up = (up << 1) | carry_positive;
                down = (down << 1) | carry_negative;
                self.positive[block] = down | !(vertical | up);
                self.negative[block] = up & vertical;
                (carry_positive, carry_negative) = (out_positive, out_negative);
            }
        }
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain_distance(a: &[u8], b: &[u8]) -> u32 {
        let mut row: Vec<u32> = (0..=b.len() as u32).collect();
        for (i, x) in a.iter().enumerate() {
            let mut diagonal = row[0];
            row[0] = i as u32 + 1;
            for (j, y) in b.iter().enumerate() {
                let next = (diagonal + u32::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
                diagonal = row[j + 1];
                row[j + 1] = next;
            }
        }
        row[b.len()]
    }

    #[test]
    fn distance_agrees_with_the_textbook() {
        let mut seed = 1u64;
        let mut next = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        for _ in 0..500 {
            let mut text = |longest: usize| -> Vec<u8> {
                let length = next() % longest;
                (0..length).map(|_| b'a' + (next() % 3) as u8).collect()
            };
            let (example, candidate) = (text(200), text(200));
            assert_eq!(Measure::new(&example).distance(&candidate), plain_distance(&example, &candidate));
        }
    }
}
