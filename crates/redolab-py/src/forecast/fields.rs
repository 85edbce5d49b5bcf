//! Records of Python and of Rust with fields of the same names: each list of names stands once.

/// A Rust record from a Python object's attributes; those after the semicolon are made otherwise.
macro_rules! read_fields {
    ($object:expr => $record:ident { $($field:ident),* $(,)? ; $($other:ident: $made:expr),* $(,)? }) => {
        $record {
            $($field: $object
                .getattr(pyo3::intern!($object.py(), stringify!($field)))?
                .extract()?,)*
            $($other: $made,)*
        }
    };
}

/// A Rust record's fields as entries of a Python dictionary.
macro_rules! write_fields {
    ($record:expr => $entries:expr, { $($field:ident),* $(,)? }) => {
        $($entries.set_item(
            pyo3::intern!($entries.py(), stringify!($field)),
            $record.$field.clone(),
        )?;)*
    };
}

pub(crate) use {read_fields, write_fields};
