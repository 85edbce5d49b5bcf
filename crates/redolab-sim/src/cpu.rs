//! The CPU station: first come first served, with a quantum, from one queue or from one per CPU.
//!
//! With a queue per CPU it is Linux's fair scheduler as far as it decides who waits where (`placement`): who
//! wakes up goes to the CPU where he was last, even if others idle; so a CPU can idle beside another's queue.

mod placement;

use std::collections::VecDeque;

use crate::distribution::whole;
use crate::parameters::Parameters;
use placement::Placement;

/// One CPU, who is on it, and who waits for it.
#[derive(Debug, Clone, Default)]
struct Server {
    process: u32,
    /// CPU time it still asks for.
    work_ns: u64,
    /// Of its quantum.
    used_ns: u64,
    /// CPU time until the event that has been announced.
    slice_ns: u64,
    busy: bool,
    idle_since_ns: u64,
    ready: VecDeque<Ready>,
}

impl Server {
    fn idled_ns(&self, now_ns: u64) -> u64 {
        now_ns - self.idle_since_ns
    }
}

/// Who waits for a CPU.
#[derive(Debug, Clone, Copy)]
struct Ready {
    process: u32,
    work_ns: u64,
    /// Woken up, and not one who has used its quantum.
    woken: bool,
}

/// Who makes a process ask for CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// It was never off its CPU.
    Itself,
    /// Another process or a timer: a CPU that idles must be woken up too.
    Another,
    /// The log device: what it takes to be back on a CPU that idles is in the device's time.
    Device {
        /// Of who waits for a CPU.
        ahead: bool,
    },
    /// Its client or its server, with what it takes to be on a CPU that idles.
    OtherSide { exit_ns: u64 },
}

/// A process that has a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    pub server: u32,
    pub process: u32,
    /// From now to the end of its first slice.
    pub slice_ns: u64,
    /// Whether the CPU had idled.
    pub after_idling: bool,
}

/// What a server does when a slice is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The process has all it asked for.
    Done,
    /// The process asks for more: `go_on`.
    More,
}

/// CPUs and the queues before them.
#[derive(Debug)]
pub struct Cpu {
    servers: Vec<Server>,
    /// Servers that idle, the one that does so shortest last.
    idle: Vec<u32>,
    /// Where all have the same queue (the first one's) there is nothing to decide.
    placement: Option<Placement>,
    quantum_ns: u64,
    context_switch_ns: u64,
    idle_exit_ns: u64,
    halt_exit_ns: u64,
    halt_after_ns: u64,
    dispatch_ns: u64,
    /// Elapsed time per CPU time.
    slowness: f64,
}

impl Cpu {
    /// The CPUs of `parameters`, for at most `processes` processes.
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "checked to be small"
    )]
    pub fn new(parameters: &Parameters, processes: usize) -> Self {
        let servers = parameters.cpus.ceil() as u32;
        Self {
            servers: vec![Server::default(); servers as usize],
            idle: (0..servers).rev().collect(),
            placement: parameters
                .own_queues
                .then(|| Placement::new(parameters, servers, processes as u32)),
            quantum_ns: parameters.quantum_ns,
            context_switch_ns: parameters.context_switch_ns,
            idle_exit_ns: parameters.idle_exit_ns,
            halt_exit_ns: parameters.halt_exit_ns,
            halt_after_ns: parameters.halt_after_ns,
            dispatch_ns: parameters.dispatch_ns,
            slowness: f64::from(servers) / parameters.cpus,
        }
    }

    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    pub fn process(&self, server: u32) -> u32 {
        self.servers[server as usize].process
    }

    /// Returns who has a CPU now; nothing if he has to wait.
    pub fn ask(&mut self, process: u32, work_ns: u64, by: By, now_ns: u64) -> Option<Started> {
        let place = match &self.placement {
            None => self.idle.last().copied().unwrap_or(0),
            Some(placement) => placement.of(process, by, self.halt_after_ns, &self.servers, now_ns),
        };
        let on = &mut self.servers[place as usize];
        if on.busy {
            let ready = Ready { process, work_ns, woken: by == By::Another };
            match by {
                By::Device { ahead: true } => on.ready.push_front(ready),
                _ => on.ready.push_back(ready),
            }
            return None;
        }
        let idled_ns = on.idled_ns(now_ns);
        let exit_ns = match by {
            By::Another => self.exit_ns(idled_ns),
            By::OtherSide { exit_ns } if idled_ns > 0 => exit_ns,
            _ => 0,
        };
        Some(self.end_idling(place, exit_ns, process, work_ns, now_ns))
    }

    /// A server that idles takes up a process, for whom it is there after `exit_ns`.
    fn end_idling(
        &mut self,
        server: u32,
        exit_ns: u64,
        process: u32,
        work_ns: u64,
        now_ns: u64,
    ) -> Started {
        let after_idling = self.servers[server as usize].idled_ns(now_ns) > 0;
        self.no_longer_idle(server, now_ns);
        let slice_ns = exit_ns + self.take_up(server, process, work_ns);
        Started { server, process, slice_ns, after_idling }
    }

    fn no_longer_idle(&mut self, server: u32, now_ns: u64) {
        if let Some(placement) = &mut self.placement {
            placement.idled(server, self.servers[server as usize].idle_since_ns, now_ns);
        }
        // With one queue it is the last.
        if self.idle.last() == Some(&server) {
            self.idle.pop();
        } else if let Some(place) = self.idle.iter().rposition(|&idle| idle == server) {
            self.idle.remove(place);
        }
    }

    /// How long a server that has idled so long takes to be there for who is woken up.
    fn exit_ns(&self, idled_ns: u64) -> u64 {
        match idled_ns {
            0 => 0,
            _ if idled_ns <= self.halt_after_ns => self.idle_exit_ns,
            _ => self.halt_exit_ns,
        }
    }

    /// A server has nobody any more. Returns who it takes up.
    pub fn next(&mut self, server: u32, now_ns: u64) -> Option<Started> {
        let own = if self.placement.is_some() { server } else { 0 };
        let mut next = self.servers[own as usize].ready.pop_front();
        if let Some(placement) = &mut self.placement {
            placement.left(self.servers[server as usize].process, now_ns);
            if next.is_none() {
                next = placement.pull(server, &mut self.servers, now_ns);
            }
        }
        let Some(Ready { process, work_ns, woken }) = next else {
            let on = &mut self.servers[server as usize];
            on.busy = false;
            on.idle_since_ns = now_ns;
            self.idle.push(server);
            return None;
        };
        let dispatch_ns = if woken { self.dispatch_ns } else { 0 };
        let slice_ns = dispatch_ns + self.take_up(server, process, work_ns);
        Some(Started { server, process, slice_ns, after_idling: false })
    }

    /// Let a server that idles take over who waits elsewhere, as a scheduler does at times. Returns who
    /// it took up.
    pub fn balance(&mut self, now_ns: u64) -> Option<Started> {
        if let Some(placement) = &mut self.placement {
            placement.look(&self.servers, now_ns);
        }
        let idle = self.servers.iter().position(|server| !server.busy)?;
        let most = self.servers.iter_mut().max_by_key(|server| server.ready.len())?;
        let Ready { process, work_ns, .. } = most.ready.pop_front()?;
        let server = u32::try_from(idle).ok()?;
        let exit_ns = self.exit_ns(self.servers[idle].idled_ns(now_ns));
        Some(self.end_idling(server, exit_ns, process, work_ns, now_ns))
    }

    /// Put a process on a server. Returns after how long its slice ends.
    fn take_up(&mut self, server: u32, process: u32, work_ns: u64) -> u64 {
        if let Some(placement) = &mut self.placement {
            placement.last[process as usize] = server;
        }
        let on = &mut self.servers[server as usize];
        (on.process, on.work_ns, on.used_ns, on.busy) = (process, work_ns, 0, true);
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
        let queue = if self.placement.is_some() { server as usize } else { 0 };
        let others_wait = !self.servers[queue].ready.is_empty();
        let on = &mut self.servers[server as usize];
        on.work_ns += more_ns;
        if on.used_ns >= self.quantum_ns {
            on.used_ns = 0;
            if others_wait {
                let ready = Ready { process: on.process, work_ns: on.work_ns, woken: false };
                self.servers[queue].ready.push_back(ready);
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
#[expect(clippy::float_cmp, reason = "most often it is exactly 1 or 0")]
pub fn scaled(count: u64, times: f64) -> u64 {
    if times == 1.0 {
        count
    } else if times == 0.0 {
        0
    } else {
        whole(count as f64 * times)
    }
}
