//! Reads a script.

use std::time::Duration;

use crate::expression::Expression;
use crate::fault::{Fault, Wrong};
use crate::meta::{Meta, Pause};
use crate::parse::expression;
use crate::place::place;
use crate::sql::{End, Sql, scan};
use crate::tokens::variable_length;

/// A greater file is not read.
pub const MOST_BYTES: usize = 1 << 20;
/// Arguments of one statement.
const MOST_ARGUMENTS: usize = 255;

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) file: String,
    pub(crate) commands: Vec<Command>,
}

#[derive(Clone, Debug)]
pub(crate) struct Command {
    /// The byte of the file at which it begins.
    pub(crate) byte: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Sql(Sql, Keep),
    Set(String, Expression),
    /// A condition, and the command to go on with where it does not hold.
    If(Expression, usize),
    /// Where a branch that was taken ends; then the command after the last branch is next.
    Leave(usize),
    Sleep(Pause, Duration),
    Pipeline(Pipeline),
}

/// What is kept of the answer to a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    Nothing,
    /// The columns of its one row, as variables whose names begin with this (`\gset`).
    OneRow(String),
    /// The columns of the last row of each statement, where it has one (`\aset`).
    LastRows(String),
}

/// What is done with the statements that follow, on a server that takes several before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipeline {
    /// Send without waiting.
    Start,
    /// Let the server end the transaction, and go on.
    Sync,
    /// Wait for all answers.
    End,
}

impl Script {
    /// Read the text of a file.
    ///
    /// # Errors
    ///
    /// What cannot be read or is not done here, with its place.
    pub fn read(file: &str) -> Result<Self, Fault> {
        if file.len() > MOST_BYTES {
            let text =
                format!("a script has at most {MOST_BYTES} bytes, and this one {}", file.len());
            return Err(Wrong::at(0, text).told(""));
        }
        let mut reader = Reader { file, commands: Vec::new(), open: Vec::new(), in_pipeline: None };
        reader.read().map_err(|wrong| wrong.told(file))?;
        Ok(Self { file: file.to_owned(), commands: reader.commands })
    }

    /// The statement that is a command, and what is kept of its answer; None for other commands.
    #[must_use]
    pub fn statement(&self, command: usize) -> Option<(&Sql, &Keep)> {
        match &self.commands.get(command)?.kind {
            Kind::Sql(sql, keep) => Some((sql, keep)),
            _ => None,
        }
    }

    /// The line and the column of a command, both from 1.
    #[must_use]
    pub fn place_of(&self, command: usize) -> (usize, usize) {
        place(&self.file, self.commands.get(command).map_or(0, |command| command.byte))
    }

    /// The commands that are statements from one on to where its pipeline ends.
    pub fn pipelined(&self, from: usize) -> impl Iterator<Item = usize> {
        let ends = |command: &Command| matches!(command.kind, Kind::Pipeline(Pipeline::End));
        let rest = self.commands.iter().enumerate().skip(from).take_while(move |(_, it)| !ends(it));
        rest.filter(|(_, command)| matches!(command.kind, Kind::Sql(..))).map(|(at, _)| at)
    }
}

/// An `\if` that has not ended.
struct Open {
    byte: usize,
    /// The last condition, whose next command is not known yet.
    condition: Option<usize>,
    /// Commands that leave the `\if`.
    leaves: Vec<usize>,
    had_else: bool,
}

struct Reader<'a> {
    file: &'a str,
    commands: Vec<Command>,
    open: Vec<Open>,
    in_pipeline: Option<usize>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), Wrong> {
        let mut at = 0;
        loop {
            let scanned = scan(self.file, at)
                .map_err(|(byte, kind)| Wrong::at(byte, format!("this {kind} does not end")))?;
            at = scanned.after;
            let mut statement = (!scanned.text.trim_end_matches(';').trim().is_empty())
                .then(|| (scanned.start, Sql::new(scanned.text)));
            if let End::Meta(byte) = scanned.end {
                let meta = Meta::read(self.file, byte);
                at = meta.end;
                if matches!(meta.name, "gset" | "aset") {
                    self.keep(&meta, statement.take())?;
                } else {
                    self.statement(statement.take(), Keep::Nothing)?;
                    self.command(&meta)?;
                }
            }
            self.statement(statement, Keep::Nothing)?;
            if scanned.end == End::File {
                break;
            }
        }
        if self.commands.is_empty() && self.open.is_empty() {
            return Err(Wrong::at(0, "the script has neither a statement nor a meta command"));
        }
        match (self.open.last(), self.in_pipeline) {
            (Some(open), _) => Err(Wrong::at(open.byte, "this \\if has no \\endif")),
            (None, Some(byte)) => Err(Wrong::at(byte, "this pipeline has no \\endpipeline")),
            (None, None) => Ok(()),
        }
    }

    fn push(&mut self, byte: usize, kind: Kind) -> usize {
        self.commands.push(Command { byte, kind });
        self.commands.len() - 1
    }

    fn statement(&mut self, found: Option<(usize, Sql)>, keep: Keep) -> Result<(), Wrong> {
        let Some((start, sql)) = found else { return Ok(()) };
        if sql.arguments().count() > MOST_ARGUMENTS {
            let text = format!("a statement has at most {MOST_ARGUMENTS} variables");
            return Err(Wrong::at(start, text));
        }
        self.push(start, Kind::Sql(sql, keep));
        Ok(())
    }

    /// `\gset` or `\aset` after a statement, which a semicolon may have ended already.
    fn keep(&mut self, meta: &Meta<'_>, statement: Option<(usize, Sql)>) -> Result<(), Wrong> {
        let Meta { at, name, ref words, .. } = *meta;
        let prefix = match words[..] {
            [] => String::new(),
            [(from, to)] => self.file[from..to].to_owned(),
            _ => return Err(Wrong::at(at, format!("\\{name} takes one prefix at the most"))),
        };
        let keep = if name == "gset" { Keep::OneRow(prefix) } else { Keep::LastRows(prefix) };
        if statement.is_none() {
            return Err(Wrong::at(
                at,
                format!("\\{name} must follow a statement, in the place of its semicolon"),
            ));
        }
        if self.in_pipeline.is_some() {
            return Err(Wrong::at(
                at,
                format!("\\{name} needs an answer, and a pipeline has none until it ends"),
            ));
        }
        self.statement(statement, keep)
    }

    fn command(&mut self, meta: &Meta<'_>) -> Result<(), Wrong> {
        match meta.name {
            "set" => self.set(meta),
            "if" => {
                let condition = self.condition(meta)?;
                let at = self.push(meta.at, Kind::If(condition, 0));
                self.open.push(Open {
                    byte: meta.at,
                    condition: Some(at),
                    leaves: Vec::new(),
                    had_else: false,
                });
                Ok(())
            }
            "elif" => {
                let condition = self.condition(meta)?;
                self.next_branch(meta, false)?;
                let at = self.push(meta.at, Kind::If(condition, 0));
                if let Some(open) = self.open.last_mut() {
                    open.condition = Some(at);
                }
                Ok(())
            }
            "else" => {
                meta.takes(0, 0)?;
                self.next_branch(meta, true)
            }
            "endif" => {
                meta.takes(0, 0)?;
                let Some(open) = self.open.pop() else {
                    return Err(Wrong::at(meta.at, "this \\endif has no \\if"));
                };
                let next = self.commands.len();
                for at in open.condition.into_iter().chain(open.leaves) {
                    self.go_to(at, next);
                }
                Ok(())
            }
            "sleep" => {
                let (pause, each) = meta.pause()?;
                self.push(meta.at, Kind::Sleep(pause, each));
                Ok(())
            }
            "startpipeline" => {
                meta.takes(0, 0)?;
                if self.in_pipeline.is_some() {
                    return Err(Wrong::at(meta.at, "a pipeline has started already"));
                }
                self.in_pipeline = Some(meta.at);
                self.push(meta.at, Kind::Pipeline(Pipeline::Start));
                Ok(())
            }
            "syncpipeline" | "endpipeline" => {
                meta.takes(0, 0)?;
                if self.in_pipeline.is_none() {
                    let text = format!("\\{} without \\startpipeline", meta.name);
                    return Err(Wrong::at(meta.at, text));
                }
                let ends = meta.name == "endpipeline";
                if ends {
                    self.in_pipeline = None;
                }
                self.push(
                    meta.at,
                    Kind::Pipeline(if ends { Pipeline::End } else { Pipeline::Sync }),
                );
                Ok(())
            }
            "setrandom" => Err(Wrong::at(meta.at, meta.modern())),
            "setshell" | "shell" => Err(Wrong::at(
                meta.at,
                format!("\\{} starts a program, which Redolab does not do for a script", meta.name),
            )),
            "" => Err(Wrong::at(meta.at, "a backslash begins a meta command, such as \\set")),
            name => Err(Wrong::at(meta.at, format!("\\{name} is not a meta command of pgbench's"))),
        }
    }

    fn set(&mut self, meta: &Meta<'_>) -> Result<(), Wrong> {
        meta.takes(2, usize::MAX)?;
        let (from, to) = meta.words[0];
        let name = &self.file[from..to];
        if !is_name(name) {
            let text = format!(
                "\"{name}\" is not a variable's name: letters, digits and _, and no digit at the beginning"
            );
            return Err(Wrong::at(from, text));
        }
        let (name, value) = (name.to_owned(), expression(self.file, meta.words[1].0, meta.end)?);
        self.push(meta.at, Kind::Set(name, value));
        Ok(())
    }

    fn condition(&self, meta: &Meta<'_>) -> Result<Expression, Wrong> {
        meta.takes(1, usize::MAX)?;
        expression(self.file, meta.words[0].0, meta.end)
    }

    /// The end of a branch: whoever took it leaves, and whoever did not comes to the next command.
    fn next_branch(&mut self, meta: &Meta<'_>, is_else: bool) -> Result<(), Wrong> {
        match self.open.last() {
            None => return Err(Wrong::at(meta.at, format!("this \\{} has no \\if", meta.name))),
            Some(open) if open.had_else => {
                return Err(Wrong::at(meta.at, format!("\\{} after \\else", meta.name)));
            }
            Some(_) => {}
        }
        let leave = self.push(meta.at, Kind::Leave(0));
        let next = self.commands.len();
        let mut waiting = None;
        if let Some(open) = self.open.last_mut() {
            open.leaves.push(leave);
            open.had_else = is_else;
            waiting = open.condition.take();
        }
        if let Some(at) = waiting {
            self.go_to(at, next);
        }
        Ok(())
    }

    fn go_to(&mut self, at: usize, next: usize) {
        if let Kind::If(_, to) | Kind::Leave(to) = &mut self.commands[at].kind {
            *to = next;
        }
    }
}

/// Whether a variable may have this name.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && variable_length(name) == name.len()
        && !name.starts_with(|first: char| first.is_ascii_digit())
}
