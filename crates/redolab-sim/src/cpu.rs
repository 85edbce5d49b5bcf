//! The CPU station: one queue before several servers, first come first served, with a quantum.

use std::collections::VecDeque;

use crate::distribution::whole;

/// One CPU and who is on it.
#[derive(Debug, Clone, Copy, Default)]
struct Server {
    process: u32,
    /// CPU time it still asks for.
    work_ns: u64,
    /// Of its quantum.
    used_ns: u64,
    /// CPU time until the event that has been announced.
    slice_ns: u64,
}

/// What a server does when a slice is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The process has all it asked for.
    Done,
    /// The process asks for more: `go_on`.
    More,
}

/// CPUs and the queue before them. Knows nothing of time: it says how long a slice takes.
#[derive(Debug)]
pub struct Cpu {
    servers: Vec<Server>,
    free: Vec<u32>,
    ready: VecDeque<(u32, u64)>,
    quantum_ns: u64,
    context_switch_ns: u64,
    /// Elapsed time per CPU time.
    slowness: f64,
}

impl Cpu {
    /// `cpus` effective CPUs, for at most `processes` processes.
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "checked to be small"
    )]
    pub fn new(cpus: f64, quantum_ns: u64, context_switch_ns: u64, processes: usize) -> Self {
        let servers = cpus.ceil() as u32;
        Self {
            servers: vec![Server::default(); servers as usize],
            free: (0..servers).rev().collect(),
            ready: VecDeque::with_capacity(processes),
            quantum_ns,
            context_switch_ns,
            slowness: f64::from(servers) / cpus,
        }
    }

    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    pub fn process(&self, server: u32) -> u32 {
        self.servers[server as usize].process
    }

    pub fn take_free(&mut self) -> Option<u32> {
        self.free.pop()
    }

    pub fn set_free(&mut self, server: u32) {
        self.free.push(server);
    }

    pub fn wait(&mut self, process: u32, work_ns: u64) {
        self.ready.push_back((process, work_ns));
    }

    pub fn longest_waiting(&mut self) -> Option<(u32, u64)> {
        self.ready.pop_front()
    }

    /// Put a process on a server. Returns after how long its slice ends.
    pub fn take_up(&mut self, server: u32, process: u32, work_ns: u64) -> u64 {
        self.servers[server as usize] = Server { process, work_ns, used_ns: 0, slice_ns: 0 };
        // Not of the quantum: with one shorter than a switch nobody would ever get anything done.
        self.slice(server, self.context_switch_ns)
    }

    /// A slice is over.
    pub fn end_slice(&mut self, server: u32) -> Next {
        let on = &mut self.servers[server as usize];
        on.work_ns -= on.slice_ns;
        on.used_ns += on.slice_ns;
        if on.work_ns == 0 { Next::Done } else { Next::More }
    }

    /// The process that is there asks for more. Returns after how long its next slice ends; nothing
    /// if it has used its quantum and others wait: then it is at the end of the queue.
    pub fn go_on(&mut self, server: u32, more_ns: u64) -> Option<u64> {
        let on = &mut self.servers[server as usize];
        on.work_ns += more_ns;
        if on.used_ns >= self.quantum_ns {
            on.used_ns = 0;
            if !self.ready.is_empty() {
                let waiting = (on.process, on.work_ns);
                self.ready.push_back(waiting);
                return None;
            }
        }
        Some(self.slice(server, 0))
    }

    fn slice(&mut self, server: u32, before_ns: u64) -> u64 {
        let on = &mut self.servers[server as usize];
        on.slice_ns = on.work_ns.min(self.quantum_ns - on.used_ns);
        scaled(before_ns + on.slice_ns, self.slowness)
    }
}

/// A number of nanoseconds or bytes, times something.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^53: 104 days, 9 petabytes")]
pub fn scaled(count: u64, times: f64) -> u64 {
    whole(count as f64 * times)
}
