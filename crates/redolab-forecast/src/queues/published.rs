//! The published response-time curves, of work that arrives whatever becomes of it.
//!
//! L is the arrival rate, S the service time and R the response time, M the number of servers. Any unit of time
//! will do if all share it.
//!
//! Source: Craig Shallahamer, "Forecasting Oracle Performance" and OraPub (2010-2012).

use crate::queues::lambert::lambert_w;
use crate::refused::Refused;
use crate::text::general;

/// R = S / (1 - (S L / M)^M): one queue before M servers, the published curve for CPU.
///
/// # Errors
/// S L reaches M, where the curve has no finite value.
pub fn response_time_cpu(
    service_time: f64,
    arrival_rate: f64,
    servers: f64,
) -> Result<f64, Refused> {
    let busy = utilization(service_time, arrival_rate, servers)?;
    if busy == 0.0 {
        return Ok(service_time);
    }
    Ok(service_time / -libm::expm1(servers * libm::log(busy)))
}

/// R = S / (1 - S L / M): a queue before each of M servers, the published curve for I/O; M/M/1 with one.
///
/// # Errors
/// S L reaches M, where the curve has no finite value.
pub fn response_time_io(
    service_time: f64,
    arrival_rate: f64,
    servers: f64,
) -> Result<f64, Refused> {
    Ok(service_time / (1.0 - utilization(service_time, arrival_rate, servers)?))
}

/// The M at which the published CPU curve passes through a measured (L, R).
///
/// With q = 1 - S / R the curve says (S L / M)^M = q, so M = -ln q / W(-ln q / (S L)), W being Lambert's function. None
/// when no M does: R not above S, or nothing arrives.
#[must_use]
pub fn solve_servers(service_time: f64, arrival_rate: f64, response_time: f64) -> Option<f64> {
    let busy = service_time * arrival_rate;
    if !(service_time > 0.0 && busy > 0.0 && response_time > service_time) {
        return None;
    }
    let free = -libm::log1p(-service_time / response_time);
    // R so little above S, or so far, that their ratio is 1 or 0.
    if !free.is_finite() || free == 0.0 {
        return None;
    }
    Some(free / lambert_w(free / busy))
}

/// Share of each server's time that it is busy, at least 0 and below 1.
fn utilization(service_time: f64, arrival_rate: f64, servers: f64) -> Result<f64, Refused> {
    let share = service_time * arrival_rate / servers;
    if (0.0..1.0).contains(&share) {
        Ok(share)
    } else {
        Err(Refused::Invalid(format!("S L / M is {}; the curve needs it below 1", general(share))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one / other - 1.0).abs() < 1e-14
    }

    #[test]
    fn one_server_is_the_single_queue() {
        // Half busy: twice the service time, on either curve.
        assert!(near(response_time_cpu(1.0, 0.5, 1.0).unwrap(), 2.0));
        assert!(near(response_time_io(1.0, 0.5, 1.0).unwrap(), 2.0));
    }

    #[test]
    fn two_servers_share_a_queue_or_have_one_each() {
        assert!(near(response_time_cpu(1.0, 1.0, 2.0).unwrap(), 4.0 / 3.0));
        assert!(near(response_time_io(1.0, 1.0, 2.0).unwrap(), 2.0));
    }

    #[test]
    fn where_nothing_arrives_nothing_queues() {
        assert_eq!(response_time_cpu(0.3, 0.0, 2.0), Ok(0.3));
    }

    #[test]
    fn the_solved_number_of_servers_is_the_one_used() {
        for servers in [0.02, 0.7, 1.0, 1.4, 8.0, 64.0] {
            let (service, arrivals) = (0.01, 80.0 * servers);
            let response = response_time_cpu(service, arrivals, servers).unwrap();
            let solved = solve_servers(service, arrivals, response).unwrap();
            assert!((solved / servers - 1.0).abs() < 1e-7, "{servers}: {solved}");
        }
        for (service, rate, response) in [
            (1.0, 0.5, 1.0),
            (1.0, 0.5, 0.9),
            (0.0, 1.0, 1.0),
            (1.0, 0.0, 2.0),
            (1.0, 0.5, f64::INFINITY),
        ] {
            assert_eq!(solve_servers(service, rate, response), None);
        }
    }

    #[test]
    fn at_saturation_there_is_no_value() {
        let text = "S L / M is 1; the curve needs it below 1".to_owned();
        assert_eq!(response_time_cpu(1.0, 2.0, 2.0), Err(Refused::Invalid(text)));
        assert!(response_time_io(1.0, 3.0, 2.0).is_err());
        assert!(response_time_io(1.0, f64::NAN, 2.0).is_err());
        assert!(response_time_io(1.0, -1.0, 2.0).is_err());
    }
}
