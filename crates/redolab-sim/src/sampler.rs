//! Random durations, drawn as they are described.

use std::sync::LazyLock;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::distribution::Distribution;
use crate::rounding::whole;

/// A distribution with everything computed that does not change from draw to draw.
#[derive(Debug, Clone)]
pub enum Sampler {
    Constant(u64),
    Exponential { mean: f64, layers: &'static Layers },
    Gamma { third_less: f64, scale: f64, times: f64, power: Option<f64> },
    Lognormal { location: f64, spread: f64 },
    TwoValued { usual: u64, rare: u64, rare_share: f64 },
    Quantiles { values: Vec<f64>, steps: f64 },
}

impl Sampler {
    #[expect(clippy::cast_precision_loss, reason = "nobody gives 2^53 quantiles")]
    pub fn new(nanoseconds: &Distribution) -> Self {
        match *nanoseconds {
            Distribution::Constant { mean } => Self::Constant(whole(mean)),
            Distribution::Exponential { mean } => Self::Exponential { mean, layers: &LAYERS },
            Distribution::Gamma { mean, cv } => {
                let shape = 1.0 / (cv * cv);
                // A shape below 1 is drawn as one higher, times a power of a uniform.
                let power = (shape < 1.0).then_some(1.0 / shape);
                let third_less = if shape < 1.0 { shape + 1.0 } else { shape } - 1.0 / 3.0;
                let scale = 1.0 / (9.0 * third_less).sqrt();
                Self::Gamma { third_less, scale, times: mean / shape, power }
            }
            Distribution::Lognormal { mean, cv } => {
                let variance = libm::log1p(cv * cv);
                let location = libm::log(mean) - variance / 2.0;
                Self::Lognormal { location, spread: variance.sqrt() }
            }
            Distribution::TwoValued { usual, rare, rare_share } => {
                Self::TwoValued { usual: whole(usual), rare: whole(rare), rare_share }
            }
            Distribution::Quantiles { ref values } => {
                let steps = (values.len() - 1) as f64;
                Self::Quantiles { values: values.clone(), steps }
            }
        }
    }

    /// Durations, in whole nanoseconds.
    pub fn fill(&self, drawn: &mut [u64], random: &mut Xoshiro256PlusPlus) {
        for one in drawn {
            *one = self.draw(random);
        }
    }

    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "a place in a list"
    )]
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::Constant(value) => *value,
            Self::Exponential { mean, layers } => whole(mean * layers.draw(random)),
            Self::Gamma { third_less, scale, times, power } => {
                let boost = power.map_or(1.0, |power| libm::pow(uniform(random), power));
                whole(gamma(*third_less, *scale, random) * boost * times)
            }
            Self::Lognormal { location, spread } => {
                whole(libm::exp(location + spread * normal(random)))
            }
            Self::TwoValued { usual, rare, rare_share } => {
                if uniform(random) <= *rare_share {
                    *rare
                } else {
                    *usual
                }
            }
            Self::Quantiles { values, steps } => {
                let place = (1.0 - uniform(random)) * steps;
                let below = place as usize;
                let (low, high) = (values[below], values[below + 1]);
                whole(low + (high - low) * (place - place.floor()))
            }
        }
    }
}

/// Above 0, up to and with 1, in steps of 2^-53.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / 9_007_199_254_740_992.0
}

/// Layers of equal area under the exponential density (the ziggurat of Marsaglia and Tsang, 2000): all
/// but one draw in some 50 cost a comparison instead of a logarithm.
#[derive(Debug)]
pub struct Layers {
    /// Where each layer ends, the longest first; the first is as long as if the tail were a rectangle.
    ends: [f64; 257],
    /// The density there.
    densities: [f64; 257],
}

static LAYERS: LazyLock<Layers> = LazyLock::new(Layers::new);

/// Where the tail begins, and the area of a layer, for 256 of them.
const TAIL: f64 = 7.697_117_470_131_05;
const AREA: f64 = 0.003_949_659_822_581_557;

impl Layers {
    fn new() -> Self {
        let mut ends = [0.0; 257];
        ends[0] = AREA / libm::exp(-TAIL);
        ends[1] = TAIL;
        for layer in 2..256 {
            let before: f64 = ends[layer - 1];
            ends[layer] = -libm::log(AREA / before + libm::exp(-before));
        }
        Self { ends, densities: ends.map(|end| libm::exp(-end)) }
    }

    /// Exponential with mean 1.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "53 and 8 bits"
    )]
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> f64 {
        loop {
            let bits = random.next_u64();
            let layer = usize::from(bits as u8);
            let x = (bits >> 11) as f64 / 9_007_199_254_740_992.0 * self.ends[layer];
            if x < self.ends[layer + 1] {
                return x;
            }
            if layer == 0 {
                return TAIL - libm::log(uniform(random));
            }
            let (low, high) = (self.densities[layer], self.densities[layer + 1]);
            if low + (high - low) * uniform(random) < libm::exp(-x) {
                return x;
            }
        }
    }
}

/// Standard normal, by the polar method (Marsaglia and Bray 1964).
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    loop {
        let (x, y) = (2.0 * uniform(random) - 1.0, 2.0 * uniform(random) - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * libm::log(square) / square).sqrt();
        }
    }
}

/// Gamma with scale 1, by rejection (Marsaglia and Tsang 2000).
fn gamma(third_less: f64, scale: f64, random: &mut Xoshiro256PlusPlus) -> f64 {
    loop {
        let x = normal(random);
        let cube_root = 1.0 + scale * x;
        if cube_root <= 0.0 {
            continue;
        }
        let cube = cube_root * cube_root * cube_root;
        if libm::log(uniform(random)) < x * x / 2.0 + third_less * (1.0 - cube + libm::log(cube)) {
            return third_less * cube;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;

    #[test]
    fn the_layers_have_equal_areas_and_end_at_the_top() {
        let Layers { ends, densities } = &*LAYERS;
        assert_eq!((ends[256], densities[256]), (0.0, 1.0));
        for layer in 1..256 {
            let area = ends[layer] * (densities[layer + 1] - densities[layer]);
            assert!((area / AREA - 1.0).abs() < 1e-9, "{layer}: {area}");
        }
    }

    #[test]
    fn exponential_draws_follow_their_distribution() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut drawn: Vec<f64> = (0..100_000).map(|_| LAYERS.draw(&mut random)).collect();
        drawn.sort_by(f64::total_cmp);
        // Kolmogorov's statistic: at most 1.95 / sqrt(n) but in one of 1,000 such tests.
        let mut farthest: f64 = 0.0;
        for (place, &x) in (0_u32..).zip(&drawn) {
            let share = -libm::expm1(-x) * 100_000.0 - f64::from(place);
            farthest = farthest.max(share.abs()).max((share - 1.0).abs());
        }
        assert!(farthest / 100_000_f64.sqrt() < 1.95, "{farthest}");
        // And as many beyond the beginning of the tail as there should be: 45 of 100,000.
        let beyond = drawn.iter().filter(|&&x| x > TAIL).count();
        assert!((20..=75).contains(&beyond), "{beyond}");
    }
}
