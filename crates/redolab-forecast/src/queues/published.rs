//! The published response-time curves, of work that arrives whatever becomes of it.
//!
//! L is the arrival rate, S the service time and R the response time, M the number of servers. Any unit of time
//! will do if all share it.
//!
//! Source: Craig Shallahamer, "Forecasting Oracle Performance" and OraPub (2010-2012).

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
    fn at_saturation_there_is_no_value() {
        let text = "S L / M is 1; the curve needs it below 1".to_owned();
        assert_eq!(response_time_cpu(1.0, 2.0, 2.0), Err(Refused::Invalid(text)));
        assert!(response_time_io(1.0, 3.0, 2.0).is_err());
        assert!(response_time_io(1.0, f64::NAN, 2.0).is_err());
        assert!(response_time_io(1.0, -1.0, 2.0).is_err());
    }
}
