//! The same parameters as the simulator has them: in whole nanoseconds.

use redolab_sim::Parameters;

use crate::group_commit::parameters::{GroupCommitParameters, Load, SecondLog};
use crate::refused::Refused;

impl GroupCommitParameters {
    /// What the simulator is told.
    ///
    /// # Errors
    /// A duration that is not between 0 and an hour, with its name.
    pub fn nanoseconds(&self) -> Result<Parameters, Refused> {
        let load = match &self.load {
            Load::Closed { think } => redolab_sim::Load::Closed { think: think.nanoseconds() },
            Load::Open { gap, burst } => {
                redolab_sim::Load::Open { gap: gap.nanoseconds(), burst: *burst }
            }
        };
        Ok(Parameters {
            sessions: self.sessions,
            load,
            cpus: self.cpus,
            quantum_ns: nanoseconds("quantum_s", self.quantum_s)?,
            rows: self.rows,
            row_cpu: self.row_cpu.nanoseconds(),
            commit_cpu: self.commit_cpu.nanoseconds(),
            contention_ns: self.contention_s * 1e9,
            row_bytes: self.row_bytes,
            commit_bytes: self.commit_bytes,
            flush_cpu_ns: nanoseconds("flush_cpu_s", self.flush_cpu_s)?,
            device: self.device.nanoseconds(),
            device_ns_per_byte: self.device_s_per_byte * 1e9,
            device_after_idle_ns: self.after_idle_ns()?,
            wake_ns: nanoseconds("wake_s", self.wake_s)?,
            post_ns: nanoseconds("post_s", self.post_s)?,
            served_ns: nanoseconds("served_s", self.served_s)?,
            idle_exit_ns: nanoseconds("idle_exit_s", self.idle_exit_s)?,
            halt_exit_ns: nanoseconds("halt_exit_s", self.halt_exit_s)?,
            halt_after_ns: nanoseconds("halt_after_s", self.halt_after_s)?,
            cold_ns: nanoseconds("cold_s", self.cold_s)?,
            device_write_ns: nanoseconds("device_write_s", self.device_write_s)?,
            device_paced: self.device_paced,
            device_cpu: self.device_cpu,
            interrupt_ns: nanoseconds("interrupt_s", self.interrupt_s)?,
            spread_below: self.spread_below,
            fetch_below: self.fetch_below,
            hand_over_exit_ns: nanoseconds("hand_over_exit_s", self.hand_over_exit_s)?,
            own_queues: self.own_queues,
            balance_ns: nanoseconds("balance_s", self.balance_s)?,
            statements: self.statements,
            client_threads: self.client_threads,
            client_ns: nanoseconds("client_s", self.client_s)?,
            client_wake_ns: nanoseconds("client_wake_s", self.client_wake_s)?,
            group_commit: self.group_commit,
            handed_on: self.handed_on,
            second: self.second.as_ref().map(SecondLog::nanoseconds).transpose()?,
            commit_delay_ns: nanoseconds("commit_delay_s", self.commit_delay_s)?,
            commit_siblings: self.commit_siblings,
            asynchronous: self.asynchronous,
            writer_interval_ns: nanoseconds("writer_interval_s", self.writer_interval_s)?,
            writer_bytes: self.writer_bytes,
        })
    }

    fn after_idle_ns(&self) -> Result<Vec<(u64, u64)>, Refused> {
        let whole = |seconds| nanoseconds("device_after_idle_s", seconds);
        let points = self.device_after_idle_s.iter();
        points.map(|&(idle, more)| Ok((whole(idle)?, whole(more)?))).collect()
    }
}

impl SecondLog {
    fn nanoseconds(&self) -> Result<redolab_sim::SecondLog, Refused> {
        Ok(redolab_sim::SecondLog {
            flush_cpu_ns: nanoseconds("flush_cpu_s of the second log", self.flush_cpu_s)?,
            device: self.device.nanoseconds(),
            own_device: self.own_device,
            late_ns: nanoseconds("late_s", self.late_s)?,
            in_groups: self.in_groups,
            pause_ns: nanoseconds("pause_s", self.pause_s)?,
            enough: self.enough,
        })
    }
}

/// Whole nanoseconds of a duration from 0 to an hour.
#[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "checked to fit")]
fn nanoseconds(name: &str, seconds: f64) -> Result<u64, Refused> {
    if (0.0..=3600.0).contains(&seconds) {
        Ok((seconds * 1e9).round() as u64)
    } else {
        Err(Refused::Invalid(format!("{name}: {seconds} s is not between 0 and an hour")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_become_whole_nanoseconds() {
        assert_eq!(nanoseconds("wake_s", 1.499e-9), Ok(1));
        assert_eq!(nanoseconds("wake_s", 3600.0), Ok(3_600_000_000_000));
        for (seconds, text) in [(-1e-6, "-0.000001"), (f64::NAN, "NaN"), (4000.0, "4000")] {
            let text = format!("wake_s: {text} s is not between 0 and an hour");
            assert_eq!(nanoseconds("wake_s", seconds), Err(Refused::Invalid(text)));
        }
    }
}
