//! Forecasts settings that were not measured, from the costs of a commit.
//!
//! The same in Python and in a page: no input, no output, no clock, no threads, and every figure to the same bits on
//! every machine. What is random is the simulator's (`redolab_sim`), with a seed.
//!
//! ```
//! use redolab_forecast::{Calibration, Scenario};
//!
//! let costs = Calibration {
//!     cpus: 2,
//!     transaction_cpu_s: vec![(1, 45e-6), (8, 55e-6)],
//!     row_cpu_s: vec![(1, 5e-6), (8, 6e-6)],
//!     flush_cpu_s: 15e-6,
//!     wake_s: 25e-6,
//!     commit_bytes: 100.0,
//!     row_bytes: 110.0,
//!     flush_s: vec![0.8e-3, 1.2e-3],
//!     device_s_per_byte: 1e-9,
//!     ..Calibration::default()
//! };
//! let measured = [Scenario::new(1), Scenario::new(8)];
//! let asked = Scenario { rows_per_commit: 32, ..Scenario::new(8) };
//! asked.check()?;
//!
//! // The forecast itself. Resampled calibrations give its replicates, with as many commits as `few` says.
//! let needs = costs.needs_of(&asked)?;
//! let (many, few) = redolab_forecast::commits_of_forecast(&needs);
//! assert_eq!((many, few), (20_000, 5_000));
//! let said = redolab_forecast::simulated(&needs, many, || true)?;
//! // Two groups of sessions take turns at the log, so a flush serves some four commits.
//! assert!((2_500.0..4_000.0).contains(&said.throughput_per_s));
//!
//! // Its interval, from the errors of earlier forecasts of the family.
//! assert_eq!(redolab_forecast::family_of(&asked), "batches");
//! let beyond = redolab_forecast::extrapolated(&costs, &measured, &asked);
//! assert_eq!(beyond[0].factor, "rows_per_commit");
//! let errors = [0.05, -0.02, 0.11];
//! let interval = redolab_forecast::predicted(
//!     "throughput_per_s", said.throughput_per_s, &[], &errors, !beyond.is_empty(),
//! )?;
//! assert!(interval.low < said.throughput_per_s && said.throughput_per_s < interval.high);
//! # Ok::<(), redolab_forecast::Refused>(())
//! ```

mod costs;
mod forecast;
mod group_commit;
mod inverse;
#[doc(hidden)]
pub mod made_up;
mod queues;
mod record;
mod refused;
mod statistics;
mod text;

pub use costs::assumptions::{
    CPU_FACTORS, LEAST_S, POST_SHARE, WAKE_SHARE, WAL_WRITER_DELAY_S, client_threads, statements_of,
};
pub use costs::calibration::{Calibration, SecondCosts};
pub use costs::curve::{Curve, with_sessions};
pub use costs::scenario::{Scenario, Waits};
pub use forecast::commits::{commits_of_forecast, commits_simulated};
pub use forecast::intervals::{predicted, predicted_ratio, scored};
pub use forecast::quantities::{CommitTimes, Quantities, SEED, simulated};
pub use group_commit::averages::{Durations, SteadyState};
pub use group_commit::plan::{BATCHES, plan};
pub use group_commit::simulate::simulate;
pub use inverse::arrivals::{Arrivals, largest_arrival_rate};
pub use inverse::asking::{Asking, Effort};
pub use inverse::bounds::bounds_elbow;
pub use inverse::elbow::{ELBOW, Elbow, elbow, elbow_near};
pub use inverse::interval::answer_interval;
pub use inverse::rows::{Rows, fewest_rows};
pub use queues::bounds::sessions_at_elbow;
pub use queues::erlang::{OpenQueue, erlang_b, erlang_c, open_queue};
pub use queues::published::{response_time_cpu, response_time_io, solve_servers};
pub use record::extrapolated::{Beyond, Level, extrapolated};
pub use record::family::{FAMILIES, family_of};
pub use record::prediction::{
    EXTRAPOLATED, LEVEL, PRIOR, PRIOR_WEIGHT, Predicted, is_wide, least_verified,
    prediction_interval,
};
pub use redolab_sim::{
    Distribution, Load, Parameters, Read, SecondLog, Source, Span, Target, Write,
};
pub use refused::Refused;
pub use statistics::ratio::{Interval, LEVEL as INTERVAL_LEVEL, ratio_of_sums};
