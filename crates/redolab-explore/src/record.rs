//! How far earlier forecasts were off.

use redolab_forecast::{FAMILIES, Refused};

use crate::numbers::{Numbers, write_list};

/// What is forecast of a setting, in the order of every answer.
pub const QUANTITIES: [&str; 11] = [
    "throughput_per_s",
    "response_time_ms",
    "response_time_ms_p95",
    "cpu_utilization",
    "device_utilization",
    "commit_time_ms",
    "commit_time_ms_p50",
    "commit_time_ms_p95",
    "commit_time_ms_p99",
    "commits_per_flush",
    "rows_per_s",
];

/// Quantities whose ratio to today's has errors of its own, and the ratio's name.
pub const RATIOS: [(&str, &str); 3] = [
    ("throughput_per_s", "throughput_ratio"),
    ("response_time_ms", "response_time_ratio"),
    ("commit_time_ms", "commit_time_ratio"),
];

/// Ln(observed / forecast) of earlier forecasts, by the names of family and of quantity or ratio.
pub type Errors = Vec<(String, String, Vec<f64>)>;

/// Ln(observed / forecast) of earlier forecasts, by family and quantity or ratio.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record(Vec<((usize, usize), Vec<f64>)>);

impl Record {
    /// Errors by the names of family and quantity; of those that are not forecast here nothing is kept.
    pub fn new(errors: Errors) -> Self {
        let place = |(family, name, values): (String, String, Vec<f64>)| {
            Some(((family_place(&family)?, name_place(&name)?), values))
        };
        Self(errors.into_iter().filter_map(place).collect())
    }

    /// The errors of one quantity or ratio in one family.
    pub fn errors(&self, family: &str, name: &str) -> &[f64] {
        let wanted = family_place(family).zip(name_place(name));
        let found = self.0.iter().find(|(place, _)| Some(*place) == wanted);
        found.map_or(&[], |(_, values)| values.as_slice())
    }

    /// As numbers.
    pub fn write(&self, to: &mut Vec<f64>) {
        to.push(crate::numbers::length(self.0.len()));
        for ((family, name), values) in &self.0 {
            to.extend([*family, *name].map(crate::numbers::length));
            write_list(to, values);
        }
    }

    /// The same, read.
    ///
    /// # Errors
    /// Numbers that are no record.
    pub fn read(from: &mut Numbers<'_>) -> Result<Self, Refused> {
        let count = from.count(3)?;
        let place = |from: &mut Numbers<'_>| from.small().map(|place| place as usize);
        (0..count)
            .map(|_| Ok(((place(from)?, place(from)?), from.list()?)))
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

fn family_place(family: &str) -> Option<usize> {
    FAMILIES.iter().position(|name| *name == family)
}

/// Quantities first, then ratios.
fn name_place(name: &str) -> Option<usize> {
    let ratios = RATIOS.iter().map(|(_, ratio)| *ratio);
    QUANTITIES.iter().copied().chain(ratios).position(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_found_by_family_and_name() {
        let given = |family: &str, name: &str, values: &[f64]| {
            (family.to_owned(), name.to_owned(), values.to_vec())
        };
        let record = Record::new(vec![
            given("batches", "throughput_per_s", &[0.1, -0.2]),
            given("batches", "throughput_ratio", &[0.3]),
            given("of somebody else", "throughput_per_s", &[9.0]),
            given("batches", "of somebody else", &[9.0]),
        ]);
        let mut numbers = Vec::new();
        record.write(&mut numbers);
        let again = Record::read(&mut Numbers::new(&numbers)).unwrap();
        assert_eq!(again, record);
        assert_eq!(again.errors("batches", "throughput_per_s"), [0.1, -0.2]);
        assert_eq!(again.errors("batches", "throughput_ratio"), [0.3]);
        assert_eq!(again.errors("single rows", "throughput_per_s"), [0.0; 0]);
        assert_eq!(again.errors("of somebody else", "throughput_per_s"), [0.0; 0]);
    }
}
