//! On which CPU who wakes up waits, and whom a CPU that runs dry takes over: what was seen of Linux 6.18.
//!
//! Source: kernel/sched/fair.c (`select_task_rq_fair`, `select_idle_sibling`, `sched_balance_newidle`), and the
//! scheduler's own events while PostgreSQL commits (`docs/decisions/0007-forecast-calibration.md`).

use super::{By, Ready, Server};
use crate::parameters::Parameters;

/// Utilization is forgotten by half in this time (PELT, kernel/sched/pelt.c).
const HALF_LIFE_NS: f64 = 32e6;
/// An idle time counts no more than this in the mean of a CPU, and an eighth of it.
const MOST_IDLE_NS: u64 = 1_000_000;

/// What the scheduler remembers.
#[derive(Debug)]
pub struct Placement {
    /// On which server each process was last.
    pub last: Vec<u32>,
    /// When each process was last on one.
    ran_ns: Vec<u64>,
    /// How long each server idles at a time.
    usual_idle_ns: Vec<u64>,
    /// Share of the servers' time that they were busy lately, 0 to 1.
    utilization: f64,
    /// Of all servers, since it was looked at last.
    idle_ns: u64,
    looked_ns: u64,
    /// How much one look adds to `utilization`.
    weight: f64,
    device_cpu: Option<u32>,
    spread_below: f64,
    pull_after_ns: u64,
    hot_ns: u64,
    imbalance: u32,
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
            ran_ns: vec![0; processes as usize],
            usual_idle_ns: vec![0; servers as usize],
            utilization: 0.0,
            idle_ns: 0,
            looked_ns: 0,
            weight: 1.0 - libm::exp2(-(parameters.balance_ns as f64) / HALF_LIFE_NS),
            device_cpu: parameters.device_cpu,
            spread_below: parameters.spread_below,
            pull_after_ns: parameters.pull_after_ns,
            hot_ns: parameters.hot_ns,
            imbalance: parameters.imbalance,
        }
    }

    /// Where one goes who asks for a CPU.
    pub fn of(
        &self,
        process: u32,
        by: By,
        halt_after_ns: u64,
        servers: &[Server],
        now_ns: u64,
    ) -> u32 {
        // An interrupt on a CPU that idles: the scheduler takes that CPU to be awake, and no other.
        if matches!(by, By::Device { .. }) {
            if let Some(here) = self.device_cpu.filter(|&here| !servers[here as usize].busy) {
                return here;
            }
        }
        let last = self.last[process as usize];
        if !servers[last as usize].busy {
            return last;
        }
        if self.utilization < self.spread_below {
            let awake = |server: &Server| !server.busy && server.idled_ns(now_ns) <= halt_after_ns;
            if let Some((other, _)) = (0_u32..).zip(servers).find(|(_, server)| awake(server)) {
                return other;
            }
        }
        if matches!(by, By::OtherSide { .. }) {
            return last;
        }
        let here = servers[last as usize].ready.len() + 1;
        let there = |server: &Server| server.ready.len() + usize::from(server.busy);
        match (0_u32..).zip(servers).min_by_key(|(_, server)| there(server)) {
            Some((other, server)) if here > there(server) + self.imbalance as usize => other,
            _ => last,
        }
    }

    /// A process is on no server any more.
    pub fn left(&mut self, process: u32, now_ns: u64) {
        self.ran_ns[process as usize] = now_ns;
    }

    /// A server idles no more.
    pub fn idled(&mut self, server: u32, since_ns: u64, now_ns: u64) {
        self.idle_ns += now_ns - since_ns.max(self.looked_ns);
        let usual_ns = &mut self.usual_idle_ns[server as usize];
        *usual_ns = (7 * *usual_ns + (now_ns - since_ns).min(MOST_IDLE_NS)) / 8;
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

    /// Whom a server that runs dry takes over: of those who have not run for long, the one longest ago. It
    /// does not look for any if it seldom idles for long.
    pub fn pull(&self, server: u32, servers: &mut [Server], now_ns: u64) -> Option<Ready> {
        if self.usual_idle_ns[server as usize] < self.pull_after_ns {
            return None;
        }
        let (_, from, place) = (0_usize..)
            .zip(&*servers)
            .flat_map(|(from, on)| {
                let ready = on.ready.iter().enumerate();
                ready.map(move |(place, who)| (self.ran_ns[who.process as usize], from, place))
            })
            .filter(|(ran_ns, ..)| now_ns - ran_ns > self.hot_ns)
            .min()?;
        servers[from].ready.remove(place)
    }
}
