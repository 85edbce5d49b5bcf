//! Open queues with random arrivals: M/M/1 and M/M/m, exactly.
//!
//! L is the arrival rate, S the mean service time, m the number of servers. Any unit of time will do if all
//! share it.

use crate::refused::Refused;
use crate::text::general;

/// Halvings after which a bisection has no bit left to find.
const HALVINGS: u32 = 200;

/// The steady state of an M/M/m queue; times in the unit of the service time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenQueue {
    /// Units of work per time.
    pub arrival_rate: f64,
    /// Mean time of a server for a unit of work.
    pub service_time: f64,
    /// Number of servers.
    pub servers: i64,
    /// Share of each server's time that it is busy, 0 to 1.
    pub utilization: f64,
    /// Share of arrivals that find every server busy.
    pub waiting_probability: f64,
    /// Mean time before service begins.
    pub queue_time: f64,
    /// Mean time in all.
    pub response_time: f64,
}

impl OpenQueue {
    /// The time within which `share` (0 to 1) of the units of work are done, first come first served.
    ///
    /// Source: Kleinrock, Queueing Systems, volume 1 (1975), section 5.12, for the waiting time; the response
    /// time is its sum with an exponential service time, inverted by bisection.
    ///
    /// # Errors
    /// `share` is not between 0 and 1.
    pub fn response_time_quantile(&self, share: f64) -> Result<f64, Refused> {
        if !(share > 0.0 && share < 1.0) {
            let given = general(share);
            return Err(Refused::Invalid(format!(
                "the share is {given}; it must lie between 0 and 1"
            )));
        }
        let (mut low, mut high) = (0.0, self.response_time);
        while self.longer_than(high) > 1.0 - share {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..HALVINGS {
            let middle = middle(low, high);
            if self.longer_than(middle) > 1.0 - share {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(middle(low, high))
    }

    /// Probability of a response time above `time`.
    fn longer_than(&self, time: f64) -> f64 {
        let rate = 1.0 / self.service_time;
        let drain = rate * (float(self.servers) - self.arrival_rate * self.service_time);
        let waits = self.waiting_probability;
        let served = libm::exp(-rate * time);
        if (drain - rate).abs() <= 1e-9 * drain.abs().max(rate.abs()) {
            return served * (1.0 + waits * rate * time);
        }
        // Waiting is exponential with rate `drain` where it happens; service with `rate`.
        let both = (drain * served - rate * libm::exp(-drain * time)) / (drain - rate);
        (1.0 - waits) * served + waits * both
    }
}

/// Share of arrivals turned away by `servers` without a queue, for `offered` = L S.
///
/// Source: A. K. Erlang (1917); the recursion in the number of servers is the usual stable one.
///
/// # Errors
/// No servers, or a negative load.
pub fn erlang_b(servers: i64, offered: f64) -> Result<f64, Refused> {
    if servers < 1 {
        return Err(Refused::Invalid(format!(
            "there are {servers} servers; there must be at least one"
        )));
    }
    if !(offered >= 0.0 && offered.is_finite()) {
        let given = general(offered);
        return Err(Refused::Invalid(format!("the load L S is {given}; it must be 0 or more")));
    }
    Ok((1..=servers)
        .fold(1.0, |blocked, count| offered * blocked / (float(count) + offered * blocked)))
}

/// Share of arrivals that wait, with `servers` and one queue, for `offered` = L S.
///
/// Source: A. K. Erlang (1917), by way of `erlang_b`.
///
/// # Errors
/// No servers, a negative load, or one that reaches the number of servers.
pub fn erlang_c(servers: i64, offered: f64) -> Result<f64, Refused> {
    let blocked = erlang_b(servers, offered)?;
    let count = float(servers);
    if offered >= count {
        return Err(Refused::NoSteadyState(format!(
            "no steady state: the load L S = {} reaches the {servers} servers",
            general(offered)
        )));
    }
    Ok(count * blocked / (count - offered * (1.0 - blocked)))
}

/// The M/M/m queue; M/M/1 with one server.
///
/// Source: Kleinrock, Queueing Systems, volume 1 (1975), chapter 3.
///
/// # Errors
/// A rate, time or number that cannot be, or work that arrives at least as fast as it can be done.
pub fn open_queue(
    arrival_rate: f64,
    service_time: f64,
    servers: i64,
) -> Result<OpenQueue, Refused> {
    if !(service_time > 0.0 && service_time.is_finite()) {
        let given = general(service_time);
        return Err(Refused::Invalid(format!(
            "the service time is {given}; it must be greater than 0"
        )));
    }
    if !(arrival_rate >= 0.0 && arrival_rate.is_finite()) {
        let given = general(arrival_rate);
        return Err(Refused::Invalid(format!("the arrival rate is {given}; it must be 0 or more")));
    }
    let offered = arrival_rate * service_time;
    let waiting_probability = erlang_c(servers, offered)?;
    let queue_time = waiting_probability * service_time / (float(servers) - offered);
    Ok(OpenQueue {
        arrival_rate,
        service_time,
        servers,
        utilization: offered / float(servers),
        waiting_probability,
        queue_time,
        response_time: queue_time + service_time,
    })
}

fn middle(low: f64, high: f64) -> f64 {
    f64::midpoint(low, high)
}

#[expect(clippy::cast_precision_loss, reason = "nobody has 2^53 servers")]
fn float(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one / other - 1.0).abs() < 1e-12
    }

    #[test]
    fn one_server_half_busy() {
        assert!(near(erlang_b(1, 0.5).unwrap(), 1.0 / 3.0));
        assert!(near(erlang_c(1, 0.5).unwrap(), 0.5));
        let queue = open_queue(0.5, 1.0, 1).unwrap();
        assert!(near(queue.response_time, 2.0) && near(queue.queue_time, 1.0));
        // Response times of M/M/1 are exponential.
        let quantile = queue.response_time_quantile(0.95).unwrap();
        assert!(near(quantile, -2.0 * libm::log(0.05)), "{quantile}");
    }

    #[test]
    fn two_servers_by_hand() {
        // Offered 1: B = (1/2) / (1 + 1 + 1/2), C = 2 B / (2 - (1 - B)).
        assert!(near(erlang_b(2, 1.0).unwrap(), 0.2));
        assert!(near(erlang_c(2, 1.0).unwrap(), 1.0 / 3.0));
        let queue = open_queue(1.0, 1.0, 2).unwrap();
        assert!(near(queue.queue_time, 1.0 / 3.0));
        // Waits drain as fast as work is served here: 1 - exp(-t) (1 + t / 3).
        let time = queue.response_time_quantile(0.9).unwrap();
        assert!(near(libm::exp(-time) * (1.0 + time / 3.0), 0.1));
    }

    #[test]
    fn what_cannot_be_is_named() {
        let invalid = |text: &str| Some(Refused::Invalid(text.to_owned()));
        assert_eq!(
            open_queue(1.0, 0.0, 1).err(),
            invalid("the service time is 0; it must be greater than 0")
        );
        assert_eq!(
            open_queue(-1.0, 1.0, 1).err(),
            invalid("the arrival rate is -1; it must be 0 or more")
        );
        assert_eq!(
            erlang_b(-2, 1.0).err(),
            invalid("there are -2 servers; there must be at least one")
        );
        assert_eq!(
            erlang_b(1, f64::NAN).err(),
            invalid("the load L S is nan; it must be 0 or more")
        );
        let full = "no steady state: the load L S = 2 reaches the 2 servers".to_owned();
        assert_eq!(erlang_c(2, 2.0).err(), Some(Refused::NoSteadyState(full)));
        let queue = open_queue(0.5, 1.0, 1).unwrap();
        assert_eq!(
            queue.response_time_quantile(1.0).err(),
            invalid("the share is 1; it must lie between 0 and 1")
        );
    }
}
