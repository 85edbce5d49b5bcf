//! Two logs one after the other: constant durations worked out by hand, and what a MariaDB did.

use redolab_sim::{Batch, Distribution, Parameters, Plan, SecondLog, Span, State, simulate};

const MS: u64 = 1_000_000;

fn ns(ns: u32) -> Span {
    Span::from(f64::from(ns) / 1e9)
}

fn constant(mean_ns: f64) -> Distribution {
    Distribution::Constant { mean: mean_ns / 1e9 }
}

fn one(parameters: &Parameters, warm_up: u64, commits: u64) -> Batch {
    let plan = Plan { warm_up, batches: 1, commits_per_batch: commits };
    simulate(parameters, 1, plan).expect("the parameters are valid").batches[0]
}

/// A second log that takes `ms` per flush, on the first one's device, and where everybody goes on by himself.
fn second(ms: f64) -> SecondLog {
    SecondLog {
        flush_cpu_s: ns(0),
        device: constant(ms * 1e6),
        own_device: false,
        late_s: ns(0),
        in_groups: false,
        pause_s: ns(0),
        enough: 0,
    }
}

/// Sessions with a CPU each, 100 us of work and two logs that are handed on.
fn with_logs(sessions: u32, first_ms: f64, second: SecondLog) -> Parameters {
    let mut parameters = Parameters::new(sessions);
    parameters.cpus = f64::from(sessions);
    parameters.commit_cpu = constant(100_000.0);
    parameters.device = constant(first_ms * 1e6);
    parameters.handed_on = true;
    parameters.second = Some(second);
    parameters
}

#[test]
fn a_lone_session_waits_for_one_flush_and_then_for_the_other() {
    for (own_device, in_groups) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut parameters = with_logs(
            1,
            2.0,
            SecondLog { own_device, in_groups, flush_cpu_s: ns(7_000), ..second(3.0) },
        );
        parameters.flush_cpu_s = ns(5_000);
        parameters.wake_s = ns(1_000);
        let seen = one(&parameters, 1, 10);
        let commit = 5 * MS + 5_000 + 7_000 + 2 * 1_000;
        assert_eq!(seen.commit_time.sum_ns, 10 * commit);
        assert_eq!(seen.elapsed_ns, 10 * (100_000 + commit));
        assert_eq!((seen.flushes, seen.second_flushes), (10, 10));
        assert_eq!(seen.device_busy_ns, 10 * 5 * MS);
        assert_eq!(seen.state_ns[State::Device as usize], seen.device_busy_ns);
    }
}

#[test]
fn on_devices_of_their_own_one_commits_here_while_another_does_there() {
    let parameters = with_logs(2, 1.0, SecondLog { own_device: true, ..second(1.0) });
    // Neither is ever in the other's way.
    let seen = one(&parameters, 10, 100);
    assert_eq!(seen.elapsed_ns, 50 * (2 * MS + 100_000));
    assert_eq!((seen.flushes, seen.second_flushes), (100, 100));
    // On one device each has to leave the other two of four flushes.
    let seen = one(&with_logs(2, 1.0, second(1.0)), 10, 100);
    assert_eq!(seen.elapsed_ns, 50 * 4 * MS);
    assert_eq!(seen.device_busy_ns, seen.elapsed_ns);
}

#[test]
fn a_flush_that_waits_begins_before_the_process_of_the_one_before_is_there() {
    let parameters = with_logs(2, 1.0, SecondLog { late_s: ns(200_000), ..second(1.0) });
    // Of four flushes two wait for the device; the other two follow on a release.
    let seen = one(&parameters, 10, 100);
    assert_eq!(seen.elapsed_ns, 50 * (4 * MS - 2 * 200_000));
    // Devices of their own make nobody wait.
    let apart = SecondLog { own_device: true, late_s: ns(200_000), ..second(1.0) };
    let seen = one(&with_logs(2, 1.0, apart), 10, 100);
    assert_eq!(seen.elapsed_ns, 50 * (2 * MS + 100_000));
}

#[test]
fn with_many_sessions_one_device_does_half_of_the_flushes_that_two_do() {
    for in_groups in [false, true] {
        let of = |own_device| {
            let parameters = with_logs(16, 1.0, SecondLog { own_device, in_groups, ..second(1.0) });
            one(&parameters, 100, 2_000)
        };
        let (shared, own) = (of(false), of(true));
        for (seen, devices) in [(&shared, 1), (&own, 2)] {
            let most_ns = devices * seen.elapsed_ns;
            let flushing_ns = (seen.flushes + seen.second_flushes) * MS;
            // One more or less was under way at either end.
            assert!((most_ns * 9 / 10..=most_ns + 2 * MS).contains(&flushing_ns), "{seen:?}");
        }
        // Fewer flushes serve more commits each, but never so many more.
        assert!(shared.elapsed_ns > own.elapsed_ns, "{in_groups}");
        assert!(shared.elapsed_ns <= 2 * own.elapsed_ns + MS, "{in_groups}");
    }
}

#[test]
fn a_pause_gathers_before_the_second_flush_until_enough_have_come() {
    let elapsed = |enough| {
        let second = SecondLog { pause_s: ns(500_000), enough, ..second(1.0) };
        let seen = one(&with_logs(4, 0.0, second), 4, 40);
        // All four are served by one flush.
        assert_eq!(seen.second_flushes, 10);
        seen.elapsed_ns
    };
    assert_eq!(elapsed(0), 10 * (100_000 + 500_000 + MS));
    assert_eq!(elapsed(5), 10 * (100_000 + 500_000 + MS));
    assert_eq!(elapsed(4), 10 * (100_000 + MS));
}

#[test]
fn who_is_handed_the_log_waits_once() {
    // One leads, and the seven who come meanwhile are one group.
    let mut parameters = with_logs(8, 1.0, second(1.0));
    parameters.second = None;
    parameters.wake_s = ns(1_000);
    let seen = one(&parameters, 800, 8_000);
    assert!(seen.log_waits <= 8_000, "{seen:?}");
    parameters.handed_on = false;
    let seen = one(&parameters, 800, 8_000);
    assert!(seen.log_waits > 8_000, "{seen:?}");
}

/// What four clients did on two CPUs with an emulated log of 2 and of 5 ms, commits per second. The emulator took 0.1 ms
/// more than it was asked for; the CPU times are those of a small virtual machine.
#[test]
fn a_mariadb_with_an_emulated_log_did_about_as_much() {
    for (ms, both, first_alone, second_alone) in [(2.1, 341, 846, 902), (5.1, 151, 360, 373)] {
        let mut parameters = with_logs(4, ms, SecondLog { flush_cpu_s: ns(15_000), ..second(ms) });
        parameters.cpus = 2.0;
        parameters.commit_cpu = Distribution::Gamma { mean: 250_000.0 / 1e9, cv: 0.5 };
        (parameters.flush_cpu_s, parameters.wake_s, parameters.post_s) =
            (ns(15_000), ns(18_000), ns(7_000));
        parameters.device_paced = true;
        parameters.device_write_s = ns(36_000);
        (parameters.device_cpu, parameters.interrupt_s) = (Some(0), ns(20_000));
        (parameters.idle_exit_s, parameters.halt_exit_s) = (ns(30_000), ns(30_000));
        (parameters.halt_after_s, parameters.own_queues) = (ns(200_000), true);
        (parameters.statements, parameters.client_threads) = (1, 2);
        (parameters.client_s, parameters.hand_over_exit_s) = (ns(10_000), ns(30_000));
        let near = |parameters: &Parameters, measured: u64| {
            let per_s = 10_000 * 1_000 * MS / one(parameters, 1_000, 10_000).elapsed_ns;
            let within = measured * 85 / 100..=measured * 115 / 100;
            assert!(within.contains(&per_s), "{ms} ms: {measured} measured, {per_s} simulated");
        };
        near(&parameters, both);
        parameters.second = None;
        near(&parameters, first_alone);
        near(&parameters, second_alone);
    }
}
