//! On which CPU who wakes up waits: what was seen of Linux 6.18.
//!
//! Source: kernel/sched/fair.c (`select_task_rq_fair`, `select_idle_sibling`), and the
//! scheduler's own events while PostgreSQL commits (`docs/decisions/0007-forecast-calibration.md`).

use super::{By, Server};
use crate::parameters::Parameters;

/// Utilization is forgotten by half in this time (PELT, kernel/sched/pelt.c).
const HALF_LIFE_NS: f64 = 32e6;

/// By how much less another CPU may have to do than the waker's and the process goes there all the same
/// (`imbalance_pct` of 117, of which half).
const BIAS: f64 = 1.085;

/// What the scheduler remembers.
#[derive(Debug)]
pub struct Placement {
    /// On which server each process was last.
    pub last: Vec<u32>,
    /// Share of the servers' time that they were busy lately, 0 to 1.
    utilization: f64,
    /// Of all servers, since it was looked at last.
    idle_ns: u64,
    looked_ns: u64,
    /// How much one look adds to `utilization`.
    weight: f64,
    /// Mean number of processes that were on each server or waited there lately.
    loads: Vec<f64>,
    sessions: f64,
    device_cpu: Option<u32>,
    halt_after_ns: u64,
    spread_below: f64,
}

impl Placement {
    #[expect(clippy::cast_precision_loss, reason = "an interval is short")]
    pub fn new(parameters: &Parameters, servers: u32, processes: u32) -> Self {
        // Threads of a client come last in the numbers. They are away from their first sessions: where both
        // work, the scheduler has moved them apart.
        let threads = if parameters.statements > 0 { parameters.client_threads } else { 0 };
        let sessions = processes - threads;
        let last = (0..processes)
            .map(|process| if process < sessions { process } else { process - sessions + 1 } % servers)
            .collect();
        Self {
            last,
            utilization: 0.0,
            idle_ns: 0,
            looked_ns: 0,
            weight: 1.0 - libm::exp2(-(parameters.balance_ns as f64) / HALF_LIFE_NS),
            loads: vec![0.0; servers as usize],
            sessions: f64::from(parameters.sessions),
            device_cpu: parameters.device_cpu,
            halt_after_ns: parameters.halt_after_ns,
            spread_below: parameters.spread_below,
        }
    }

    /// Where one goes who asks for a CPU.
    pub fn of(&self, process: u32, by: By, servers: &[Server], now_ns: u64) -> u32 {
        let last = self.last[process as usize];
        let here = match by {
            By::Device => self.device_cpu,
            By::Another { waker } | By::Client { waker, .. } => Some(self.last[waker as usize]),
            By::Itself | By::Timer | By::Server { .. } => None,
        };
        let is_idle = |server: u32| !servers[server as usize].busy;
        // An interrupt on a CPU that idles: the scheduler takes that CPU to be awake, and no other.
        if let Some(here) = here.filter(|&here| by == By::Device && is_idle(here)) {
            return here;
        }
        let is_awake = |on: &Server| !on.busy && on.idled_ns(now_ns) <= self.halt_after_ns;
        if is_awake(&servers[last as usize]) {
            return last;
        }
        // Who sends and has his CPU to himself is taken to sleep at once.
        let is_alone = |here: u32| servers[here as usize].ready.is_empty();
        if let Some(here) = here.filter(|&here| matches!(by, By::Client { .. }) && is_alone(here)) {
            return here;
        }
        if self.utilization < self.spread_below {
            if let Some((other, _)) = (0_u32..).zip(servers).find(|(_, on)| is_awake(on)) {
                return other;
            }
        }
        match here {
            Some(here) if !matches!(by, By::Client { .. }) && self.is_lighter(here, last) => here,
            _ => last,
        }
    }

    /// Whether one server would have less to do with one process more than another with one less.
    fn is_lighter(&self, here: u32, last: u32) -> bool {
        let each = self.loads.iter().sum::<f64>() / self.sessions;
        let [here, last] = [here, last].map(|server| self.loads[server as usize]);
        here + each < BIAS * (last - each)
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
        for (load, on) in self.loads.iter_mut().zip(servers) {
            let there = (on.ready.len() + usize::from(on.busy)) as f64;
            *load += self.weight * (there - *load);
        }
        (self.idle_ns, self.looked_ns) = (0, now_ns);
    }
}
