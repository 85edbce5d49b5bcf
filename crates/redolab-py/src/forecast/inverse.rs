//! Questions the other way round.

use pyo3::prelude::*;
use redolab_forecast::{Asking, Calibration, ELBOW, Effort, Elbow, Refused};

use crate::forecast::costs::{Asked, Costs};
use crate::forecast::refused::raised;
use crate::forecast::signals::Signals;

/// Ask the model while handlers of signals run; what they raise ends it.
fn asked<T: Send>(
    py: Python<'_>,
    calibration: &Calibration,
    question: impl FnOnce(Asking<'_>) -> Result<T, Refused> + Send,
) -> PyResult<T> {
    let mut signals = Signals::new();
    let mut wanted = || signals.are_quiet();
    py.detach(|| question(Asking { calibration, wanted: &mut wanted }))
        .map_err(|refused| signals.raised().unwrap_or_else(|| raised(refused)))
}

fn effort(again: bool) -> Effort {
    if again { Effort::Quick } else { Effort::Full }
}

/// The fewest sessions that give 95 % of the best throughput and that throughput, and the sessions with the best and
/// it; raises NoAnswerError where throughput still grows beyond what is forecast.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn elbow(py: Python<'_>, calibration: Costs, scenario: Asked) -> PyResult<(i64, f64, i64, f64)> {
    let found = asked(py, &calibration.0, |asking| redolab_forecast::elbow(asking, &scenario.0))?;
    Ok((found.sessions, found.throughput_per_s, found.best_sessions, found.best_throughput_per_s))
}

/// The elbow of a resampled calibration, looked for from what `elbow` says of the calibration itself on.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn elbow_near(
    py: Python<'_>,
    calibration: Costs,
    scenario: Asked,
    of_point: (i64, f64, i64, f64),
) -> PyResult<i64> {
    let (sessions, throughput_per_s, best_sessions, best_throughput_per_s) = of_point;
    let of_point = Elbow { sessions, throughput_per_s, best_sessions, best_throughput_per_s };
    asked(py, &calibration.0, |asking| redolab_forecast::elbow_near(asking, &scenario.0, &of_point))
}

/// Sessions at which the asymptotic bounds of throughput meet when every commit has a flush of its own.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn bounds_elbow(calibration: Costs, scenario: Asked) -> PyResult<f64> {
    redolab_forecast::bounds_elbow(&calibration.0, &scenario.0).map_err(raised)
}

/// The number of sessions at which two bounds of throughput meet, of stations with demand and servers; raises
/// ValueError where none asks for any time.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn sessions_at_elbow(stations: Vec<(f64, f64)>, think_time: f64) -> PyResult<f64> {
    redolab_forecast::sessions_at_elbow(&stations, think_time).map_err(raised)
}

/// The largest arrival rate that keeps the 95th percentile of the response time under `limit_ms`, that percentile, and
/// the throughput of as many sessions in a loop; with less effort if asked `again` of a resampled calibration. Raises
/// NoAnswerError where no rate does.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn largest_arrival_rate(
    py: Python<'_>,
    calibration: Costs,
    scenario: Asked,
    limit_ms: f64,
    again: bool,
) -> PyResult<(f64, f64, f64)> {
    let found = asked(py, &calibration.0, |asking| {
        redolab_forecast::largest_arrival_rate(asking, &scenario.0, limit_ms, effort(again))
    })?;
    Ok((found.rate_per_s, found.response_time_ms_p95, found.looping_throughput_per_s))
}

/// The fewest rows per commit that save a share of the time per row that very many save, and rows per second with them,
/// with one and with very many; `again` as above. Raises NoAnswerError where very many save hardly anything.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn fewest_rows(
    py: Python<'_>,
    calibration: Costs,
    scenario: Asked,
    share: f64,
    again: bool,
) -> PyResult<(i64, f64, f64, f64)> {
    let found = asked(py, &calibration.0, |asking| {
        redolab_forecast::fewest_rows(asking, &scenario.0, share, effort(again))
    })?;
    Ok((found.rows_per_commit, found.rows_per_s, found.rows_per_s_of_one, found.rows_per_s_of_many))
}

/// The ends of an answer's interval, from what resampled calibrations answer; None where none does.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn answer_interval(point: f64, replicates: Vec<f64>) -> Option<(f64, f64)> {
    redolab_forecast::answer_interval(point, &replicates)
}

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ELBOW", ELBOW)?;
    module.add_function(wrap_pyfunction!(elbow, module)?)?;
    module.add_function(wrap_pyfunction!(elbow_near, module)?)?;
    module.add_function(wrap_pyfunction!(bounds_elbow, module)?)?;
    module.add_function(wrap_pyfunction!(sessions_at_elbow, module)?)?;
    module.add_function(wrap_pyfunction!(largest_arrival_rate, module)?)?;
    module.add_function(wrap_pyfunction!(fewest_rows, module)?)?;
    module.add_function(wrap_pyfunction!(answer_interval, module)?)
}
