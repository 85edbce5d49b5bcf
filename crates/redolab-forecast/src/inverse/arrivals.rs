//! How much work may arrive.

use crate::costs::scenario::Scenario;
use crate::inverse::asking::{Asking, Effort, at_least};
use crate::refused::Refused;
use crate::text::{general, significant};

/// An arrival rate so low that hardly anything queues, over the throughput of as many sessions in a loop.
const IDLE: f64 = 0.001;
/// How much more is tried where the limit is kept even at the throughput of sessions in a loop. These can do less than
/// arrivals: the log divides them into groups that take turns.
const HIGHER: f64 = 1.25;
/// Commits in all and of each session at least: near saturation a shorter stretch does not tell queues.
const LEAST: (u64, u64) = (10_000, 40);

/// The largest arrival rate that keeps a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrivals {
    /// That rate, per second.
    pub rate_per_s: f64,
    /// The 95th percentile of the response time with it, in milliseconds.
    pub response_time_ms_p95: f64,
    /// Commits per second of as many sessions in a loop.
    pub looping_throughput_per_s: f64,
}

/// The largest arrival rate at which 95 % of the transactions end within `limit_ms` of their arrival.
///
/// Arrivals are random (Poisson); the scenario's sessions are there for them, and do not think. The range of rates is
/// halved to a two-thousandth of it, or, with less effort, to a 250th.
///
/// # Errors
/// The limit is not even kept with hardly any load, or those of the simulation.
pub fn largest_arrival_rate(
    mut asking: Asking<'_>,
    scenario: &Scenario,
    limit_ms: f64,
    effort: Effort,
) -> Result<Arrivals, Refused> {
    let looping = Scenario { think_time_ms: 0.0, arrival_rate_per_s: None, ..scenario.clone() };
    let commits = at_least(LEAST.0, LEAST.1, &looping);
    let looping_throughput_per_s = asking.throughput(&looping, commits)?;
    let mut p95_ms = |rate: f64| {
        let asked = Scenario { arrival_rate_per_s: Some(rate), ..looping.clone() };
        match asking.state(&asked, commits) {
            Ok(state) => Ok(1e3 * state.response_time.p95_s.point),
            Err(Refused::NoSteadyState(_)) => Ok(f64::INFINITY),
            Err(refused) => Err(refused),
        }
    };
    let mut high = looping_throughput_per_s;
    let mut low = (IDLE * high, p95_ms(IDLE * high)?);
    if low.1 > limit_ms {
        return Err(Refused::NoAnswer(format!(
            "with hardly any load the 95th percentile of the response time is already {} ms, so no arrival \
             rate keeps it under {} ms",
            significant(low.1, 3),
            general(limit_ms)
        )));
    }
    loop {
        let found = p95_ms(high)?;
        if found <= limit_ms {
            (low, high) = ((high, found), HIGHER * high);
        } else {
            break;
        }
    }
    let steps = match effort {
        Effort::Full => 11,
        Effort::Quick => 8,
    };
    for _ in 0..steps {
        let middle = f64::midpoint(low.0, high);
        let found = p95_ms(middle)?;
        if found <= limit_ms {
            low = (middle, found);
        } else {
            high = middle;
        }
    }
    let (rate_per_s, response_time_ms_p95) = low;
    Ok(Arrivals { rate_per_s, response_time_ms_p95, looping_throughput_per_s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::server;

    fn largest(sessions: i64, limit_ms: f64) -> Result<Arrivals, Refused> {
        let calibration = server();
        let mut wanted = || true;
        let asking = Asking { calibration: &calibration, wanted: &mut wanted };
        largest_arrival_rate(asking, &Scenario::new(sessions), limit_ms, Effort::Quick)
    }

    #[test]
    fn it_keeps_the_limit() {
        let found = largest(16, 3.0).unwrap();
        assert!(found.response_time_ms_p95 <= 3.0);
        assert!(found.rate_per_s < found.looping_throughput_per_s);
        let wider = largest(16, 6.0).unwrap();
        assert!(wider.rate_per_s > found.rate_per_s);
    }

    #[test]
    fn what_is_not_kept_without_load_is_never_kept() {
        let text = largest(16, 1.0).unwrap_err().to_string();
        assert!(text.starts_with("with hardly any load the 95th percentile"), "{text}");
        assert!(text.ends_with("so no arrival rate keeps it under 1 ms"), "{text}");
    }
}
