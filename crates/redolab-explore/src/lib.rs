//! Forecasts for a page: `redolab-forecast` behind numbers alone, as WebAssembly can be handed them.
//!
//! Costs are written by whoever makes the page (`Explorer::written`), and read in it (`Explorer::read`). What is
//! forecast is what `redolab-forecast` says, digit by digit; here are no formulas.
//!
//! ```
//! use redolab_explore::{Explorer, Outlook, Slot, QUANTITIES};
//! use redolab_forecast::Scenario;
//!
//! # let costs = redolab_explore::example();
//! let explorer = Explorer::new(costs.clone(), vec![], vec![
//!     ("single rows".to_owned(), "throughput_per_s".to_owned(), vec![0.05, -0.02]),
//! ]);
//! let mut again = Explorer::read(&explorer.written())?;
//! let asked = Scenario { rows_per_commit: 8, ..Scenario::new(8) };
//! for (slot, scenario) in [(Slot::Today, Scenario::new(8)), (Slot::Asked, asked)] {
//!     again.begin(slot, &scenario, None, &mut || true)?;
//!     for replicate in 0..again.replicates() {
//!         again.replicate(slot, replicate, &mut || true)?;
//!     }
//! }
//! let said = again.intervals(Slot::Asked)?;
//! let rows = QUANTITIES.iter().position(|name| *name == "rows_per_s").unwrap();
//! assert!(said[rows].predicted.low < said[rows].predicted.point);
//! assert!(said[rows].ratio.point > 2.0);
//! # Ok::<(), redolab_forecast::Refused>(())
//! ```

mod costs;
mod explorer;
#[cfg(target_arch = "wasm32")]
mod exports;
mod numbers;
mod record;

pub use explorer::{Explorer, Outlook, Said, Slot};
pub use record::{QUANTITIES, RATIOS};

use redolab_forecast::Calibration;

/// Costs for tests and examples: a server of two CPUs whose flushes take about a millisecond, and a replicate.
#[doc(hidden)]
#[must_use]
pub fn example() -> Vec<Calibration> {
    let point = Calibration {
        in_client: false,
        cpus: 2,
        transaction_cpu_s: vec![(1, 45e-6), (8, 55e-6)],
        row_cpu_s: vec![(1, 5e-6), (8, 6e-6)],
        flush_cpu_s: 15e-6,
        wake_s: 25e-6,
        commit_bytes: 100.0,
        row_bytes: 110.0,
        flush_s: vec![0.8e-3, 1.2e-3],
        device_s_per_byte: 1e-9,
        after_idle_s: vec![(0.0, 0.0), (2e-3, 1e-4)],
        client_s: vec![(1, 0.0)],
        client_wake_s: 0.0,
        hand_over_exit_s: 0.0,
        served_s: vec![(1, 3e-6)],
        available: 0.9,
        available_waiting: 0.8,
        cold_s: 7e-6,
        emulated: false,
        one_interrupt: true,
        row_known: true,
    };
    let other = Calibration { flush_cpu_s: 17e-6, ..point.clone() };
    vec![point, other]
}
