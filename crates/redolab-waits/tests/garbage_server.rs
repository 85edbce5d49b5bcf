//! A server whose processes publish garbage at random: nothing breaks, and nothing is seen but what
//! was in its shared memory.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use redolab_waits::{Config, Sampler, Window};

struct GarbageServer {
    process: Child,
    life: Option<ChildStdin>,
}

impl GarbageServer {
    fn start(how: &str) -> Self {
        let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/garbage_server.c");
        let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("garbage_{how}"));
        let built = Command::new("cc")
            .args(["-O1", "-rdynamic", "-o"])
            .arg(&program)
            .arg(source)
            .status()
            .expect("cc can be started");
        assert!(built.success());
        let mut process = Command::new(program)
            .arg(how)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let said = process.stdout.take().expect("its output");
        BufReader::new(said).read_line(&mut String::new()).expect("a line");
        let life = process.stdin.take();
        Self { process, life }
    }

    fn watched(&self, time: Duration) -> Window {
        let config = Config {
            postmaster: self.process.id(),
            rate_per_s: 1000.0,
            seed: 5,
            leave_out: Vec::new(),
            log_sync: vec![0x0700_0001, 0x0700_0002],
            log_write: vec![0x0700_0003],
            bursts_per_s: 10.0,
        };
        let sampler = Sampler::start(config).expect("the server can be watched");
        std::thread::sleep(time);
        sampler.stop().expect("the sampler goes on whatever it meets")
    }
}

impl Drop for GarbageServer {
    fn drop(&mut self) {
        drop(self.life.take());
        self.process.wait().expect("the server ends with its input");
    }
}

#[test]
fn only_what_was_in_shared_memory_is_seen() {
    let seen = GarbageServer::start("shared").watched(Duration::from_secs(3));
    assert!(seen.ticks > 0 && !seen.busy.event.is_empty() && !seen.idle.is_empty());
    for &event in seen.busy.event.iter().chain(seen.idle.keys().map(|(_, event)| event)) {
        assert!(matches!(event >> 24, 0x05 | 0x07) && event & 0x00ff_ffff < 100, "{event:#x}");
    }
    let idle: u64 = seen.idle.values().map(|&ticks| u64::from(ticks)).sum();
    assert_eq!(seen.looks, idle + seen.busy.event.len() as u64);
    assert!(seen.processes.iter().filter(|process| process.ended).count() > 10);
    for process in &seen.processes {
        // The kernel brings accounts up to date at the scheduler's ticks.
        assert!(process.cpu_ns <= process.elapsed_ns + 20_000_000, "{process:?}");
        assert!(process.last_tick <= seen.ticks, "{process:?}");
    }
}

#[test]
fn a_process_that_points_elsewhere_is_not_followed() {
    let seen = GarbageServer::start("private").watched(Duration::from_secs(2));
    assert!(seen.ticks > 0);
    assert!(seen.processes.len() > 8);
    assert_eq!((seen.looks, seen.busy.event.len(), seen.idle.len()), (0, 0, 0));
}
