//! Random durations, drawn ahead.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::distribution::{Distribution, Invalid};
use crate::parameters::Parameters;
use crate::sampler::Sampler;

/// A generator per purpose: a change of one distribution leaves the others' draws alone.
pub struct Draws {
    pub pause: Ahead,
    pub rows: Ahead,
    pub commit: Ahead,
    /// Of each log.
    pub devices: Vec<Ahead>,
}

impl Draws {
    pub fn new(parameters: &Parameters, seed: u64) -> Result<Self, Invalid> {
        let mut stream = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut next = |drawn: &Distribution| {
            stream.jump();
            Ahead::new(Sampler::new(drawn), stream.clone())
        };
        Ok(Self {
            pause: next(&parameters.load.pause().nanoseconds()),
            rows: next(&parameters.row_cpu.nanoseconds().sum_of(parameters.rows)?),
            commit: next(&parameters.commit_cpu.nanoseconds()),
            devices: std::iter::once(&parameters.device)
                .chain(parameters.second.as_ref().map(|second| &second.device))
                .map(|device| next(&device.nanoseconds()))
                .collect(),
        })
    }
}

/// Durations of one purpose. They are drawn many at a time, because a loop that does nothing else takes little
/// more than half as long for each.
pub struct Ahead {
    sampler: Sampler,
    random: Xoshiro256PlusPlus,
    drawn: [u64; AHEAD],
    taken: usize,
}

const AHEAD: usize = 64;

impl Ahead {
    fn new(sampler: Sampler, random: Xoshiro256PlusPlus) -> Self {
        Self { sampler, random, drawn: [0; AHEAD], taken: AHEAD }
    }

    /// One duration, in whole nanoseconds.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        if self.taken == AHEAD {
            self.refill();
        }
        let next = self.drawn[self.taken];
        self.taken += 1;
        next
    }

    #[cold]
    fn refill(&mut self) {
        self.sampler.fill(&mut self.drawn, &mut self.random);
        self.taken = 0;
    }
}
