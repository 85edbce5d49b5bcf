//! The same parameters and seed give the same result, on every machine and in every later version.

use redolab_sim::{Distribution, Load, Parameters, Plan, SecondLog, Seen, Span, Times, simulate};

const PLAN: Plan = Plan { warm_up: 500, batches: 5, commits_per_batch: 1_000 };

fn ns(ns: u32) -> Span {
    Span::from(f64::from(ns) / 1e9)
}

/// FNV-1a over every number of a result.
fn hash(seen: &Seen) -> u64 {
    let times = |times: &Times| [times.sum_ns, times.p50_ns, times.p95_ns, times.p99_ns];
    let mut numbers = vec![seen.events, seen.backlog];
    for batch in &seen.batches {
        numbers.extend([batch.elapsed_ns, batch.commits, batch.arrivals, batch.flushes]);
        numbers.extend([batch.flush_ns, batch.log_waits]);
        numbers.extend(batch.state_ns);
        numbers.extend([batch.backlog_ns, batch.cpu_busy_ns, batch.device_busy_ns]);
        numbers.extend(times(&batch.commit_time));
        numbers.extend(times(&batch.response_time));
    }
    for &(longest, count) in seen.commit_times.iter().chain(&seen.response_times) {
        numbers.extend([longest, count]);
    }
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Every mechanism but asynchronous commits.
fn everything() -> Parameters {
    let mut parameters = Parameters::new(12);
    parameters.load = Load::Closed { think: Distribution::Exponential { mean: 300e3 / 1e9 } };
    parameters.cpus = 1.9;
    parameters.quantum_s = ns(50_000);
    parameters.rows = 20;
    parameters.row_cpu = Distribution::Gamma { mean: 4e3 / 1e9, cv: 1.7 };
    parameters.commit_cpu = Distribution::Gamma { mean: 40e3 / 1e9, cv: 0.4 };
    parameters.contention_s = 700.0 / 1e9;
    parameters.row_bytes = 180.0;
    parameters.commit_bytes = 90.0;
    parameters.flush_cpu_s = ns(14_000);
    parameters.device = Distribution::Lognormal { mean: 400e3 / 1e9, cv: 0.8 };
    parameters.device_s_per_byte = 0.7 / 1e9;
    parameters.device_after_idle_s = [(10_000, 0), (90_000, 50_000), (900_000, 300_000)]
        .map(|(idle, more)| (ns(idle), ns(more)))
        .to_vec();
    parameters.wake_s = ns(12_000);
    parameters.post_s = ns(10_000);
    parameters.idle_exit_s = ns(6_000);
    parameters.halt_exit_s = ns(30_000);
    parameters.halt_after_s = ns(20_000);
    parameters.cold_s = ns(12_000);
    parameters.device_write_s = ns(40_000);
    parameters.device_cpu = Some(0);
    parameters.interrupt_s = ns(9_000);
    parameters.spread_below = 0.6;
    parameters.hand_over_exit_s = ns(7_000);
    parameters.own_queues = true;
    parameters.served_s = ns(8_000);
    parameters.balance_s = ns(300_000);
    parameters.statements = 3;
    parameters.client_threads = 2;
    parameters.client_s = ns(4_000);
    parameters.client_wake_s = ns(5_000);
    parameters.commit_delay_s = ns(80_000);
    parameters.writer_interval_s = ns(2_000_000);
    parameters
}

fn open() -> Parameters {
    let mut parameters = Parameters::new(6);
    parameters.load = Load::Open { gap: Distribution::Exponential { mean: 400e3 / 1e9 }, burst: 2 };
    parameters.commit_cpu = Distribution::Exponential { mean: 150e3 / 1e9 };
    let values = [80e3, 90e3, 100e3, 130e3, 900e3].map(|value| value / 1e9).to_vec();
    parameters.device = Distribution::Quantiles { values };
    parameters
}

fn asynchronous() -> Parameters {
    let mut parameters = open();
    parameters.asynchronous = true;
    parameters.device =
        Distribution::TwoValued { usual: 100e3 / 1e9, rare: 5e6 / 1e9, rare_share: 0.1 };
    parameters.writer_interval_s = ns(1_000_000);
    parameters.writer_bytes = 20;
    parameters
}

/// Every mechanism of a second log.
fn two_logs() -> Parameters {
    let mut parameters = everything();
    parameters.commit_delay_s = ns(0);
    parameters.handed_on = true;
    parameters.second = Some(SecondLog {
        flush_cpu_s: ns(11_000),
        device: Distribution::Gamma { mean: 300e3 / 1e9, cv: 0.7 },
        own_device: false,
        late_s: ns(20_000),
        in_groups: true,
        pause_s: ns(70_000),
        enough: 9,
    });
    parameters
}

#[test]
fn the_result_is_known() {
    let hashes = [everything(), open(), asynchronous(), two_logs()]
        .map(|parameters| hash(&simulate(&parameters, 20_261_121, PLAN).expect("valid")));
    assert_eq!(
        hashes,
        [
            0x9ec9_f252_f2bb_5a9c,
            0x3ed8_6921_31a5_b5c9,
            0x8715_9dbd_e2e1_d371,
            0xc5c2_a303_90bd_5009
        ],
        "{hashes:#x?}"
    );
}

#[test]
fn another_seed_is_another_result() {
    let of = |seed| simulate(&everything(), seed, PLAN).expect("valid");
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn a_change_of_the_device_leaves_the_other_draws_alone() {
    // One session: its CPU times are drawn in turn, whatever its flushes take.
    let mut parameters = Parameters::new(1);
    parameters.commit_cpu = Distribution::Exponential { mean: 1e6 / 1e9 };
    parameters.device = Distribution::Constant { mean: 1e6 / 1e9 };
    let before = simulate(&parameters, 7, PLAN).expect("valid");
    parameters.device = Distribution::Exponential { mean: 2e6 / 1e9 };
    let after = simulate(&parameters, 7, PLAN).expect("valid");
    let busy = |seen: &Seen| seen.batches.iter().map(|batch| batch.cpu_busy_ns).sum::<u64>();
    assert_eq!(busy(&before), busy(&after));
}
