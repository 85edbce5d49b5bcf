//! Simulates sessions that commit through a log with group commit.
//!
//! Events in integer nanoseconds, one generator of random numbers per purpose, logarithms and
//! powers computed in software: the same parameters and seed give the same result on every
//! machine, bit by bit. No input, no output, no clock.
//!
//! ```
//! use redolab_sim::{Distribution, Parameters, Plan, simulate};
//!
//! // Two sessions, no CPU time, flushes of 1 ms: each flush serves one of them.
//! let mut parameters = Parameters::new(2);
//! parameters.device = Distribution::Constant { mean: 1e-3 };
//! let plan = Plan { warm_up: 10, batches: 1, commits_per_batch: 1_000 };
//! let seen = simulate(&parameters, 1, plan).unwrap();
//! assert_eq!(seen.batches[0].elapsed_ns, 1_000_000_000);
//! assert_eq!(seen.batches[0].commit_time.sum_ns, 2_000_000_000);
//! ```

mod cpu;
mod distribution;
mod events;
mod histogram;
mod parameters;
mod record;
mod rounding;
mod sampler;
mod simulation;
mod span;
mod sums;
mod tally;
mod wheel;

pub use distribution::{Distribution, Invalid};
pub use parameters::{Load, Parameters, Plan, SecondLog};
pub use record::{Read, Source, Target, Write};
pub use simulation::{MOST_EVENTS, Stopped, simulate, simulate_while};
pub use span::Span;
pub use sums::exact_sum;
pub use tally::{Batch, Seen, State, Times};
