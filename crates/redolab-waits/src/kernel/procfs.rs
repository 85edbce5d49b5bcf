//! Reads files under `/proc`, with errors that name them.

use std::fs;
use std::io;

use super::parse::{self, Stat};

/// How often a reading is repeated when processes come and go while it is taken.
pub const ATTEMPTS: usize = 4;

/// Reads `/proc/PID/stat`.
///
/// # Errors
///
/// When there is no such process.
pub fn read_stat(pid: u32) -> io::Result<Stat> {
    let path = format!("/proc/{pid}/stat");
    parse::stat(&read(&path)?).ok_or_else(|| unreadable(&path))
}

/// Clock ticks, in which `/proc` counts, in nanoseconds.
pub fn ticks_to_ns(ticks: u64) -> u64 {
    ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second())
}

/// Reads a whole file; an error names it. A process may carry any bytes in its name and title.
///
/// # Errors
///
/// When it cannot be read.
pub fn read(path: &str) -> io::Result<String> {
    let bytes =
        fs::read(path).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The error of a file that says something else than is known.
pub fn unreadable(path: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{path} is not as this kernel writes it"))
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    use super::*;

    fn own_thread_ns() -> (u64, u64) {
        let schedstat = fs::read_to_string("/proc/thread-self/schedstat").expect("schedstat");
        let stat = fs::read_to_string("/proc/thread-self/stat").expect("stat");
        let [cpu_ns, ..] = parse::schedstat(&schedstat).expect("schedstat parses");
        let stat = parse::stat(&stat).expect("stat parses");
        (cpu_ns, ticks_to_ns(stat.own_ticks))
    }

    #[test]
    fn both_of_the_kernels_cpu_accounts_agree() {
        let (schedstat_before, stat_before) = own_thread_ns();
        let end = Instant::now() + Duration::from_millis(600);
        let mut sum = 0_u64;
        while Instant::now() < end {
            sum = black_box(sum.wrapping_add(1));
        }
        let (schedstat_after, stat_after) = own_thread_ns();
        let schedstat = schedstat_after - schedstat_before;
        let stat = stat_after - stat_before;
        // `stat` counts whole ticks of 10 ms, one of which may be missing at either end.
        let tolerance = schedstat * 3 / 100 + 2 * ticks_to_ns(1);
        assert!(schedstat.abs_diff(stat) <= tolerance, "schedstat {schedstat}, stat {stat}");
    }
}
