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
//! let explorer = Explorer::new(costs.clone(), vec![], vec![vec![
//!     ("single rows".to_owned(), "throughput_per_s".to_owned(), vec![0.05, -0.02]),
//! ]]);
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
pub use record::{Errors, QUANTITIES, RATIOS};

use redolab_forecast::Calibration;

/// Costs for tests and examples: those of a made-up server, and a replicate.
#[doc(hidden)]
#[must_use]
pub fn example() -> Vec<Calibration> {
    let point = redolab_forecast::made_up::server();
    let other = Calibration { flush_cpu_s: 17e-6, ..point.clone() };
    vec![point, other]
}
