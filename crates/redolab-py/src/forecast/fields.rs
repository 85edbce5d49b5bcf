//! Records of Python and of Rust with fields of the same names.

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

pub(crate) use read_fields;
