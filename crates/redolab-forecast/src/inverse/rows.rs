//! How many rows per commit are enough.

use std::collections::BTreeMap;

use crate::costs::scenario::Scenario;
use crate::inverse::asking::{Asking, Effort, at_least};
use crate::inverse::search::first;
use crate::refused::Refused;
use crate::text::general;

/// Rows per commit taken for very many.
const MANY_ROWS: i64 = 4096;
/// The part of the time per row of one row per commit below which a benefit cannot be told from none.
const LEAST_SAVED: f64 = 0.01;
/// Commits of each session at least.
const EACH: u64 = 20;

/// The fewest rows per commit that save enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rows {
    /// Those rows.
    pub rows_per_commit: i64,
    /// Rows per second with them.
    pub rows_per_s: f64,
    /// Rows per second with one row per commit.
    pub rows_per_s_of_one: f64,
    /// Rows per second with very many.
    pub rows_per_s_of_many: f64,
}

/// The fewest rows per commit that save `share` (0 to 1) of the time per row that very many save.
///
/// Very many are 4,096, compared with one. Sessions loop: arrivals are left out.
///
/// # Errors
/// A share that is not between 0 and 1, very many rows that save hardly anything, the cost of a row that is not known,
/// or those of the simulation.
pub fn fewest_rows(
    mut asking: Asking<'_>,
    scenario: &Scenario,
    share: f64,
    effort: Effort,
) -> Result<Rows, Refused> {
    if !(share > 0.0 && share < 1.0) {
        let given = general(share);
        return Err(Refused::Invalid(format!(
            "the share of the benefit is {given}; it must lie between 0 and 1"
        )));
    }
    let least = match effort {
        Effort::Full => 20_000,
        Effort::Quick => 4_000,
    };
    let mut known = BTreeMap::new();
    let mut row_s = |rows: i64| -> Result<f64, Refused> {
        if let Some(&found) = known.get(&rows) {
            return Ok(found);
        }
        let asked =
            Scenario { rows_per_commit: rows, arrival_rate_per_s: None, ..scenario.clone() };
        let commits = at_least(least, EACH, &asked);
        let found = 1.0 / (float(rows) * asking.throughput(&asked, commits)?);
        known.insert(rows, found);
        Ok(found)
    };
    let (one, many) = (row_s(1)?, row_s(MANY_ROWS)?);
    if many > (1.0 - LEAST_SAVED) * one {
        let text = "very many rows per commit save less than 1 % of the time per row of one";
        return Err(Refused::NoAnswer(text.to_owned()));
    }
    let goal = one - share * (one - many);
    let mut high = 2;
    while high < MANY_ROWS && row_s(high)? > goal {
        high *= 2;
    }
    let rows_per_commit = first(high / 2 + 1, high, |rows| Ok(row_s(rows)? <= goal))?;
    Ok(Rows {
        rows_per_commit,
        rows_per_s: 1.0 / row_s(rows_per_commit)?,
        rows_per_s_of_one: 1.0 / one,
        rows_per_s_of_many: 1.0 / many,
    })
}

#[expect(clippy::cast_precision_loss, reason = "at most 4,096")]
fn float(rows: i64) -> f64 {
    rows as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::server;

    fn fewest(share: f64) -> Result<Rows, Refused> {
        let calibration = server();
        let mut wanted = || true;
        let asking = Asking { calibration: &calibration, wanted: &mut wanted };
        fewest_rows(asking, &Scenario::new(1), share, Effort::Quick)
    }

    #[test]
    fn the_rows_of_a_lone_session_follow_from_its_costs() {
        // A commit costs the same whatever it holds, so n rows save (1 - 1 / n) of what very many save.
        let found = fewest(0.85).unwrap();
        assert_eq!(found.rows_per_commit, 7);
        let (one, many) = (1.0 / found.rows_per_s_of_one, 1.0 / found.rows_per_s_of_many);
        let saved = (one - 1.0 / found.rows_per_s) / (one - many);
        assert!((saved - 6.0 / 7.0).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn a_share_that_is_none_is_refused() {
        let text = "the share of the benefit is nan; it must lie between 0 and 1".to_owned();
        assert_eq!(fewest(f64::NAN), Err(Refused::Invalid(text)));
        assert!(fewest(0.0).is_err() && fewest(1.0).is_err());
    }
}
