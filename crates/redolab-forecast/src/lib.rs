//! Forecasts settings that were not measured, from the costs of a commit.
//!
//! The same in Python and in a page: no input, no output, no clock, no threads, and every figure to the same
//! bits on every machine. What is random is the simulator's (`redolab_sim`), with a seed.

mod costs;
mod distribution;
mod forecast;
mod group_commit;
mod inverse;
#[cfg(test)]
mod made_up;
mod queues;
mod record;
mod refused;
mod statistics;
mod text;

pub use costs::assumptions::{
    CPU_FACTORS, LEAST_S, POST_SHARE, WAKE_SHARE, client_threads, statements_of,
};
pub use costs::calibration::Calibration;
pub use costs::curve::{Curve, with_sessions};
pub use costs::scenario::Scenario;
pub use distribution::Distribution;
pub use forecast::commits::{commits_of_forecast, commits_simulated};
pub use forecast::intervals::{predicted, predicted_ratio, scored};
pub use forecast::quantities::{CommitTimes, Quantities, SEED, simulated};
pub use group_commit::averages::{Durations, SteadyState};
pub use group_commit::parameters::{GroupCommitParameters, Load};
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
pub use queues::published::{response_time_cpu, response_time_io};
pub use record::extrapolated::{Beyond, Level, extrapolated};
pub use record::family::family_of;
pub use record::prediction::{
    EXTRAPOLATED, LEVEL, PRIOR, PRIOR_WEIGHT, Predicted, least_verified, prediction_interval,
};
pub use refused::Refused;
pub use statistics::ratio::{Interval, LEVEL as INTERVAL_LEVEL, ratio_of_sums};
