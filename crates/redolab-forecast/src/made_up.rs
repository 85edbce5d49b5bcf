//! Costs that are made up, for tests and examples.

use crate::costs::calibration::{Calibration, SecondCosts};

/// A server of two CPUs, whose log device takes 0.8 to 1.2 ms per flush.
#[must_use]
pub fn server() -> Calibration {
    Calibration {
        cpus: 2,
        transaction_cpu_s: vec![(1, 45e-6), (8, 55e-6), (16, 71e-6)],
        row_cpu_s: vec![(1, 5e-6), (8, 6e-6)],
        flush_cpu_s: 15e-6,
        wake_s: 25e-6,
        commit_bytes: 100.0,
        row_bytes: 110.0,
        flush_s: vec![0.8e-3, 1.2e-3],
        device_s_per_byte: 1e-9,
        after_idle_s: vec![(1e-3, 1e-4)],
        served_s: vec![(1, 3e-6)],
        available: 0.9,
        available_waiting: 0.8,
        cold_s: 7e-6,
        one_interrupt: true,
        ..Calibration::default()
    }
}

/// The same with a second log, on a device of its own.
#[must_use]
pub fn two_logs() -> Calibration {
    let second = SecondCosts {
        flush_cpu_s: 14e-6,
        late_s: 90e-6,
        flush_s: vec![1e-3, 2e-3],
        own_device: true,
        in_groups: false,
    };
    Calibration { handed_on: true, second: Some(second), ..server() }
}
