//! How many sessions are enough.

use std::collections::BTreeMap;

use crate::costs::scenario::Scenario;
use crate::inverse::asking::{Asking, at_least};
use crate::inverse::search::{first, first_near, peak};
use crate::refused::Refused;
use crate::text::grouped;

/// The part of the best throughput that is enough.
pub const ELBOW: f64 = 0.95;
const MOST_SESSIONS: i64 = 2048;
/// Commits in all and of each session at least: with 20 of each the start still shows, as 6 % more.
const OF_POINT: (u64, u64) = (20_000, 150);
/// For throughputs that hardly differ, which a shorter stretch does not tell apart.
const OF_REPLICATE: (u64, u64) = (10_000, 50);

/// The fewest sessions that give 95 % of the best throughput that any number of them gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elbow {
    /// Those sessions.
    pub sessions: i64,
    /// Their commits per second.
    pub throughput_per_s: f64,
    /// The sessions with the best throughput.
    pub best_sessions: i64,
    /// Their commits per second.
    pub best_throughput_per_s: f64,
}

/// The elbow of sessions that loop; arrivals are left out.
///
/// # Errors
/// Throughput still grows at 2,048 sessions, or those of the simulation.
pub fn elbow(mut asking: Asking<'_>, scenario: &Scenario) -> Result<Elbow, Refused> {
    let mut known = BTreeMap::new();
    let mut of = |sessions: i64| -> Result<f64, Refused> {
        if let Some(&found) = known.get(&sessions) {
            return Ok(found);
        }
        let found = looping(&mut asking, scenario, sessions, OF_POINT)?;
        known.insert(sessions, found);
        Ok(found)
    };
    let Some(best_sessions) = peak(MOST_SESSIONS, ELBOW, &mut of)? else {
        return Err(Refused::NoAnswer(format!(
            "throughput still grows at {} sessions, so the elbow lies beyond what is forecast",
            grouped(MOST_SESSIONS)
        )));
    };
    let best_throughput_per_s = of(best_sessions)?;
    let goal = ELBOW * best_throughput_per_s;
    let sessions = first(1, best_sessions, |sessions| Ok(of(sessions)? >= goal))?;
    let throughput_per_s = of(sessions)?;
    Ok(Elbow { sessions, throughput_per_s, best_sessions, best_throughput_per_s })
}

/// The elbow of a resampled calibration, looked for from that of the calibration itself on; its best sessions are
/// taken to be the same.
///
/// # Errors
/// Those of the simulation.
pub fn elbow_near(
    mut asking: Asking<'_>,
    scenario: &Scenario,
    of_point: &Elbow,
) -> Result<i64, Refused> {
    let mut of = |sessions: i64| looping(&mut asking, scenario, sessions, OF_REPLICATE);
    let goal = ELBOW * of(of_point.best_sessions)?;
    first_near(of_point.sessions, of_point.best_sessions, |sessions| Ok(of(sessions)? >= goal))
}

fn looping(
    asking: &mut Asking<'_>,
    scenario: &Scenario,
    sessions: i64,
    (commits, each): (u64, u64),
) -> Result<f64, Refused> {
    let asked = Scenario { sessions, arrival_rate_per_s: None, ..scenario.clone() };
    asking.throughput(&asked, at_least(commits, each, &asked))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::server;

    #[test]
    fn it_gives_the_share_and_a_fifth_fewer_sessions_do_not() {
        let calibration = server();
        let scenario = Scenario { rows_per_commit: 32, ..Scenario::new(8) };
        let mut wanted = || true;
        let asking = Asking { calibration: &calibration, wanted: &mut wanted };
        let found = elbow(asking, &scenario).unwrap();
        let goal = ELBOW * found.best_throughput_per_s;
        assert!(found.throughput_per_s >= goal && found.sessions <= found.best_sessions);
        let mut wanted = || true;
        let mut asking = Asking { calibration: &calibration, wanted: &mut wanted };
        let fewer = looping(&mut asking, &scenario, found.sessions * 4 / 5, OF_POINT).unwrap();
        assert!(fewer < goal, "{found:?} {fewer}");
        // Of the same costs the answer is the same, but for what a shorter stretch leaves open.
        let again = elbow_near(asking, &scenario, &found).unwrap();
        assert!((again - found.sessions).abs() <= 2 + found.sessions / 4, "{found:?} {again}");
    }
}
