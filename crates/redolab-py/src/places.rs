//! Where the keys and values of a TOML text stand: Python's own parser reads them, and forgets.

use std::ops::Range;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use toml_edit::{Document, Item, TableLike, Value};

/// Path of keys (and numbers of list entries), line and column of the value, both from 1.
type Place = (Vec<String>, usize, usize);

/// Read where every value of a TOML text begins, for a text its first letter, for a table its name.
///
/// Raises ValueError when the text is no TOML.
#[pyfunction]
pub fn toml_places(text: &str) -> PyResult<Vec<Place>> {
    let document =
        Document::parse(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut found = Vec::new();
    table_places(document.as_table(), &[], text, &mut found);
    Ok(found)
}

fn table_places(table: &dyn TableLike, path: &[String], text: &str, found: &mut Vec<Place>) {
    for (name, item) in table.iter() {
        let path: Vec<String> = path.iter().cloned().chain([name.to_owned()]).collect();
        let key = table.key(name).and_then(toml_edit::Key::span);
        match item {
            Item::Table(inner) => {
                note(&path, inner.span().or(key), text, found);
                table_places(inner, &path, text, found);
            }
            Item::Value(value) => value_places(value, &path, text, found),
            Item::None | Item::ArrayOfTables(_) => note(&path, item.span().or(key), text, found),
        }
    }
}

fn value_places(value: &Value, path: &[String], text: &str, found: &mut Vec<Place>) {
    note(path, value.span().map(|span| content(value, span, text)), text, found);
    if let Some(entries) = value.as_array() {
        for (number, entry) in entries.iter().enumerate() {
            let path: Vec<String> = path.iter().cloned().chain([number.to_string()]).collect();
            value_places(entry, &path, text, found);
        }
    } else if let Some(inner) = value.as_inline_table() {
        table_places(inner, path, text, found);
    }
}

/// Where the content of a value begins: behind the quotes, and behind the line end that TOML drops.
fn content(value: &Value, span: Range<usize>, text: &str) -> Range<usize> {
    let written = &text[span.clone()];
    let quotes = match written {
        _ if !value.is_str() => 0,
        _ if written.starts_with("\"\"\"\r\n") || written.starts_with("'''\r\n") => 5,
        _ if written.starts_with("\"\"\"\n") || written.starts_with("'''\n") => 4,
        _ if written.starts_with("\"\"\"") || written.starts_with("'''") => 3,
        _ => 1,
    };
    span.start + quotes..span.end
}

fn note(path: &[String], span: Option<Range<usize>>, text: &str, found: &mut Vec<Place>) {
    if let Some(before) = span.and_then(|span| text.get(..span.start)) {
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&sign| sign != '\n').count() + 1;
        found.push((path.to_vec(), line, column));
    }
}
