//! In which order those who wait at a CPU have it: Linux's fair scheduler, all of equal weight.
//!
//! Each CPU has a clock, the mean of the CPU time that those who are there have had on it. Who has had no more
//! than that is eligible; of them the one comes next whose request, a quantum, will be used up first. What is
//! left of a request outlives a sleep, so that the order has nothing to do with who waits longest.
//!
//! Who goes to sleep with more than the mean stays in it, and at that CPU, until it would be his turn: so nobody
//! has more by sleeping. Woken up before, he goes on where he was.
//!
//! Source: kernel/sched/fair.c of Linux 6.18 (`avg_vruntime`, `place_entity`, `pick_eevdf`, `DELAY_DEQUEUE`,
//! `check_preempt_wakeup_fair`); Stoica and Abdel-Wahab, Earliest Eligible Virtual Deadline First, 1995.

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
    /// It sleeps, and stays in the mean.
    stays: bool,
}

/// Whose turn it is at a CPU.
enum Turn {
    /// His who waits there, at this place of the queue.
    Waits(usize),
    /// This one's, who sleeps and stayed.
    Sleeps(u32),
}

/// What the scheduler knows of processes and CPUs.
#[derive(Debug)]
pub struct Fair {
    accounts: Vec<Account>,
    /// Of each CPU: who sleeps and stays in its mean.
    staying: Vec<Vec<u32>>,
    /// Of each CPU: the sum over those who wait or stay there of what they have had.
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
                .map(|process| Account { had: 0, lag: 0, left: left(process), stays: false })
                .collect(),
            staying: vec![Vec::new(); servers],
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
        match self.count(server, on) {
            0 => self.clocks[server as usize],
            count => sum.div_euclid(count),
        }
    }

    #[expect(clippy::cast_possible_wrap, reason = "few are there")]
    fn count(&self, server: u32, on: &Server) -> i64 {
        (on.ready.len() + self.staying[server as usize].len() + usize::from(on.busy)) as i64
    }

    /// Whether a process that sleeps stays in the mean of the CPU where it was last.
    pub fn stays(&self, process: u32) -> bool {
        self.accounts[process as usize].stays
    }

    /// A process that was away comes to a CPU, whose process is charged. It does not wait yet.
    ///
    /// Who has had less than the mean is as much short of it again.
    pub fn arrives(&mut self, process: u32, server: u32, on: &Server) {
        if self.stays(process) {
            self.goes(process, server);
            return;
        }
        let (clock, count) = (self.clock(server, on), self.count(server, on));
        let account = &mut self.accounts[process as usize];
        // It is part of the mean itself.
        let lag = if count == 0 { 0 } else { account.lag * (count + 1) / count };
        account.had = clock - lag;
    }

    /// A process that sleeps is in the mean no more.
    fn goes(&mut self, process: u32, server: u32) {
        let account = &mut self.accounts[process as usize];
        (account.stays, account.lag) = (false, 0);
        self.sums[server as usize] -= account.had;
        self.staying[server as usize].retain(|&other| other != process);
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
        if account.lag < 0 {
            account.stays = true;
            self.sums[server as usize] += account.had;
            self.staying[server as usize].push(process);
        }
    }

    /// A process that waits at one CPU comes to another, where it does not wait yet.
    pub fn moves(&mut self, process: u32, from: (u32, &Server), to: (u32, &Server)) {
        let had = self.accounts[process as usize].had;
        self.accounts[process as usize].lag = self.clock(from.0, from.1) - had;
        self.sums[from.0 as usize] -= had;
        self.arrives(process, to.0, to.1);
    }

    fn turn(&self, server: u32, on: &Server) -> Option<Turn> {
        let clock = self.clock(server, on);
        let waits = on.ready.iter().map(|ready| ready.process).enumerate();
        let waits = waits.map(|(place, process)| (process, Turn::Waits(place)));
        let sleeps = self.staying[server as usize].iter();
        let sleeps = sleeps.map(|&process| (process, Turn::Sleeps(process)));
        let account = |process: u32| &self.accounts[process as usize];
        let eligible = waits.chain(sleeps).filter(|&(process, _)| account(process).had <= clock);
        let deadline = |process: u32| account(process).had + account(process).left;
        eligible.min_by_key(|&(process, _)| deadline(process)).map(|(_, turn)| turn)
    }

    /// Who comes next of those who wait at a CPU that nobody is on: his place in the queue. It is nobody's turn
    /// who sleeps.
    pub fn first(&mut self, server: u32, on: &Server) -> Option<usize> {
        loop {
            match self.turn(server, on)? {
                Turn::Waits(place) => return Some(place),
                Turn::Sleeps(process) => self.goes(process, server),
            }
        }
    }

    /// Whether the last in a CPU's queue takes the place of the one who is on it, who is charged.
    pub fn preempts(&self, server: u32, on: &Server) -> bool {
        let over = self.accounts[on.process as usize].had > self.clock(server, on);
        let last = on.ready.len() - 1;
        over && matches!(self.turn(server, on), Some(Turn::Waits(place)) if place == last)
    }
}
