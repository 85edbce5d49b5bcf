//! The costs of a commit, as a run measured them.

use crate::costs::curve::Curve;
use redolab_sim::{Distribution, record};

record! {
    /// What a flush of the log costs that a commit waits for after the first, and where it lies.
    #[derive(Debug, Clone, PartialEq)]
    pub struct SecondCosts {
        /// CPU time in a flush.
        pub flush_cpu_s: f64 = 0.0,
        /// How much of a flush's time passes once the device is done, until its process is there.
        pub late_s: f64 = 0.0,
        /// Time of a flush as quantiles at equal steps, without its CPU time; at least two.
        pub flush_s: Vec<f64> = vec![0.0; 2],
        /// Whether it lies on a device of its own.
        pub own_device: bool = false,
        /// Whether those whom one flush of the first log served wait for this one as one group.
        pub in_groups: bool = false,
    }
}

record! {
    /// What a commit, a row and a flush cost on one server, from one kind of loop. Seconds and bytes.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Calibration {
        /// Whether the loop that was measured ran in a client, and not inside the server.
        pub in_client: bool = false,
        /// CPUs that server and load had.
        pub cpus: u32 = 1,
        /// CPU time of a transaction of one row in the server, beside its flush.
        pub transaction_cpu_s: Curve = vec![(1, 0.0)],
        /// CPU time of a row in the server.
        pub row_cpu_s: Curve = vec![(1, 0.0)],
        /// CPU time in a flush.
        pub flush_cpu_s: f64 = 0.0,
        /// CPU time of one wait for somebody else's flush: going to sleep, being woken up, waking up.
        pub wake_s: f64 = 0.0,
        /// Log per transaction beside its rows.
        pub commit_bytes: f64 = 0.0,
        /// Log per row.
        pub row_bytes: f64 = 0.0,
        /// Time of a flush as quantiles at equal steps, without its CPU time; at least two.
        pub flush_s: Vec<f64> = vec![0.0; 2],
        /// Time of the device per byte flushed.
        pub device_s_per_byte: f64 = 0.0,
        /// How long the device had nothing to do before a flush, and how much longer that flush then takes.
        pub after_idle_s: Vec<(f64, f64)> = Vec::new(),
        /// CPU time of the client per statement; 0 for a loop inside the server.
        pub client_s: Curve = vec![(1, 0.0)],
        /// More where a thread of the client has slept, because there was no answer.
        pub client_wake_s: f64 = 0.0,
        /// From sending to the other side's running, where that has a CPU that idles.
        pub hand_over_exit_s: f64 = 0.0,
        /// CPU time of going on after a wait for somebody else's flush, when the commit is there.
        pub served_s: Curve = vec![(1, 0.0)],
        /// Share of the CPUs' time that sessions and client have where CPUs are short and commits do not wait for the
        /// log; others have the rest.
        pub available: f64 = 1.0,
        /// The same where commits wait for the log, whose flushes make work for others.
        pub available_waiting: f64 = 1.0,
        /// Further CPU time of a transaction after a wait for the device, or on a CPU that has idled.
        pub cold_s: f64 = 0.0,
        /// Whether an emulator made the log device slower than it is.
        pub emulated: bool = false,
        /// Whether one CPU hears of all that the log's disk has done.
        pub one_interrupt: bool = false,
        /// Whether the run had settings with several rows per commit, so that a row's cost is known.
        pub row_known: bool = true,
        /// Whether who releases a log hands it on, and wakes nobody in vain.
        pub handed_on: bool = false,
        /// The log that a commit waits for after the first; None where there is one log.
        pub second: Option<SecondCosts> = None,
        /// Whether the costs were not measured one by one, but solved from what was seen of a server at work.
        pub only_seen: bool = false,
    }
}

impl Calibration {
    /// Whether what is assumed of the model's errors before any was seen holds here: it was found on PostgreSQL, with
    /// costs that were measured.
    #[must_use]
    pub fn prior_holds(&self) -> bool {
        !(self.handed_on || self.only_seen)
    }

    /// Mean time of a flush, without its CPU time, in seconds.
    #[must_use]
    pub fn flush_mean_s(&self) -> f64 {
        Distribution::Quantiles { values: self.flush_s.clone() }.mean()
    }
}
