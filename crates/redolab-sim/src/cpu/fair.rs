//! In which order those who wait at a CPU have it: Linux's fair scheduler, all of equal weight.
//!
//! Each CPU has a clock, the mean of the CPU time that those who are there have had on it. Who has had no more
//! than that is eligible; of them the one comes next whose request, a quantum, will be used up first. What is
//! left of a request outlives a sleep, so that the order has nothing to do with who waits longest.
//!
//! Source: kernel/sched/fair.c of Linux 6.18 (`avg_vruntime`, `place_entity`, `pick_eevdf`,
//! `check_preempt_wakeup_fair`); Stoica and Abdel-Wahab, Earliest Eligible Virtual Deadline First, 1995.

use super::request::Ready;
use super::server::Server;

/// CPU time of one process, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Account {
    /// On the clock of the CPU where it is, or was last.
    had: i64,
    /// What that was short of the mean when it left the CPU; below 0 where it was more.
    lag: i64,
    /// Left of its request.
    left: i64,
}

/// What the scheduler knows of processes and CPUs.
#[derive(Debug)]
pub struct Fair {
    accounts: Vec<Account>,
    /// Of each CPU: the sum over those who wait there of what they have had.
    sums: Vec<i64>,
    /// Of each CPU: its clock when it went idle. Nobody is behind others then.
    clocks: Vec<i64>,
    quantum: i64,
}

impl Fair {
    #[expect(clippy::cast_possible_wrap, reason = "an hour at the most")]
    pub fn new(quantum_ns: u64, servers: usize, processes: usize) -> Self {
        let quantum = quantum_ns as i64;
        // Who has run for a while is anywhere in his request.
        let left = |process: usize| quantum - quantum * process as i64 / processes as i64;
        Self {
            accounts: (0..processes)
                .map(|process| Account { had: 0, lag: 0, left: left(process) })
                .collect(),
            sums: vec![0; servers],
            clocks: vec![0; servers],
            quantum,
        }
    }

    /// What a process has had of its request.
    #[expect(clippy::cast_sign_loss, reason = "from 0 to below a quantum")]
    pub fn used_ns(&self, process: u32) -> u64 {
        (self.quantum - self.accounts[process as usize].left) as u64
    }

    /// A process has had CPU time.
    #[expect(clippy::cast_possible_wrap, reason = "an hour at the most")]
    pub fn charge(&mut self, process: u32, ns: u64) {
        let account = &mut self.accounts[process as usize];
        account.had += ns as i64;
        account.left -= ns as i64;
        if account.left <= 0 {
            // An interrupt can be longer than a request.
            account.left = self.quantum - (-account.left).rem_euclid(self.quantum);
        }
    }

    /// The clock of a CPU: the mean over those who are there.
    fn clock(&self, server: u32, on: &Server) -> i64 {
        let mut sum = self.sums[server as usize];
        if on.busy {
            sum += self.accounts[on.process as usize].had;
        }
        match count(on) {
            0 => self.clocks[server as usize],
            count => sum.div_euclid(count),
        }
    }

    /// A process that was away comes to a CPU, whose process is charged. It does not wait yet.
    ///
    /// Who has had less than the mean is as much short of it again.
    pub fn arrives(&mut self, process: u32, server: u32, on: &Server) {
        let (clock, count) = (self.clock(server, on), count(on));
        let account = &mut self.accounts[process as usize];
        // It is part of the mean itself.
        let lag = if count == 0 { 0 } else { account.lag * (count + 1) / count };
        account.had = clock - lag;
    }

    /// A process begins to wait.
    pub fn waits(&mut self, process: u32, server: u32) {
        self.sums[server as usize] += self.accounts[process as usize].had;
    }

    /// A process waits no more.
    pub fn waits_no_more(&mut self, process: u32, server: u32) {
        self.sums[server as usize] -= self.accounts[process as usize].had;
    }

    /// The process of a CPU goes to sleep, and is charged.
    pub fn leaves(&mut self, process: u32, server: u32, on: &Server) {
        let clock = self.clock(server, on);
        let account = &mut self.accounts[process as usize];
        self.clocks[server as usize] = self.clocks[server as usize].max(account.had);
        account.lag = (clock - account.had).min(self.quantum);
    }

    /// A process that waits at one CPU comes to another, where it does not wait yet.
    pub fn moves(&mut self, process: u32, from: (u32, &Server), to: (u32, &Server)) {
        let had = self.accounts[process as usize].had;
        self.accounts[process as usize].lag = self.clock(from.0, from.1) - had;
        self.sums[from.0 as usize] -= had;
        self.arrives(process, to.0, to.1);
    }

    /// Who comes next of those who wait at a CPU: his place in the queue.
    pub fn first(&self, server: u32, on: &Server) -> Option<usize> {
        let clock = self.clock(server, on);
        let account = |ready: &Ready| &self.accounts[ready.process as usize];
        let waits = on.ready.iter().enumerate();
        let eligible = waits.filter(|(_, ready)| account(ready).had <= clock);
        let deadline = |ready: &Ready| account(ready).had + account(ready).left;
        eligible.min_by_key(|(_, ready)| deadline(ready)).map(|(place, _)| place)
    }

    /// Whether the last in a CPU's queue takes the place of the one who is on it, who is charged.
    pub fn preempts(&self, server: u32, on: &Server) -> bool {
        let over = self.accounts[on.process as usize].had > self.clock(server, on);
        over && self.first(server, on) == Some(on.ready.len() - 1)
    }
}

/// How many are at a CPU.
#[expect(clippy::cast_possible_wrap, reason = "few are there")]
fn count(on: &Server) -> i64 {
    (on.ready.len() + usize::from(on.busy)) as i64
}
