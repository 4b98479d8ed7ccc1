//! Random numbers from a seed: the generator and the distributions of `replace-rng`.
//!
//! Every number is a function of the seed alone, on every machine: the generator is the 32-bit Mersenne twister, and
//! logarithms and the like don't come from the system's library.

use rand_mt::Mt;

/// A source of random numbers.
pub(super) struct Source(Mt);

impl Source {
    /// `std::mt19937(seed)`.
    pub(super) fn new(seed: u32) -> Self {
        Self(Mt::new(seed))
    }

    /// 64 random bits: two words, the high one first.
    pub(super) fn bits64(&mut self) -> u64 {
        let high = u64::from(self.0.next_u32());
        high << 32 | u64::from(self.0.next_u32())
    }

    /// Random bits for an integer of `width` bits: one word, or two for more than 32 bits.
    pub(super) fn bits(&mut self, width: u32) -> u64 {
        if width > 32 { self.bits64() } else { u64::from(self.0.next_u32()) }
    }

    /// A number in [0, 1) with 53 random bits, from two words.
    pub(super) fn fraction(&mut self) -> f64 {
        let high = f64::from(self.0.next_u32() >> 5);
        let low = f64::from(self.0.next_u32() >> 6);
        (high * f64::from(1u32 << 26) + low) / (1u64 << 53) as f64
    }

    /// Two numbers of the standard normal distribution (Box and Muller).
    pub(super) fn normals(&mut self) -> [f64; 2] {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.fraction()));
        let angle = std::f64::consts::TAU * self.fraction();
        [radius * libm::cos(angle), radius * libm::sin(angle)]
    }

    /// An integer from 0 to `last`, as `std::uniform_int_distribution` of libstdc++ 11 and later draws it from
    /// `std::mt19937`.
    pub(super) fn uniform_int(&mut self, last: u64) -> u64 {
        const WORD: u64 = u32::MAX as u64;
        if last == WORD {
            return u64::from(self.0.next_u32());
        }
        if last < WORD {
            return u64::from(self.below(last as u32 + 1));
        }
        loop {
            let high = self.uniform_int(last >> 32) << 32;
            let number = high.wrapping_add(u64::from(self.0.next_u32()));
            if number <= last && number >= high {
                return number;
            }
        }
    }

    /// An integer below `range`, without bias (Lemire).
    fn below(&mut self, range: u32) -> u32 {
        let mut product = u64::from(self.0.next_u32()) * u64::from(range);
        if (product as u32) < range {
            let threshold = range.wrapping_neg() % range;
            while (product as u32) < threshold {
                product = u64::from(self.0.next_u32()) * u64::from(range);
            }
        }
        (product >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What libstdc++ 12 draws.
    #[test]
    fn integers_are_those_of_libstdcpp() {
        let draw = |seed, low: i64, high: i64| -> Vec<i64> {
            let mut source = Source::new(seed);
            let last = high.wrapping_sub(low) as u64;
            (0..6).map(|_| low.wrapping_add(source.uniform_int(last) as i64)).collect()
        };
        assert_eq!(draw(0, 0, 99), [54, 59, 71, 84, 60, 85]);
        assert_eq!(draw(7, -5, 5), [-5, -3, 3, -2, -1, 5]);
        assert_eq!(draw(1, 0, 0), [0; 6]);
        assert_eq!(
            draw(0, 0, i64::from(i32::MAX)),
            [1178568022, 1273124119, 1535857466, 1813046880, 1294424481, 1842424189]
        );
        assert_eq!(
            draw(0, 0, i64::from(u32::MAX)),
            [2357136044, 2546248239, 3071714933, 3626093760, 2588848963, 3684848379]
        );
        assert_eq!(
            draw(2, 0, 3_000_000_000),
            [1307984708, 555246244, 77778683, 2794622591, 1648987428, 2843191833]
        );
        assert_eq!(
            draw(5, 0, (1 << 40) + 12345),
            [245050132686, 961348232893, 229195504758, 1017818966089, 537256690404, 676013836222]
        );
        assert_eq!(
            draw(0, 0, i64::MAX)[..3],
            [5061911113147656751, 6596457591413525696, 5559510816721621755]
        );
        // Ranges of which many words are turned down.
        assert_eq!(draw(7, 0, 1 << 31), [163870807, 941476641, 978361139, 2100216494, 661452380, 1156411079]);
        assert_eq!(
            draw(7, 0, (1 << 32) + 10),
            [976413892, 4201435347, 1801189930, 68334472, 2266732518, 1687674368]
        );
        assert_eq!(
            draw(7, 0, (3 << 32) + 5),
            [976413892, 8496402643, 10546656871, 9723251223, 8962494809, 1801189930]
        );
        assert_eq!(draw(3, 0, -1)[..3], [-8286316095047268712, -5383722427978684797, 5366245355481424840]);
    }

    /// What numpy's `RandomState(0)` draws.
    #[test]
    fn fractions_are_those_of_numpy() {
        let mut source = Source::new(0);
        let drawn = [source.fraction(), source.fraction(), source.fraction()];
        assert_eq!(drawn, [0.548_813_503_927_324_8, 0.715_189_366_372_419_5, 0.602_763_376_071_643_9]);
    }

    #[test]
    fn normals_have_the_right_moments() {
        let mut source = Source::new(1);
        let drawn: Vec<f64> = (0..50_000).flat_map(|_| source.normals()).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let variance = drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / drawn.len() as f64;
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }
}
