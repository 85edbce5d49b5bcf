//! Formulas of queues.

use pyo3::prelude::*;
use redolab_forecast::OpenQueue;

use crate::forecast::refused::raised;

/// `redolab.model.erlang.OpenQueue`.
#[derive(FromPyObject)]
pub struct Given {
    arrival_rate: f64,
    service_time: f64,
    servers: i64,
    utilization: f64,
    waiting_probability: f64,
    queue_time: f64,
    response_time: f64,
}

/// R = S / (1 - (S L / M)^M); raises ValueError where S L reaches M.
#[pyfunction]
fn response_time_cpu(service_time: f64, arrival_rate: f64, servers: f64) -> PyResult<f64> {
    redolab_forecast::response_time_cpu(service_time, arrival_rate, servers).map_err(raised)
}

/// R = S / (1 - S L / M); raises ValueError where S L reaches M.
#[pyfunction]
fn response_time_io(service_time: f64, arrival_rate: f64, servers: f64) -> PyResult<f64> {
    redolab_forecast::response_time_io(service_time, arrival_rate, servers).map_err(raised)
}

/// The M at which the published CPU curve passes through a measured point; None when no M does.
#[pyfunction]
fn solve_servers(service_time: f64, arrival_rate: f64, response_time: f64) -> Option<f64> {
    redolab_forecast::solve_servers(service_time, arrival_rate, response_time)
}

/// Share of arrivals turned away by servers without a queue; raises ValueError for what cannot be.
#[pyfunction]
fn erlang_b(servers: i64, offered: f64) -> PyResult<f64> {
    redolab_forecast::erlang_b(servers, offered).map_err(raised)
}

/// Share of arrivals that wait; raises ValueError for what cannot be, and NoSteadyStateError where the load
/// reaches the number of servers.
#[pyfunction]
fn erlang_c(servers: i64, offered: f64) -> PyResult<f64> {
    redolab_forecast::erlang_c(servers, offered).map_err(raised)
}

/// Of an M/M/m queue: utilization, share of arrivals that wait, queue time and response time; raises as
/// erlang_c does.
#[pyfunction]
fn open_queue(
    arrival_rate: f64,
    service_time: f64,
    servers: i64,
) -> PyResult<(f64, f64, f64, f64)> {
    let queue =
        redolab_forecast::open_queue(arrival_rate, service_time, servers).map_err(raised)?;
    Ok((queue.utilization, queue.waiting_probability, queue.queue_time, queue.response_time))
}

/// The time within which a share of the units of work are done; raises ValueError for a share that is none.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python passes is converted")]
fn response_time_quantile(queue: Given, share: f64) -> PyResult<f64> {
    let queue = OpenQueue {
        arrival_rate: queue.arrival_rate,
        service_time: queue.service_time,
        servers: queue.servers,
        utilization: queue.utilization,
        waiting_probability: queue.waiting_probability,
        queue_time: queue.queue_time,
        response_time: queue.response_time,
    };
    queue.response_time_quantile(share).map_err(raised)
}

/// Everything of this module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(response_time_cpu, module)?)?;
    module.add_function(wrap_pyfunction!(response_time_io, module)?)?;
    module.add_function(wrap_pyfunction!(solve_servers, module)?)?;
    module.add_function(wrap_pyfunction!(erlang_b, module)?)?;
    module.add_function(wrap_pyfunction!(erlang_c, module)?)?;
    module.add_function(wrap_pyfunction!(open_queue, module)?)?;
    module.add_function(wrap_pyfunction!(response_time_quantile, module)?)?;
    Ok(())
}
