//! Tells one commit's wait for the log from the next, in readings some ten microseconds apart.

use super::window::Episodes;

/// A session that waits again, having run for less than this, waits for the same commit: it looked
/// whether the log was flushed that far.
const LOOK_AGAIN: u64 = 20_000;
/// A session that goes on writing and flushing, having run for less than this, does so for the same
/// commit.
const FLUSH_ON: u64 = 60_000;
/// So does one that begins to after having waited for others, which is more work.
const TAKE_OVER: u64 = 150_000;
/// A session that waits no more for so long has committed.
const GONE: u64 = 2_000_000;

/// What one reading saw of a process.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Whether it is one of a commit's wait for the log.
    pub sync: bool,
    /// Whether it is the write or flush itself.
    pub write: bool,
    /// CPU time of the process when it was last seen asleep in such a wait. Of one that is awake it
    /// would say nothing: the kernel brings it up to date when a process falls asleep.
    pub cpu_ns: Option<u64>,
}

impl Seen {
    /// Whether it ran so much since `was` seen that this is another wait; `None` where that is not
    /// known.
    fn is_another(self, was: Self) -> Option<bool> {
        let ran = self.cpu_ns?.checked_sub(was.cpu_ns?)?;
        let enough = match (was.write, self.write) {
            // Who has flushed the log has nothing more to wait for.
            (true, false) => 0,
            (true, true) => FLUSH_ON,
            (false, true) => TAKE_OVER,
            (false, false) => LOOK_AGAIN,
        };
        Some(ran >= enough)
    }
}

/// A session's wait for the log.
///
/// A session may wait for another's flush and then have to flush itself: for a moment no event is
/// published in between, nor between two commits that follow each other quickly. How much it ran
/// tells the two apart.
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
    /// The last that was seen of it.
    seen: Seen,
    back_at: Option<u64>,
}

impl SyncWait {
    /// Whether a wait that is seen now may be one that was seen before.
    pub fn is_open(&self) -> bool {
        self.left.is_some()
    }

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
        let Some(left) = &mut self.left else {
            match (was.sync, now.sync) {
                (true, true) if now.is_another(was) == Some(true) => {
                    end(&mut self.since, changed_at, ended);
                    self.since = entry;
                }
                (true, false) if was.write => end(&mut self.since, changed_at, ended),
                (true, false) => {
                    self.left = Some(Left { at: changed_at, seen: was, back_at: None });
                }
                (false, true) => self.since = entry,
                _ => {}
            }
            return;
        };
        if now.sync {
            let back_at = *left.back_at.get_or_insert(changed_at);
            if now.cpu_ns != left.seen.cpu_ns {
                if now.is_another(left.seen) != Some(false) {
                    end(&mut self.since, left.at, ended);
                    self.since = entry.map(|_| back_at);
                }
                self.left = None;
            }
        } else if was.sync || changed_at > left.at + GONE {
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
            sync: event > 0,
            write: event == 2,
            cpu_ns: (event > 0).then_some(1000 * cpu_us),
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
