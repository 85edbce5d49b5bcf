//! The statements that a walk through a script gives, against those that pgbench sent for the same script and seed.
//!
//! `tests/pgbench/*.sent` are the statements of pgbench 18.6 (`--random-seed=42`) as the server logged them, one
//! for each line; a line break within a statement is written as `\n`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use redolab_script::{Keep, Script, Seeds, Step, Walk};

const SEED: u64 = 42;

fn read(name: &str) -> Script {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pgbench").join(name);
    Script::read(&fs::read_to_string(path).unwrap()).unwrap()
}

fn sent(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pgbench").join(name);
    fs::read_to_string(path).unwrap().lines().map(ToOwned::to_owned).collect()
}

/// What the server of these tests answers to the statements whose answers are kept.
fn answer(statement: &str) -> Vec<(&'static str, Option<&'static str>)> {
    if statement.starts_with("SELECT 'first'") {
        vec![("one", Some("first")), ("two", Some("2"))]
    } else if statement.starts_with("SELECT 5") {
        vec![("y", Some("6"))]
    } else {
        vec![("s", Some("7")), ("t", Some("8"))]
    }
}

fn walked(scripts: &[(&str, u64)], client: u64, clients: u64, transactions: usize) -> Vec<String> {
    let scripts: Arc<[_]> = scripts.iter().map(|(name, weight)| (read(name), *weight)).collect();
    let mut walk = Walk::new(Arc::clone(&scripts), client, Seeds::of(SEED, client, clients), &[]);
    let mut found = Vec::new();
    for _ in 0..transactions {
        walk.begin();
        loop {
            let (sql, keep) = match walk.step().unwrap() {
                Step::End => break,
                Step::Execute { script, command } => {
                    let (sql, keep) = scripts[script].0.statement(command).unwrap();
                    (sql, keep)
                }
                Step::Sleep(_) | Step::Pipeline(_) => continue,
            };
            let text = walk.filled(sql);
            if let Keep::OneRow(prefix) | Keep::LastRows(prefix) = keep {
                walk.keep(prefix, answer(&text)).unwrap();
            }
            found.push(text.replace('\n', "\\n"));
        }
    }
    found
}

#[test]
fn the_values_of_expressions_are_those_of_pgbench() {
    assert_eq!(walked(&[("expressions.sql", 1)], 0, 1, 6), sent("expressions.sent"));
}

#[test]
fn the_random_numbers_are_those_of_pgbench() {
    assert_eq!(walked(&[("draws.sql", 1)], 0, 1, 60), sent("draws.sent"));
}

#[test]
fn branches_quotes_and_kept_answers_give_the_statements_of_pgbench() {
    assert_eq!(walked(&[("control.sql", 1)], 0, 1, 20), sent("control.sent"));
}

#[test]
fn scripts_are_chosen_as_pgbench_chooses_them() {
    let weighted = [("heavy.sql", 3), ("light.sql", 2)];
    for client in 0..3 {
        let name = format!("weights-{client}.sent");
        assert_eq!(walked(&weighted, client, 3, 30), sent(&name), "{client}");
    }
}
