//! Tells one commit's wait for the log from the next, in readings some ten microseconds apart.

use crate::window::Episodes;

/// A session that waits again, having run for less than this, waits for the same commit: it looked
/// whether the log was flushed that far.
const LOOK_AGAIN: u64 = 20_000;
/// A session that writes and flushes the log, having run for less than this since it waited for
/// others to do it or wrote, does so for the same commit. With a transaction it would be more.
const GO_ON: u64 = 150_000;
/// A session that waits no more for so long has committed.
const GONE: u64 = 2_000_000;

/// What one reading saw of a process.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The event.
    pub event: u32,
    /// Whether it is one of a commit's wait for the log.
    pub sync: bool,
    /// Whether it is the write or flush itself.
    pub write: bool,
    /// CPU time of the process, if it waits for the log; brought up to date when it falls asleep.
    pub cpu_ns: u64,
}

impl Seen {
    /// Running so long before this was seen makes it another wait.
    fn enough(self) -> u64 {
        if self.write { GO_ON } else { LOOK_AGAIN }
    }
}

/// A session's wait for the log.
///
/// A session may wait for another's flush and then have to flush itself: for a moment no event is
/// published in between, nor between two commits that follow each other quickly. How much it ran
/// tells the two apart. Who has flushed the log itself has nothing more to wait for.
#[derive(Debug, Default)]
pub struct SyncWait {
    /// When it began, if that was seen.
    pub since: Option<u64>,
    left: Option<Left>,
}

/// A wait that may have ended.
#[derive(Clone, Copy, Debug)]
struct Left {
    at: u64,
    cpu_ns: u64,
    back_at: Option<u64>,
}

impl SyncWait {
    /// Takes in two readings that follow each other. What changed did so at `changed_at`; a wait
    /// that begins is taken in at `entry`.
    pub fn turn(
        &mut self,
        was: Seen,
        now: Seen,
        changed_at: u64,
        entry: Option<u64>,
        ended: &mut Episodes,
    ) {
        match (was.sync, now.sync) {
            (true, true) if self.left.is_none() => {
                let ran = now.cpu_ns.saturating_sub(was.cpu_ns);
                if ran >= now.enough() || (was.write && !now.write) {
                    end(&mut self.since, changed_at, ended);
                    self.since = entry;
                }
            }
            (true, false) if was.write || self.left.is_some() => {
                let at = self.left.take().map_or(changed_at, |left| left.at);
                end(&mut self.since, at, ended);
            }
            (true, false) => {
                self.left = Some(Left { at: changed_at, cpu_ns: was.cpu_ns, back_at: None });
            }
            (false, true) if self.left.is_none() => self.since = entry,
            _ => {}
        }
        let Some(left) = &mut self.left else { return };
        if now.sync {
            let back_at = *left.back_at.get_or_insert(changed_at);
            let ran = now.cpu_ns.saturating_sub(left.cpu_ns);
            // Before it falls asleep again the kernel does not tell how much it ran.
            if ran > 0 {
                if ran >= now.enough() {
                    end(&mut self.since, left.at, ended);
                    self.since = entry.map(|_| back_at);
                }
                self.left = None;
            }
        } else if changed_at > left.at + GONE {
            end(&mut self.since, left.at, ended);
            self.left = None;
        }
    }
}

/// Takes in that a wait has ended.
pub fn end(since: &mut Option<u64>, at: u64, episodes: &mut Episodes) {
    if let Some(since) = since.take() {
        episodes.whole_s.push(seconds(at.saturating_sub(since)));
    }
}

/// Nanoseconds in seconds.
pub fn seconds(ns: u64) -> f64 {
    std::time::Duration::from_nanos(ns).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: (u32, u64) = (0, 0);

    /// Durations in steps of 50 us, of readings that are an event and a CPU time in us.
    fn told(readings: &[(u32, u64)]) -> Vec<f64> {
        let seen = |&(event, cpu_us): &(u32, u64)| Seen {
            event,
            sync: event > 0,
            write: event == 2,
            cpu_ns: 1000 * cpu_us,
        };
        let mut wait = SyncWait::default();
        let mut episodes = Episodes::default();
        for (step, pair) in (1..).zip(readings.windows(2)) {
            let at = step * 50_000;
            wait.turn(seen(&pair[0]), seen(&pair[1]), at, Some(at), &mut episodes);
        }
        episodes.whole_s.iter().map(|s| (s / 50e-6).round()).collect()
    }

    #[test]
    fn a_wait_ends_where_the_session_works_on() {
        let done = vec![NOTHING; 45];
        assert_eq!(told(&[vec![NOTHING, (1, 5), (1, 5)], done.clone()].concat()), [2.0]);
        assert_eq!(told(&[vec![NOTHING, (2, 5), (2, 5), (2, 5)], done].concat()), [3.0]);
    }

    #[test]
    fn who_waits_for_others_and_then_flushes_is_in_one_wait() {
        assert_eq!(told(&[NOTHING, (1, 5), (2, 30), (2, 30), NOTHING]), [3.0]);
        assert_eq!(told(&[NOTHING, (1, 5), NOTHING, (2, 30), (2, 30), NOTHING]), [4.0]);
        assert_eq!(told(&[NOTHING, (1, 5), NOTHING, (2, 5), (2, 30), NOTHING]), [4.0]);
        assert_eq!(told(&[NOTHING, (1, 5), (1, 12), (2, 40), NOTHING]), [3.0]);
    }

    #[test]
    fn two_commits_are_two_waits_though_nothing_is_seen_between() {
        assert_eq!(told(&[NOTHING, (1, 5), (1, 5), (1, 60), (2, 80), NOTHING]), [2.0, 2.0]);
        assert_eq!(told(&[NOTHING, (2, 5), (1, 60), (2, 80), NOTHING]), [1.0, 2.0]);
        assert_eq!(told(&[NOTHING, (1, 5), NOTHING, (2, 190), (2, 190), NOTHING]), [1.0, 2.0]);
        assert_eq!(told(&[NOTHING, (2, 5), (2, 35), (2, 225), NOTHING]), [2.0, 1.0]);
    }
}
