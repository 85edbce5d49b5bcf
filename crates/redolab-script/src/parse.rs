//! Reads an expression: the precedence of its operators is pgbench's.

use crate::expression::{Expression, Kind, Operator};
use crate::fault::Wrong;
use crate::functions::Function;
use crate::tokens::{Placed, Token, tokens};
use crate::value::Value;

/// An expression within an expression, and so on: not deeper.
const DEEPEST: usize = 200;
/// Binds less than anything.
const LOOSEST: u8 = 0;
const NOT: u8 = 3;
const IS: u8 = 4;
const COMPARED: u8 = 5;
const BITS: u8 = 6;
const SIGN: u8 = 9;

/// The expression between two bytes of a file.
pub(crate) fn expression(file: &str, from: usize, to: usize) -> Result<Expression, Wrong> {
    let words = tokens(file, from, to)?;
    let mut reader = Reader { words: &words, at: 0, end: to, depth: 0 };
    let found = reader.expression(LOOSEST)?;
    match reader.words.get(reader.at) {
        None => Ok(found),
        Some(_) => Err(reader.unexpected()),
    }
}

struct Reader<'a> {
    words: &'a [Placed],
    at: usize,
    end: usize,
    depth: usize,
}

impl Reader<'_> {
    fn here(&self) -> usize {
        self.words.get(self.at).map_or(self.end, |(_, byte)| *byte)
    }

    fn unexpected(&self) -> Wrong {
        let text = match self.words.get(self.at) {
            None => "the expression ends too early".to_owned(),
            Some((token, _)) => format!("{} cannot come here in an expression", written(token)),
        };
        Wrong::at(self.here(), text)
    }

    fn peek(&self) -> Option<&Token> {
        self.words.get(self.at).map(|(token, _)| token)
    }

    fn takes_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(it)) if *it == sign);
        self.at += usize::from(found);
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(it)) if it == word);
        self.at += usize::from(found);
        found
    }

    fn needs_word(&mut self, word: &str) -> Result<(), Wrong> {
        if self.takes_word(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn needs_sign(&mut self, sign: &str) -> Result<(), Wrong> {
        if self.takes_sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// What binds more than `loosest`.
    fn expression(&mut self, loosest: u8) -> Result<Expression, Wrong> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Wrong::at(
                self.here(),
                format!("the expression is more than {DEEPEST} deep"),
            ));
        }
        let byte = self.here();
        let mut found = self.first()?;
        let mut length = 0;
        while let Some(kind) = self.further(&mut found, loosest)? {
            found = Expression { kind, byte };
            length += 1;
            // A chain of a thousand operators is as deep as a thousand brackets.
            if length > DEEPEST {
                return Err(Wrong::at(
                    self.here(),
                    format!("more than {DEEPEST} operators in a row"),
                ));
            }
        }
        self.depth -= 1;
        Ok(found)
    }

    /// What follows `left` and binds more than `loosest`.
    fn further(&mut self, left: &mut Expression, loosest: u8) -> Result<Option<Kind>, Wrong> {
        let Some(token) = self.peek().cloned() else { return Ok(None) };
        let Some(power) = binding(&token).filter(|power| *power > loosest) else { return Ok(None) };
        self.at += 1;
        let mut left = || {
            Box::new(std::mem::replace(
                left,
                Expression { kind: Kind::Constant(Value::Null), byte: 0 },
            ))
        };
        let kind = match &token {
            Token::Word(word) if word == "isnull" => Kind::Is(left(), Value::Null),
            Token::Word(word) if word == "notnull" => {
                negated(Kind::Is(left(), Value::Null), self.here())
            }
            Token::Word(word) if word == "is" => {
                let (byte, not) = (self.here(), self.takes_word("not"));
                let tested = match self.peek() {
                    Some(Token::Word(word)) => constant(word),
                    _ => None,
                };
                let Some(tested) = tested else { return Err(self.unexpected()) };
                self.at += 1;
                let kind = Kind::Is(left(), tested);
                if not { negated(kind, byte) } else { kind }
            }
            Token::Word(word) => {
                let (left, right) = (left(), Box::new(self.expression(power)?));
                if word == "and" { Kind::And(left, right) } else { Kind::Or(left, right) }
            }
            Token::Sign(sign) => {
                let (left, right) = (left(), Box::new(self.expression(power)?));
                // Comparisons do not associate.
                if power == COMPARED && self.peek().and_then(binding) == Some(COMPARED) {
                    return Err(self.unexpected());
                }
                between(sign, left, right)
            }
            _ => return Err(self.unexpected()),
        };
        Ok(Some(kind))
    }

    fn first(&mut self) -> Result<Expression, Wrong> {
        let byte = self.here();
        let Some((token, _)) = self.words.get(self.at) else { return Err(self.unexpected()) };
        self.at += 1;
        let kind = match token.clone() {
            Token::Int(number) => Kind::Constant(Value::Int(number)),
            Token::Double(number) => Kind::Constant(Value::Double(number)),
            Token::Variable(name) => Kind::Variable(name),
            Token::BeyondInt => {
                self.at -= 1;
                return Err(Wrong::at(byte, "9223372036854775808 is too great for an int"));
            }
            Token::Sign("(") => {
                let inner = self.expression(LOOSEST)?;
                self.needs_sign(")")?;
                return Ok(inner);
            }
            Token::Sign("+") => return self.expression(SIGN),
            Token::Sign("-") => {
                if matches!(self.peek(), Some(Token::BeyondInt)) {
                    self.at += 1;
                    Kind::Constant(Value::Int(i64::MIN))
                } else {
                    self.after_constant(Operator::Subtract, 0, SIGN, byte)?
                }
            }
            // All bits turned over.
            Token::Sign("~") => self.after_constant(Operator::BitXor, -1, BITS, byte)?,
            Token::Word(word) => return self.word(&word, byte),
            Token::Sign(_) => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        Ok(Expression { kind, byte })
    }

    fn after_constant(
        &mut self,
        operator: Operator,
        number: i64,
        power: u8,
        byte: usize,
    ) -> Result<Kind, Wrong> {
        let left = Expression { kind: Kind::Constant(Value::Int(number)), byte };
        Ok(Kind::Binary(operator, Box::new(left), Box::new(self.expression(power)?)))
    }

    fn word(&mut self, word: &str, byte: usize) -> Result<Expression, Wrong> {
        if let Some(value) = constant(word) {
            return Ok(Expression { kind: Kind::Constant(value), byte });
        }
        let kind = match word {
            "not" => Kind::Not(Box::new(self.expression(NOT - 1)?)),
            "case" => self.case()?,
            _ => self.call(word, byte)?,
        };
        Ok(Expression { kind, byte })
    }

    fn case(&mut self) -> Result<Kind, Wrong> {
        let mut branches = Vec::new();
        while self.takes_word("when") {
            let condition = self.expression(LOOSEST)?;
            self.needs_word("then")?;
            branches.push((condition, self.expression(LOOSEST)?));
        }
        if branches.is_empty() {
            return Err(self.unexpected());
        }
        let byte = self.here();
        let otherwise = if self.takes_word("else") {
            self.expression(LOOSEST)?
        } else {
            Expression { kind: Kind::Constant(Value::Null), byte }
        };
        self.needs_word("end")?;
        Ok(Kind::Case(branches, Box::new(otherwise)))
    }

    fn call(&mut self, name: &str, byte: usize) -> Result<Kind, Wrong> {
        let Some((function, fewest, most)) = Function::named(name) else {
            let text = if matches!(self.peek(), Some(Token::Sign("("))) {
                format!("there is no function {name}")
            } else {
                format!("{name} is not a number, a :variable or a function of pgbench's")
            };
            return Err(Wrong::at(byte, text));
        };
        self.needs_sign("(")?;
        let mut arguments = Vec::new();
        if !self.takes_sign(")") {
            loop {
                arguments.push(self.expression(LOOSEST)?);
                if self.takes_sign(")") {
                    break;
                }
                self.needs_sign(",")?;
            }
        }
        let given = arguments.len();
        if !(fewest..=most).contains(&given) {
            let wanted =
                if fewest == most { format!("{fewest}") } else { format!("{fewest} or more") };
            return Err(Wrong::at(
                byte,
                format!("{name} takes {wanted} arguments, and this gives {given}"),
            ));
        }
        if function.wants_seed(given) {
            arguments.push(Expression { kind: Kind::Variable("default_seed".to_owned()), byte });
        }
        Ok(Kind::Call(function, arguments))
    }
}

/// How much an operator after a value binds.
fn binding(token: &Token) -> Option<u8> {
    match token {
        Token::Word(word) => match word.as_str() {
            "or" => Some(1),
            "and" => Some(2),
            "is" | "isnull" | "notnull" => Some(IS),
            _ => None,
        },
        Token::Sign(sign) => match *sign {
            "<" | ">" | "=" | "<=" | ">=" | "<>" | "!=" => Some(COMPARED),
            "|" | "#" | "&" | "<<" | ">>" => Some(BITS),
            "+" | "-" => Some(7),
            "*" | "/" | "%" => Some(8),
            _ => None,
        },
        _ => None,
    }
}

fn between(sign: &str, left: Box<Expression>, right: Box<Expression>) -> Kind {
    let (operator, turned) = match sign {
        "+" => (Operator::Add, false),
        "-" => (Operator::Subtract, false),
        "*" => (Operator::Multiply, false),
        "/" => (Operator::Divide, false),
        "%" => (Operator::Remainder, false),
        "=" => (Operator::Equal, false),
        "<" => (Operator::Less, false),
        ">" => (Operator::Less, true),
        "<=" => (Operator::LessOrEqual, false),
        ">=" => (Operator::LessOrEqual, true),
        "|" => (Operator::BitOr, false),
        "#" => (Operator::BitXor, false),
        "&" => (Operator::BitAnd, false),
        "<<" => (Operator::ShiftLeft, false),
        ">>" => (Operator::ShiftRight, false),
        _ => (Operator::NotEqual, false),
    };
    let (left, right) = if turned { (right, left) } else { (left, right) };
    Kind::Binary(operator, left, right)
}

fn negated(kind: Kind, byte: usize) -> Kind {
    Kind::Not(Box::new(Expression { kind, byte }))
}

fn constant(word: &str) -> Option<Value> {
    match word {
        "null" => Some(Value::Null),
        "true" => Some(Value::Bool(true)),
        "false" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn written(token: &Token) -> String {
    match token {
        Token::Int(number) => number.to_string(),
        Token::BeyondInt => "9223372036854775808".to_owned(),
        Token::Double(number) => Value::Double(*number).to_string(),
        Token::Variable(name) => format!(":{name}"),
        Token::Word(word) => word.to_uppercase(),
        Token::Sign(sign) => (*sign).to_owned(),
    }
}
