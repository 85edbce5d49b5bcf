//! On which CPU who wakes up waits: what was seen of Linux 6.18.
//!
//! Source: kernel/sched/fair.c (`select_task_rq_fair`, `select_idle_sibling`), and the
//! scheduler's own events while PostgreSQL commits (`docs/decisions/0007-forecast-calibration.md`).

use std::collections::VecDeque;

use super::load::HALF_LIFE_NS;
use super::request::{By, Ready};
use super::server::Server;
use crate::parameters::Parameters;

/// Who had a CPU less than so long ago finds his caches there: `sysctl_sched_migration_cost`.
const HOT_NS: u64 = 500_000;
/// He is taken over too after so many looks in a row that found nobody else: `cache_nice_tries`.
const HOT_LOOKS: u32 = 2;

/// What the scheduler remembers.
#[derive(Debug)]
pub struct Placement {
    /// On which server each process was last.
    pub last: Vec<u32>,
    /// When each process left a CPU.
    left_ns: Vec<u64>,
    /// Looks in a row that found only those who had a CPU lately.
    pub looks_in_vain: u32,
    /// Share of the servers' time that they were busy lately, 0 to 1.
    utilization: f64,
    /// Of all servers, since it was looked at last.
    idle_ns: u64,
    looked_ns: u64,
    /// How much one look adds to `utilization`.
    weight: f64,
    pub device_cpu: Option<u32>,
    halt_after_ns: u64,
    spread_below: f64,
    fetch_below: f64,
    /// The first of a client's threads: they come last in the numbers.
    first_thread: u32,
}

impl Placement {
    #[expect(clippy::cast_precision_loss, reason = "an interval is short")]
    pub fn new(parameters: &Parameters, servers: u32, processes: u32) -> Self {
        // A client's threads are away from their first sessions: where both work, the scheduler has moved them
        // apart.
        let threads = if parameters.statements > 0 { parameters.client_threads } else { 0 };
        let first_thread = processes - threads;
        let last = (0..processes)
            .map(|process| if process < first_thread { process } else { process - first_thread + 1 } % servers)
            .collect();
        Self {
            left_ns: vec![0; processes as usize],
            looks_in_vain: 0,
            last,
            // Neither little nor much, until it is known.
            utilization: 0.5,
            idle_ns: 0,
            looked_ns: 0,
            weight: 1.0 - libm::exp2(-(parameters.balance_s.ns() as f64) / HALF_LIFE_NS),
            device_cpu: parameters.device_cpu,
            halt_after_ns: parameters.halt_after_s.ns(),
            spread_below: parameters.spread_below,
            fetch_below: parameters.fetch_below,
            first_thread,
        }
    }

    /// Where one goes who asks for a CPU.
    pub fn of(&self, process: u32, by: By, servers: &[Server], now_ns: u64) -> u32 {
        // An interrupt on a CPU that idles: the scheduler takes that CPU to be awake, and no other.
        if by == By::Device {
            if let Some(here) = self.device_cpu.filter(|&here| !servers[here as usize].busy) {
                return here;
            }
        }
        let last = self.last[process as usize];
        let there = &servers[last as usize];
        if !there.busy {
            return self.fetched_by(by).unwrap_or(last);
        }
        if self.utilization < self.spread_below {
            let awake =
                |server: &Server| !server.busy && server.idled_ns(now_ns) <= self.halt_after_ns;
            if let Some((other, _)) = (0_u32..).zip(servers).find(|(_, server)| awake(server)) {
                return other;
            }
        }
        last
    }

    /// The CPU of the client of a server whose own idles, while CPUs are so little used that the two share one.
    fn fetched_by(&self, by: By) -> Option<u32> {
        let By::OtherSide { waker, .. } = by else { return None };
        let fetched = waker >= self.first_thread && self.utilization < self.fetch_below;
        fetched.then(|| self.last[waker as usize])
    }

    /// A process has its CPU no more.
    pub fn leaves(&mut self, process: u32, now_ns: u64) {
        self.left_ns[process as usize] = now_ns;
    }

    /// Which place of another's queue a server that idles takes over, if it does.
    pub fn takes_over(&mut self, ready: &VecDeque<Ready>, now_ns: u64) -> Option<usize> {
        let cold = |ready: &Ready| now_ns - self.left_ns[ready.process as usize] >= HOT_NS;
        let place =
            if self.looks_in_vain < HOT_LOOKS { ready.iter().position(cold) } else { Some(0) };
        self.looks_in_vain = if place.is_none() { self.looks_in_vain + 1 } else { 0 };
        place
    }

    /// A server idles no more.
    pub fn idled(&mut self, since_ns: u64, now_ns: u64) {
        self.idle_ns += now_ns - since_ns.max(self.looked_ns);
    }

    /// Bring the utilization up to date.
    #[expect(clippy::cast_precision_loss, reason = "an interval is short")]
    pub fn look(&mut self, servers: &[Server], now_ns: u64) {
        let idling = servers.iter().filter(|server| !server.busy);
        let idle_ns: u64 =
            idling.map(|server| now_ns - server.idle_since_ns.max(self.looked_ns)).sum();
        let elapsed_ns = (now_ns - self.looked_ns) * servers.len() as u64;
        let used = 1.0 - (self.idle_ns + idle_ns) as f64 / elapsed_ns as f64;
        self.utilization += self.weight * (used - self.utilization);
        (self.idle_ns, self.looked_ns) = (0, now_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    #[test]
    fn a_server_is_fetched_by_its_client_where_use_is_low() {
        let mut parameters = Parameters::new(2);
        parameters.statements = 1;
        parameters.fetch_below = 0.5;
        parameters.balance_s = Span::from(1e-3);
        let mut placement = Placement::new(&parameters, 2, 3);
        let [session, other, thread] = [0, 1, 2];
        assert_eq!(placement.last, [0, 1, 1]);
        let other_side = |waker| By::OtherSide { waker, exit_ns: 0 };
        let idle = [Server::default(), Server::default()];
        assert_eq!(placement.of(session, other_side(thread), &idle, 1), 0);
        placement.utilization = 0.49;
        assert_eq!(placement.of(session, other_side(thread), &idle, 1), 1);
        assert_eq!(placement.of(thread, other_side(session), &idle, 1), 1);
        assert_eq!(placement.of(session, By::Session { waker: other }, &idle, 1), 0);
        let busy = [Server { busy: true, ..Server::default() }, Server::default()];
        assert_eq!(placement.of(session, other_side(thread), &busy, 1), 0);
        placement.utilization = 0.5;
        assert_eq!(placement.of(session, other_side(thread), &idle, 1), 0);
    }
}
