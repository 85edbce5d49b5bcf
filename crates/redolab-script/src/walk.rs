//! One client's way through scripts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::draws::Draws;
use crate::evaluate::{Variables, evaluate};
use crate::fault::{Fault, Wrong};

use crate::meta::Pause;
use crate::script::{Kind, Pipeline, Script, is_name};
use crate::sql::Sql;
use crate::value::{Value, signed, unsigned};

/// A longer sleep is cut off here, long after any sample has ended.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// What a client has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Execute the statement that is this command of this script (`Script::statement`).
    Execute {
        /// The script, from 0.
        script: usize,
        /// The command in it: the same one each time.
        command: usize,
    },
    /// Wait.
    Sleep(Duration),
    /// Send statements without waiting for answers, or wait for these.
    Pipeline(Pipeline),
    /// The script has ended.
    End,
}

/// Where the random numbers of one client begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    drawn: u64,
    chosen: u64,
    hashed: u64,
    base: u64,
}

impl Seeds {
    /// Those of the client `number` (from 0) of `clients`: as of pgbench with as many threads as clients.
    #[must_use]
    pub fn of(seed: u64, number: u64, clients: u64) -> Self {
        let mut base = Draws::new(seed);
        let mut nth = |skipped: u64| {
            for _ in 0..skipped {
                base.bits();
            }
            base.bits()
        };
        let drawn = nth(number);
        let hashed = nth(clients - 1 - number);
        // A thread has three sequences, of which the first chooses.
        let chosen = nth(3 * number);
        Self { drawn, chosen, hashed, base: seed }
    }
}

/// Scripts with their weights, and one client's place in them.
#[derive(Clone, Debug)]
pub struct Walk {
    scripts: Arc<[(Script, u64)]>,
    variables: Known,
    draws: Draws,
    choice: Draws,
    script: usize,
    next: usize,
    /// Of the transaction's beginning, for when it is done once more.
    kept: Option<Box<(Known, Draws)>>,
}

#[derive(Clone, Debug, Default)]
struct Known(BTreeMap<String, Told>);

#[derive(Clone, Debug)]
enum Told {
    Value(Value),
    /// As a server or a user wrote it.
    Text(String),
}

impl Variables for Known {
    fn value_of(&self, name: &str) -> Result<Value, String> {
        match self.0.get(name) {
            None => Err(format!("the variable {name} has no value")),
            Some(Told::Value(value)) => Ok(*value),
            Some(Told::Text(text)) => {
                Value::read(text).map_err(|why| format!("the variable {name}: {why}"))
            }
        }
    }
}

impl Known {
    fn text_of(&self, name: &str) -> Option<String> {
        match self.0.get(name)? {
            Told::Value(value) => Some(value.to_string()),
            Told::Text(text) => Some(text.clone()),
        }
    }
}

impl Walk {
    /// A client with its number (from 0), and variables that the user gave; at its first script's beginning after
    /// `begin`.
    ///
    /// # Panics
    ///
    /// There is no script, or none with a weight.
    #[must_use]
    pub fn new(
        scripts: Arc<[(Script, u64)]>,
        client: u64,
        seeds: Seeds,
        given: &[(String, String)],
    ) -> Self {
        assert!(scripts.iter().any(|(_, weight)| *weight > 0), "no script can be chosen");
        let mut known = BTreeMap::new();
        let mut number = |name: &str, value: u64| {
            known.insert(name.to_owned(), Told::Value(Value::Int(signed(value))));
        };
        number("client_id", client);
        number("default_seed", seeds.hashed);
        number("random_seed", seeds.base);
        number("scale", 1);
        for (name, text) in given {
            known.insert(name.clone(), Told::Text(text.clone()));
        }
        Self {
            scripts,
            variables: Known(known),
            draws: Draws::new(seeds.drawn),
            choice: Draws::new(seeds.chosen),
            script: 0,
            next: 0,
            kept: None,
        }
    }

    /// Begin a transaction of a script that is drawn by weight; returns its number.
    pub fn begin(&mut self) -> usize {
        self.script = self.chosen();
        self.next = 0;
        self.kept = None;
        self.script
    }

    /// Remember variables and random numbers for `again`.
    pub fn remember(&mut self) {
        self.kept = Some(Box::new((self.variables.clone(), self.draws.clone())));
    }

    /// Go back to the beginning of the script, with the variables and random numbers that it had there.
    pub fn again(&mut self) {
        if let Some(kept) = &self.kept {
            (self.variables, self.draws) = (**kept).clone();
        }
        self.next = 0;
    }

    fn chosen(&mut self) -> usize {
        if self.scripts.len() == 1 {
            return 0;
        }
        let total: u64 = self.scripts.iter().map(|(_, weight)| weight).sum();
        let mut drawn = unsigned(self.choice.uniform(0, signed(total) - 1));
        for (number, (_, weight)) in self.scripts.iter().enumerate() {
            if drawn < *weight {
                return number;
            }
            drawn -= weight;
        }
        unreachable!("what is drawn is below the sum of the weights")
    }

    /// The next step that is not computed here.
    ///
    /// # Errors
    ///
    /// What cannot be computed, with its place in the script.
    pub fn step(&mut self) -> Result<Step, Fault> {
        let script = self.script;
        let Script { file, commands } = &self.scripts[script].0;
        let told = |wrong: Wrong| wrong.told(file);
        loop {
            let at = self.next;
            let Some(command) = commands.get(at) else { return Ok(Step::End) };
            self.next += 1;
            match &command.kind {
                Kind::Set(name, value) => {
                    let value = evaluate(value, &self.variables, &mut self.draws).map_err(told)?;
                    self.variables.0.insert(name.clone(), Told::Value(value));
                }
                Kind::If(condition, otherwise) => {
                    if !evaluate(condition, &self.variables, &mut self.draws).map_err(told)?.holds()
                    {
                        self.next = *otherwise;
                    }
                }
                Kind::Leave(to) => self.next = *to,
                Kind::Sleep(pause, each) => {
                    let number = match pause {
                        Pause::Number(number) => *number,
                        Pause::Variable(name) => self
                            .variables
                            .value_of(name)
                            .and_then(Value::as_int)
                            .map_err(|text| told(Wrong::at(command.byte, text)))?,
                    };
                    let number = u32::try_from(number.max(0)).unwrap_or(u32::MAX);
                    return Ok(Step::Sleep(each.saturating_mul(number).min(LONGEST_PAUSE)));
                }
                Kind::Pipeline(pipeline) => return Ok(Step::Pipeline(*pipeline)),
                Kind::Sql(..) => return Ok(Step::Execute { script, command: at }),
            }
        }
    }

    /// A statement with the values of its variables in it.
    #[must_use]
    pub fn filled(&self, sql: &Sql) -> String {
        sql.with_values(|name| self.variables.text_of(name))
    }

    /// The arguments of a statement, as texts; None for a variable without a value.
    #[must_use]
    pub fn arguments(&self, sql: &Sql) -> Vec<Option<String>> {
        sql.arguments().map(|name| self.variables.text_of(name)).collect()
    }

    /// Keep columns of an answer as variables; NULL is an empty text.
    ///
    /// # Errors
    ///
    /// A column's name cannot be one of a variable.
    pub fn keep<'a>(
        &mut self,
        prefix: &str,
        columns: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Result<(), String> {
        for (column, text) in columns {
            let name = format!("{prefix}{column}");
            if !is_name(&name) {
                return Err(format!(
                    "\"{name}\" cannot be a variable's name: give the column another one with AS"
                ));
            }
            self.variables.0.insert(name, Told::Text(text.unwrap_or("").to_owned()));
        }
        Ok(())
    }
}
