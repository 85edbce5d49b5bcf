//! The value of an expression.

use crate::draws::Draws;
use crate::expression::{Expression, Kind, Operator};
use crate::fault::Wrong;
use crate::functions::remainder;
use crate::value::Value;

/// Where variables are looked up.
pub(crate) trait Variables {
    /// The value of a variable, or what is wrong with it.
    fn value_of(&self, name: &str) -> Result<Value, String>;
}

/// Compute.
pub(crate) fn evaluate(
    expression: &Expression,
    variables: &dyn Variables,
    draws: &mut Draws,
) -> Result<Value, Wrong> {
    let here = |text: String| Wrong::at(expression.byte, text);
    match &expression.kind {
        Kind::Constant(value) => Ok(*value),
        Kind::Variable(name) => variables.value_of(name).map_err(here),
        Kind::Call(function, arguments) => {
            let mut values = Vec::with_capacity(arguments.len());
            for argument in arguments {
                values.push(evaluate(argument, variables, draws)?);
            }
            function.of(&values, draws).map_err(here)
        }
        Kind::Not(inner) => match evaluate(inner, variables, draws)? {
            Value::Null => Ok(Value::Null),
            value => Ok(Value::Bool(!value.as_bool().map_err(here)?)),
        },
        Kind::And(left, right) => decided(left, right, false, variables, draws),
        Kind::Or(left, right) => decided(left, right, true, variables, draws),
        Kind::Is(inner, tested) => {
            let value = evaluate(inner, variables, draws)?;
            Ok(Value::Bool(match tested {
                Value::Bool(truth) => value == Value::Bool(*truth),
                _ => value == Value::Null,
            }))
        }
        Kind::Case(branches, otherwise) => {
            for (condition, given) in branches {
                if evaluate(condition, variables, draws)?.holds() {
                    return evaluate(given, variables, draws);
                }
            }
            evaluate(otherwise, variables, draws)
        }
        Kind::Binary(operator, left, right) => {
            let left = evaluate(left, variables, draws)?;
            let right = evaluate(right, variables, draws)?;
            if left == Value::Null || right == Value::Null {
                return Ok(Value::Null);
            }
            binary(*operator, left, right).map_err(here)
        }
    }
}

/// AND and OR. As in pgbench, the second is not looked at where the first decides or is NULL.
fn decided(
    left: &Expression,
    right: &Expression,
    decides: bool,
    variables: &dyn Variables,
    draws: &mut Draws,
) -> Result<Value, Wrong> {
    for side in [left, right] {
        match evaluate(side, variables, draws)? {
            Value::Null => return Ok(Value::Null),
            value => {
                if value.as_bool().map_err(|text| Wrong::at(side.byte, text))? == decides {
                    return Ok(Value::Bool(decides));
                }
            }
        }
    }
    Ok(Value::Bool(!decides))
}

fn binary(operator: Operator, left: Value, right: Value) -> Result<Value, String> {
    let doubles = matches!(left, Value::Double(_)) || matches!(right, Value::Double(_));
    let ints = || Ok::<_, String>((left.as_int()?, right.as_int()?));
    let beyond = |verb: &str| format!("{left} {verb} {right} is too great for an int");
    Ok(match operator {
        Operator::Remainder => {
            let (number, by) = ints()?;
            remainder(number, by)?
        }
        Operator::BitAnd => ints().map(|(a, b)| Value::Int(a & b))?,
        Operator::BitOr => ints().map(|(a, b)| Value::Int(a | b))?,
        Operator::BitXor => ints().map(|(a, b)| Value::Int(a ^ b))?,
        Operator::ShiftLeft => ints().map(|(a, b)| Value::Int(shifted(a, b, i64::wrapping_shl)))?,
        Operator::ShiftRight => {
            ints().map(|(a, b)| Value::Int(shifted(a, b, i64::wrapping_shr)))?
        }
        _ if doubles => {
            let (a, b) = (left.as_double()?, right.as_double()?);
            match operator {
                Operator::Add => Value::Double(a + b),
                Operator::Subtract => Value::Double(a - b),
                Operator::Multiply => Value::Double(a * b),
                Operator::Divide => Value::Double(a / b),
                _ => Value::Bool(compared(operator, &a, &b)),
            }
        }
        _ => {
            let (a, b) = ints()?;
            match operator {
                Operator::Add => Value::Int(a.checked_add(b).ok_or_else(|| beyond("plus"))?),
                Operator::Subtract => Value::Int(a.checked_sub(b).ok_or_else(|| beyond("minus"))?),
                Operator::Multiply => Value::Int(a.checked_mul(b).ok_or_else(|| beyond("times"))?),
                Operator::Divide if b == 0 => return Err("division by zero".to_owned()),
                Operator::Divide => {
                    Value::Int(a.checked_div(b).ok_or_else(|| beyond("divided by"))?)
                }
                _ => Value::Bool(compared(operator, &a, &b)),
            }
        }
    })
}

fn shifted(number: i64, by: i64, shift: fn(i64, u32) -> i64) -> i64 {
    shift(number, (by & 63).unsigned_abs().try_into().unwrap_or(0))
}

fn compared<T: PartialOrd>(operator: Operator, left: &T, right: &T) -> bool {
    match operator {
        Operator::Equal => left == right,
        Operator::NotEqual => left != right,
        Operator::Less => left < right,
        _ => left <= right,
    }
}
