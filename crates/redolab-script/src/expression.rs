//! Expressions, as they were read.

use crate::functions::Function;
use crate::value::Value;

/// An expression, and the byte of its file at which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression {
    pub(crate) kind: Kind,
    pub(crate) byte: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Constant(Value),
    Variable(String),
    Call(Function, Vec<Expression>),
    Not(Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// Whether it is one of these: NULL, TRUE or FALSE.
    Is(Box<Expression>, Value),
    /// Conditions and what each gives; what is given where none holds.
    Case(Vec<(Expression, Expression)>, Box<Expression>),
}

/// An operator between two values, of which neither is NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
}
