//! The CPU station: first come first served, with a quantum, from one queue or from one per CPU.
//!
//! With a queue per CPU it is a scheduler's: who wakes up goes to a CPU that idles and is awake, his last one
//! before others, and else waits where his waker runs; a CPU that runs dry takes over only who has waited so
//! long that its caches have forgotten him. So a CPU can idle beside another's queue.

use std::collections::VecDeque;

use crate::distribution::whole;
use crate::parameters::Parameters;

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
    avg_idle_ns: u64,
    ready: VecDeque<Ready>,
}

/// Who waits for a CPU.
#[derive(Debug, Clone, Copy)]
struct Ready {
    process: u32,
    work_ns: u64,
    /// Woken up, and not one who has used its quantum.
    woken: bool,
}

/// A process that asks for CPU time.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    pub process: u32,
    pub work_ns: u64,
    /// By another or by a timer: so a CPU that idles must be woken up too.
    pub woken: bool,
    /// On which server it was woken up, if one did it.
    pub waker: Option<u32>,
    /// By its client or its server: so it waits where it was last.
    pub handed_over: Option<u64>,
    /// By the device.
    pub by_device: bool,
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
    /// On which server each process was last.
    last: Vec<u32>,
    ran_ns: Vec<u64>,
    /// Servers whose queue is shared: all have the first one's.
    shared: bool,
    quantum_ns: u64,
    context_switch_ns: u64,
    idle_exit_ns: u64,
    halt_exit_ns: u64,
    halt_after_ns: u64,
    hot_ns: u64,
    imbalance: u32,
    dispatch_ns: u64,
    gravity: bool,
    idle_ns: u64,
    newidle_ns: u64,
    looked_ns: u64,
    load: f64,
    scan_below: f64,
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
    pub fn new(parameters: &Parameters, processes: usize, threads: usize) -> Self {
        let servers = parameters.cpus.ceil() as u32;
        Self {
            servers: vec![Server::default(); servers as usize],
            idle: (0..servers).rev().collect(),
            last: (0..processes as u32).map(|process| if process as usize >= processes - threads { (process + 1 + (processes - threads) as u32) % servers } else { process % servers }).collect(),
            ran_ns: vec![0; processes],
            shared: !parameters.own_queues,
            quantum_ns: parameters.quantum_ns,
            context_switch_ns: parameters.context_switch_ns,
            idle_exit_ns: parameters.idle_exit_ns,
            halt_exit_ns: parameters.halt_exit_ns,
            halt_after_ns: parameters.halt_after_ns,
            hot_ns: parameters.hot_ns,
            imbalance: parameters.imbalance,
            dispatch_ns: parameters.dispatch_ns,
            gravity: parameters.gravity,
            idle_ns: 0,
            newidle_ns: parameters.newidle_ns,
            looked_ns: 0,
            load: 0.3,
            scan_below: parameters.scan_below,
            slowness: f64::from(servers) / parameters.cpus,
        }
    }

    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    pub fn process(&self, server: u32) -> u32 {
        self.servers[server as usize].process
    }

    /// Returns the server that takes the process up now and after how long its first slice ends; nothing if it
    /// has to wait.
    pub fn ask(&mut self, asked: Asked, now_ns: u64) -> Option<(u32, u64, bool)> {
        let Asked { process, work_ns, woken, waker, handed_over, by_device } = asked;
        let gravity = self.gravity && by_device && !self.shared && !self.servers[0].busy;
        let place = self.idle_for(process, now_ns).filter(|_| !gravity).unwrap_or_else(|| {
            if gravity { return 0; }
           
            if self.shared {
                0
            } else if handed_over.is_some() {
                self.last[process as usize]
            } else {
                { let _ = waker; self.place_for(self.last[process as usize]) }
            }
        });
        if self.servers[place as usize].busy {
            let ready = Ready { process, work_ns, woken };
            self.servers[place as usize].ready.push_back(ready);
            return None;
        }
        let exit_ns = if woken {
            self.exit_ns(place, now_ns)
        } else if handed_over.is_some() && now_ns > self.servers[place as usize].idle_since_ns {
            handed_over.unwrap_or(0)
        } else {
            0
        };
        let cold = handed_over.is_none() && now_ns > self.servers[place as usize].idle_since_ns;
        self.no_longer_idle2(place, now_ns);
        Some((place, exit_ns + self.take_up(place, process, work_ns), cold))
    }

    /// Where one waits who woke up at `near` while no server idled and was awake: there, unless too many do.
    fn place_for(&self, near: u32) -> u32 {
        let waiting = |server: &Server| server.ready.len() + usize::from(server.busy);
        let here = waiting(&self.servers[near as usize]);
        let least = (0_u32..).zip(&self.servers).min_by_key(|(_, server)| waiting(server));
        match least {
            Some((other, server)) if here > waiting(server) + self.imbalance as usize => other,
            _ => near,
        }
    }

    /// A server that idles and is awake: the last one of the process, or the one that idles shortest.
    fn idle_for(&self, process: u32, now_ns: u64) -> Option<u32> {
        if self.shared {
            return self.idle.last().copied();
        }
        let last = self.last[process as usize];
        if !self.servers[last as usize].busy {
            return Some(last);
        }
        if self.load > self.scan_below {
            return None;
        }
        let awake =
            |server: &Server| !server.busy && now_ns - server.idle_since_ns <= self.halt_after_ns;
        (0_u32..).zip(&self.servers).find(|(_, server)| awake(server)).map(|(number, _)| number)
    }

    fn no_longer_idle(&mut self, server: u32) {
        // With one queue it is the last.
        if self.idle.last() == Some(&server) {
            self.idle.pop();
        } else if let Some(place) = self.idle.iter().rposition(|&idle| idle == server) {
            self.idle.remove(place);
        }
    }

    fn no_longer_idle2(&mut self, server: u32, now_ns: u64) {
        self.idle_ns += now_ns - self.servers[server as usize].idle_since_ns.max(self.looked_ns);
        let on = &mut self.servers[server as usize];
        let idled = (now_ns - on.idle_since_ns).min(1_000_000);
        on.avg_idle_ns = (7 * on.avg_idle_ns + idled) / 8;
        self.no_longer_idle(server);
    }

    fn look(&mut self, now_ns: u64) {
        let mut idle_ns = self.idle_ns;
        for server in &self.servers {
            if !server.busy {
                idle_ns += now_ns - server.idle_since_ns.max(self.looked_ns);
            }
        }
        self.idle_ns = 0;
        let span = (now_ns - self.looked_ns) as f64 * self.servers.len() as f64;
        self.looked_ns = now_ns;
        let load = 1.0 - idle_ns as f64 / span;
        self.load += 0.083 * (load - self.load);
    }

    /// How long an idle server takes to be there for who is woken up.
    fn exit_ns(&self, server: u32, now_ns: u64) -> u64 {
        let idle_ns = now_ns - self.servers[server as usize].idle_since_ns;
        if idle_ns == 0 {
            0
        } else if idle_ns <= self.halt_after_ns {
            self.idle_exit_ns
        } else {
            self.halt_exit_ns
        }
    }

    /// A server has nobody any more. Returns who it takes up, and after how long his slice ends.
    pub fn next(&mut self, server: u32, now_ns: u64) -> Option<(u32, u64)> {
        let own = if self.shared { 0 } else { server };
        self.ran_ns[self.servers[server as usize].process as usize] = now_ns;
        let mut next = self.servers[own as usize].ready.pop_front();
        if next.is_none() && !self.shared && self.servers[server as usize].avg_idle_ns >= self.newidle_ns {
            next = self.cold(now_ns);
        }
        let Some(Ready { process, work_ns, woken, .. }) = next else {
            let on = &mut self.servers[server as usize];
            on.busy = false;
            on.idle_since_ns = now_ns;
            self.idle.push(server);
            return None;
        };
        let slice_ns = self.take_up(server, process, work_ns);
        Some((process, if woken { self.dispatch_ns + slice_ns } else { slice_ns }))
    }

    /// Let a server that idles take over who waits elsewhere, as a scheduler does at times. Returns the
    /// server, who it took up, and after how long his slice ends.
    pub fn balance(&mut self, now_ns: u64) -> Option<(u32, u32, u64)> {
        self.look(now_ns);
        let idle = self.servers.iter().position(|server| !server.busy)?;
        let most = self.servers.iter_mut().max_by_key(|server| server.ready.len())?;
        let Ready { process, work_ns, .. } = most.ready.pop_front()?;
        let idle = u32::try_from(idle).ok()?;
        let exit_ns = self.exit_ns(idle, now_ns);
        self.no_longer_idle2(idle, now_ns);
        Some((idle, process, exit_ns + self.take_up(idle, process, work_ns)))
    }

    /// Who has waited long enough elsewhere to be taken over: the one that waited longest.
    fn cold(&mut self, now_ns: u64) -> Option<Ready> {
        let ran_ns = &self.ran_ns;
        let (_, server, place) = (0_usize..)
            .zip(&self.servers)
            .flat_map(|(server, on)| {
                on.ready
                    .iter()
                    .enumerate()
                    .map(move |(place, ready)| (ran_ns[ready.process as usize], server, place))
            })
            .filter(|(ran_ns, ..)| now_ns - ran_ns > self.hot_ns)
            .min()?;
        self.servers[server].ready.remove(place)
    }

    /// Put a process on a server. Returns after how long its slice ends.
    fn take_up(&mut self, server: u32, process: u32, work_ns: u64) -> u64 {
        self.last[process as usize] = server;
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
    pub fn go_on(&mut self, server: u32, more_ns: u64, now_ns: u64) -> Option<u64> {
        let queue = if self.shared { 0 } else { server as usize };
        let others_wait = !self.servers[queue].ready.is_empty();
        let on = &mut self.servers[server as usize];
        on.work_ns += more_ns;
        if on.used_ns >= self.quantum_ns {
            on.used_ns = 0;
            if others_wait {
                let ready = Ready {
                    process: on.process,
                    work_ns: on.work_ns,
                    woken: false,
                };
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
