//! What follows from the parameters once and for all, and where random numbers come from.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::distribution::{Invalid, Sampler, whole};
use crate::parameters::{Load, Parameters};

/// A long transaction of a client is cut into no more parts than this.
const MOST_STATEMENTS: u64 = 60;

/// A generator per purpose: a change of one distribution leaves the others' draws alone.
pub struct Random {
    pub pause: Xoshiro256PlusPlus,
    pub rows: Xoshiro256PlusPlus,
    pub commit: Xoshiro256PlusPlus,
    pub device: Xoshiro256PlusPlus,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut stream = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut next = || {
            stream.jump();
            stream.clone()
        };
        Self { pause: next(), rows: next(), commit: next(), device: next() }
    }
}

/// Distributions ready to be drawn from, and what follows from the parameters once and for all.
pub struct Prepared {
    pub pause: Sampler,
    pub burst: Option<u32>,
    pub rows: Sampler,
    pub commit: Sampler,
    pub device: Sampler,
    pub background_ns: u64,
    pub parts: u32,
    /// Statements of a client that a part but the last stands for.
    pub statements_of_part: f64,
    pub part_bytes: u64,
    pub last_part_bytes: u64,
}

impl Prepared {
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^32 - 1 parts, as stated")]
    pub fn new(parameters: &Parameters) -> Result<Self, Invalid> {
        let (pause, burst) = match &parameters.load {
            Load::Closed { think } => (think, None),
            Load::Open { gap, burst } => (gap, Some(*burst)),
        };
        let bytes =
            whole(parameters.commit_bytes + f64::from(parameters.rows) * parameters.row_bytes);
        let parts = match parameters.early_write_bytes {
            0 => 1,
            early => bytes.div_ceil(early).clamp(1, u64::from(u32::MAX)),
        };
        let parts = parts.max(u64::from(parameters.statements).min(MOST_STATEMENTS));
        let parts = parts as u32;
        let part_bytes = bytes / u64::from(parts);
        let before_the_last = f64::from(parameters.statements.saturating_sub(1).max(1));
        Ok(Self {
            pause: Sampler::new(pause),
            burst,
            rows: Sampler::new(&parameters.row_cpu.sum_of(parameters.rows)?),
            commit: Sampler::new(&parameters.commit_cpu),
            device: Sampler::new(&parameters.device),
            background_ns: whole(parameters.background_cpu_ns),
            parts,
            statements_of_part: before_the_last / f64::from(parts.max(2) - 1),
            part_bytes,
            last_part_bytes: bytes - part_bytes * u64::from(parts - 1),
        })
    }
}
