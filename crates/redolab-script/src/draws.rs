//! Random numbers, as pgbench draws them.
//!
//! Source: PostgreSQL documentation, pgbench, "Built-in functions"; D. Blackman and S. Vigna, xoroshiro128**, 2018;
//! G. E. P. Box and M. E. Muller, 1958; W. Hoermann and G. Derflinger, Rejection-inversion, 1996 (Zipf); A. Appleby,
//! MurmurHash2; G. Fowler, L. C. Noll, K.-P. Vo, FNV-1a.

use std::f64::consts::PI;

use rand_xoshiro::Xoroshiro128StarStar;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::value::{signed, unsigned, whole};

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Draws(Xoroshiro128StarStar);

/// The least parameter of `random_gaussian`.
pub(crate) const LEAST_GAUSSIAN: f64 = 2.0;
/// The bounds of the parameter of `random_zipfian`.
pub(crate) const ZIPFIAN: (f64, f64) = (1.001, 1000.0);

const PERMUTE_ROUNDS: usize = 6;

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoroshiro128StarStar::seed_from_u64(seed))
    }

    /// Any number of 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 up to and with `most`.
    fn up_to(&mut self, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        let shift = most.leading_zeros();
        loop {
            let drawn = self.bits() >> shift;
            if drawn <= most {
                return drawn;
            }
        }
    }

    /// At least 0 and below 1.
    #[expect(clippy::cast_precision_loss, reason = "52 bits fit")]
    fn fraction(&mut self) -> f64 {
        (self.bits() >> 12) as f64 / 4_503_599_627_370_496.0
    }

    /// From `low` up to and with `high`, all alike. The span may be that of all ints.
    pub(crate) fn uniform(&mut self, low: i64, high: i64) -> i64 {
        let span = unsigned(high.wrapping_sub(low));
        low.wrapping_add(signed(self.up_to(span)))
    }

    pub(crate) fn gaussian(&mut self, low: i64, high: i64, parameter: f64) -> i64 {
        let deviation = loop {
            let (first, second) = (1.0 - self.fraction(), 1.0 - self.fraction());
            let drawn = (-2.0 * first.ln()).sqrt() * (2.0 * PI * second).sin();
            if (-parameter..parameter).contains(&drawn) {
                break drawn;
            }
        };
        scaled(low, high, (deviation + parameter) / (parameter * 2.0))
    }

    pub(crate) fn exponential(&mut self, low: i64, high: i64, parameter: f64) -> i64 {
        let cut = (-parameter).exp();
        let uniform = 1.0 - self.fraction();
        scaled(low, high, -(cut + (1.0 - cut) * uniform).ln() / parameter)
    }

    #[expect(clippy::cast_precision_loss, reason = "as in C")]
    pub(crate) fn zipfian(&mut self, low: i64, high: i64, parameter: f64) -> i64 {
        let count = high - low + 1;
        if count <= 1 {
            return low;
        }
        let power = parameter - 1.0;
        let base = 2_f64.powf(power);
        loop {
            let (first, second) = (self.fraction(), self.fraction());
            let drawn = first.powf(-1.0 / power).floor();
            let term = (1.0 + 1.0 / drawn).powf(power);
            if second * drawn * (term - 1.0) / (base - 1.0) <= term / base && drawn <= count as f64
            {
                return low - 1 + whole(drawn).unwrap_or(count);
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "as in C")]
fn scaled(low: i64, high: i64, share: f64) -> i64 {
    low + whole(((high - low + 1) as f64 * share).trunc()).unwrap_or(0)
}

/// A number below `size`, another one for each `value` below it.
pub(crate) fn permuted(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let mut draws = Draws::new(unsigned(seed));
    let size = unsigned(size);
    let length = size.ilog2();
    let mask = (1_u64 << length) - 1;
    let mix = |part: u64, draws: &mut Draws| {
        let (times, flips) = ((draws.bits() & mask) | 1, draws.bits() & mask);
        let mixed = move |part: u64| {
            let part = (part.wrapping_mul(times) ^ flips) & mask;
            ((part << 1) & mask) | (part >> (length - 1))
        };
        if part <= mask { Some(mixed(part)) } else { None }
    };
    let mut place = unsigned(value) % size;
    for _ in 0..PERMUTE_ROUNDS {
        place = mix(place, &mut draws).unwrap_or(place);
        place = mix(size - 1 - place, &mut draws).map_or(place, |upper| size - 1 - upper);
        let shift = draws.up_to(size - 1);
        // Both are below 2^63.
        place = (place + shift) % size;
    }
    signed(place)
}

pub(crate) fn fnv1a(value: i64, seed: i64) -> i64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ unsigned(seed);
    for byte in value.to_le_bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    signed(hash)
}

pub(crate) fn murmur2(value: i64, seed: i64) -> i64 {
    const TIMES: u64 = 0xc6a4_a793_5bd1_e995;
    let mut part = unsigned(value).wrapping_mul(TIMES);
    part = (part ^ (part >> 47)).wrapping_mul(TIMES);
    let mut hash = unsigned(seed) ^ 8_u64.wrapping_mul(TIMES);
    hash = (hash ^ part).wrapping_mul(TIMES);
    hash = (hash ^ (hash >> 47)).wrapping_mul(TIMES);
    signed(hash ^ (hash >> 47))
}
