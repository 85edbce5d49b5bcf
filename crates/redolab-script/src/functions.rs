//! The functions of an expression.

use crate::draws::{self, Draws, LEAST_GAUSSIAN, ZIPFIAN};
use crate::value::Value;

macro_rules! functions {
    ($($variant:ident $names:expr, $fewest:expr, $most:expr;)*) => {
        /// A function by what it computes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Function { $($variant,)* }

        const KNOWN: &[(Function, &[&str], usize, usize)] = &[$((Function::$variant, &$names, $fewest, $most),)*];
    };
}

const MANY: usize = 1_000;

functions! {
    Abs ["abs"], 1, 1;
    Debug ["debug"], 1, 1;
    Double ["double"], 1, 1;
    Exp ["exp"], 1, 1;
    Fnv1a ["hash_fnv1a"], 1, 2;
    Greatest ["greatest"], 1, MANY;
    Int ["int"], 1, 1;
    Least ["least"], 1, MANY;
    Ln ["ln"], 1, 1;
    Mod ["mod"], 2, 2;
    Murmur2 ["hash", "hash_murmur2"], 1, 2;
    Permute ["permute"], 2, 3;
    Pi ["pi"], 0, 0;
    Pow ["pow", "power"], 2, 2;
    Random ["random"], 2, 2;
    RandomExponential ["random_exponential"], 3, 3;
    RandomGaussian ["random_gaussian"], 3, 3;
    RandomZipfian ["random_zipfian"], 3, 3;
    Sqrt ["sqrt"], 1, 1;
}

impl Function {
    /// The function of a name, and the fewest and the most arguments that it takes.
    pub(crate) fn named(name: &str) -> Option<(Self, usize, usize)> {
        KNOWN
            .iter()
            .find(|(_, names, _, _)| names.contains(&name))
            .map(|(function, _, fewest, most)| (*function, *fewest, *most))
    }

    /// Whether it has a seed after its `given` arguments that the script left out.
    pub(crate) fn wants_seed(self, given: usize) -> bool {
        match self {
            Self::Fnv1a | Self::Murmur2 => given == 1,
            Self::Permute => given == 2,
            _ => false,
        }
    }

    /// Its value. NULL among the arguments gives NULL, except for `debug`.
    pub(crate) fn of(self, arguments: &[Value], draws: &mut Draws) -> Result<Value, String> {
        if self != Self::Debug && arguments.contains(&Value::Null) {
            return Ok(Value::Null);
        }
        let double = |place: usize| arguments[place].as_double();
        let int = |place: usize| arguments[place].as_int();
        Ok(match self {
            Self::Debug => arguments[0],
            Self::Abs => match arguments[0] {
                Value::Double(number) => Value::Double(number.abs()),
                other => Value::Int(other.as_int()?.checked_abs().ok_or("abs of the least int")?),
            },
            Self::Double => Value::Double(double(0)?),
            Self::Int => Value::Int(int(0)?),
            Self::Exp => Value::Double(double(0)?.exp()),
            Self::Ln => Value::Double(double(0)?.ln()),
            Self::Sqrt => Value::Double(double(0)?.sqrt()),
            Self::Pi => Value::Double(std::f64::consts::PI),
            Self::Pow => Value::Double(double(0)?.powf(double(1)?)),
            Self::Mod => remainder(int(0)?, int(1)?)?,
            Self::Greatest => extreme(arguments, true)?,
            Self::Least => extreme(arguments, false)?,
            Self::Fnv1a => Value::Int(draws::fnv1a(int(0)?, int(1)?)),
            Self::Murmur2 => Value::Int(draws::murmur2(int(0)?, int(1)?)),
            Self::Permute => {
                let size = int(1)?;
                if size <= 0 {
                    return Err(format!("permute needs a size greater than 0, and this is {size}"));
                }
                Value::Int(draws::permuted(int(0)?, size, int(2)?))
            }
            Self::Random => {
                let (low, high) = range("random", int(0)?, int(1)?)?;
                Value::Int(draws.uniform(low, high))
            }
            Self::RandomExponential | Self::RandomGaussian | Self::RandomZipfian => {
                self.drawn(int(0)?, int(1)?, double(2)?, draws)?
            }
        })
    }

    fn drawn(
        self,
        low: i64,
        high: i64,
        parameter: f64,
        draws: &mut Draws,
    ) -> Result<Value, String> {
        let name = match self {
            Self::RandomExponential => "random_exponential",
            Self::RandomGaussian => "random_gaussian",
            _ => "random_zipfian",
        };
        let (low, high) = range(name, low, high)?;
        let wrong = |least: String| {
            Err(format!(
                "the third argument of {name} must be {least}, and this is {}",
                Value::Double(parameter)
            ))
        };
        match self {
            Self::RandomExponential if parameter > 0.0 => {
                Ok(Value::Int(draws.exponential(low, high, parameter)))
            }
            Self::RandomExponential => wrong("greater than 0".to_owned()),
            Self::RandomGaussian if parameter >= LEAST_GAUSSIAN => {
                Ok(Value::Int(draws.gaussian(low, high, parameter)))
            }
            Self::RandomGaussian => wrong(format!("at least {LEAST_GAUSSIAN}")),
            _ if (ZIPFIAN.0..=ZIPFIAN.1).contains(&parameter) => {
                Ok(Value::Int(draws.zipfian(low, high, parameter)))
            }
            _ => wrong(format!("from {} to {}", ZIPFIAN.0, ZIPFIAN.1)),
        }
    }
}

/// The remainder of a division of ints, with the sign of the first.
pub(crate) fn remainder(number: i64, by: i64) -> Result<Value, String> {
    match by {
        0 => Err("division by zero".to_owned()),
        // The least int has a remainder too.
        -1 => Ok(Value::Int(0)),
        by => Ok(Value::Int(number % by)),
    }
}

fn extreme(arguments: &[Value], greatest: bool) -> Result<Value, String> {
    let better = |new: f64, old: f64| if greatest { new > old } else { new < old };
    if arguments.iter().any(|value| matches!(value, Value::Double(_))) {
        let mut best = arguments[0].as_double()?;
        for value in &arguments[1..] {
            let number = value.as_double()?;
            if better(number, best) {
                best = number;
            }
        }
        return Ok(Value::Double(best));
    }
    let mut numbers =
        arguments.iter().map(|value| value.as_int()).collect::<Result<Vec<_>, _>>()?;
    numbers.sort_unstable();
    let best = if greatest { numbers.last() } else { numbers.first() };
    Ok(best.map_or(Value::Null, |number| Value::Int(*number)))
}

fn range(name: &str, low: i64, high: i64) -> Result<(i64, i64), String> {
    if low > high {
        return Err(format!("{name} has an empty range: {low} is greater than {high}"));
    }
    match high.checked_sub(low).and_then(|span| span.checked_add(1)) {
        Some(_) => Ok((low, high)),
        None => Err(format!("{name} has too large a range: {low} to {high}")),
    }
}
