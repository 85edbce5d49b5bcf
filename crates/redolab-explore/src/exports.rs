//! The functions of the WebAssembly module: numbers in a buffer, a number back.
//!
//! A page asks `input` for room and writes numbers there, calls one of the others, and reads numbers at `output` and
//! text at `text`. What a function gives back is 0, or why there is no answer (`code`).

#![expect(unsafe_code, reason = "a module is called by names, and calls `wanted` by its own")]

use std::cell::RefCell;

use redolab_forecast::{Level, Refused, open_queue, response_time_cpu, response_time_io};

use crate::costs::read_scenario;
use crate::explorer::{Explorer, Outlook, Slot};
use crate::numbers::{Numbers, length};

// SAFETY: the page gives a function of this name and type; it takes nothing and touches no memory of the module.
unsafe extern "C" {
    /// Whether the answer is still wanted: 0 for no.
    safe fn wanted() -> i32;
}

fn still_wanted() -> bool {
    wanted() != 0
}

#[derive(Default)]
struct Desk {
    input: Vec<f64>,
    output: Vec<f64>,
    text: String,
    explorer: Option<Explorer>,
}

thread_local! {
    static DESK: RefCell<Desk> = RefCell::default();
}

fn code(refused: &Refused) -> i32 {
    match refused {
        Refused::Invalid(_) => 1,
        Refused::NoSteadyState(_) => 2,
        Refused::TooLong(_) => 3,
        Refused::NoAnswer(_) => 4,
        Refused::Unwanted => 5,
        Refused::NoTime => 6,
    }
}

/// Work at the desk; its output and text are those of this work alone.
fn at_desk(work: impl FnOnce(&mut Desk) -> Result<(), Refused>) -> i32 {
    DESK.with_borrow_mut(|desk| {
        desk.output.clear();
        desk.text.clear();
        match work(desk) {
            Ok(()) => 0,
            Err(refused) => {
                desk.output.clear();
                desk.text = refused.to_string();
                code(&refused)
            }
        }
    })
}

fn with_explorer(
    work: impl FnOnce(&mut Explorer, &mut Vec<f64>, &[f64], &mut String) -> Result<(), Refused>,
) -> i32 {
    at_desk(|desk| match &mut desk.explorer {
        Some(explorer) => work(explorer, &mut desk.output, &desk.input, &mut desk.text),
        None => Err(Refused::Invalid("costs come first".to_owned())),
    })
}

fn slot(number: u32) -> Result<Slot, Refused> {
    match number {
        0 => Ok(Slot::Today),
        1 => Ok(Slot::Asked),
        2 => Ok(Slot::Point),
        _ => Err(Refused::Invalid(format!("there is no slot {number}"))),
    }
}

/// Room for so many numbers, which the next function reads.
// SAFETY: no other function of the module has this name; so with all that follow.
#[unsafe(no_mangle)]
pub extern "C" fn input(count: usize) -> *mut f64 {
    DESK.with_borrow_mut(|desk| {
        desk.input.clear();
        desk.input.resize(count, 0.0);
        desk.input.as_mut_ptr()
    })
}

/// The numbers of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const f64 {
    DESK.with_borrow(|desk| desk.output.as_ptr())
}

/// How many they are.
#[unsafe(no_mangle)]
pub extern "C" fn output_count() -> usize {
    DESK.with_borrow(|desk| desk.output.len())
}

/// The text of the last answer, UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn text() -> *const u8 {
    DESK.with_borrow(|desk| desk.text.as_ptr())
}

/// How many bytes it has.
#[unsafe(no_mangle)]
pub extern "C" fn text_count() -> usize {
    DESK.with_borrow(|desk| desk.text.len())
}

/// Reads the costs from the input. Output: how many replicates there are.
#[unsafe(no_mangle)]
pub extern "C" fn read_costs() -> i32 {
    at_desk(|desk| {
        let explorer = Explorer::read(&desk.input)?;
        desk.output.push(length(explorer.replicates()));
        desk.explorer = Some(explorer);
        Ok(())
    })
}

/// Forecasts the setting of the input, nine numbers, into a slot; 0 commits for as many as a forecast does.
///
/// Output: quantities, sessions by state, backlog, then for each factor that was not measured its place among the nine,
/// the value asked for, and the least and greatest that were measured. Text: the family.
#[unsafe(no_mangle)]
pub extern "C" fn begin(into: u32, commits: u32) -> i32 {
    with_explorer(|explorer, output, input, text| {
        let scenario = read_scenario(&mut Numbers::new(input))?;
        let commits = (commits > 0).then_some(u64::from(commits));
        let outlook = explorer.begin(slot(into)?, &scenario, commits, &mut still_wanted)?;
        text.push_str(outlook.family);
        write_outlook(output, outlook);
        Ok(())
    })
}

fn write_outlook(output: &mut Vec<f64>, outlook: &Outlook) {
    output.extend(outlook.point);
    output.extend(outlook.sessions_by_state);
    output.push(outlook.backlog);
    for one in &outlook.beyond {
        let (low, high) =
            one.measured.map_or((f64::NAN, f64::NAN), |(low, high)| (number(low), number(high)));
        output.extend([length(one.place), number(one.asked), low, high]);
    }
}

/// A word is its place in `Waits::WORDS`.
#[expect(clippy::cast_precision_loss, reason = "nobody measures 2^53 of anything")]
fn number(level: Level) -> f64 {
    match level {
        Level::Whole(value) => value as f64,
        Level::Number(value) => value,
        Level::Word(word) => crate::costs::place_of_word(word),
    }
}

/// Forecasts what a slot holds from the replicate of that number; they are asked in their order.
#[unsafe(no_mangle)]
pub extern "C" fn replicate(of: u32, number: u32) -> i32 {
    with_explorer(|explorer, _, _, _| {
        explorer.replicate(slot(of)?, number as usize, &mut still_wanted)
    })
}

/// Output: how many replicates of a slot have no steady state; then for each quantity its point, low and high end, and
/// how many forecasts were verified before, and point, low and high end of its ratio to today's.
#[unsafe(no_mangle)]
pub extern "C" fn intervals(of: u32) -> i32 {
    with_explorer(|explorer, output, _, _| {
        let of = slot(of)?;
        output.push(length(explorer.lost(of)?));
        for said in explorer.intervals(of)? {
            let (one, ratio) = (said.predicted, said.ratio);
            output.extend([one.point, one.low, one.high, length(one.verified)]);
            output.extend([ratio.point, ratio.low, ratio.high]);
        }
        Ok(())
    })
}

/// Output: sessions at the elbow of what a slot holds, their commits per second, the best number of sessions, and theirs.
#[unsafe(no_mangle)]
#[expect(clippy::cast_precision_loss, reason = "at most a few thousand sessions")]
pub extern "C" fn elbow(of: u32) -> i32 {
    with_explorer(|explorer, output, _, _| {
        let found = explorer.elbow(slot(of)?, &mut still_wanted)?;
        output.extend([
            found.sessions as f64,
            found.throughput_per_s,
            found.best_sessions as f64,
            found.best_throughput_per_s,
        ]);
        Ok(())
    })
}

/// Response time at an arrival rate, of a service time and a number of servers: the published curve for CPU (0), that
/// for I/O (1), or Erlang C (2); no number where there is none.
#[unsafe(no_mangle)]
pub extern "C" fn response_time(kind: u32, service_time: f64, rate: f64, servers: f64) -> f64 {
    let found = match kind {
        0 => response_time_cpu(service_time, rate, servers),
        1 => response_time_io(service_time, rate, servers),
        _ => erlang(service_time, rate, servers),
    };
    found.unwrap_or(f64::NAN)
}

#[expect(clippy::cast_possible_truncation, reason = "a page's servers are few")]
fn erlang(service_time: f64, rate: f64, servers: f64) -> Result<f64, Refused> {
    open_queue(rate, service_time, servers.round() as i64).map(|queue| queue.response_time)
}
