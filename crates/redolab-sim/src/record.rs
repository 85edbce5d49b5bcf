//! Records whose fields are listed in one place: whoever reads or writes one goes through them by name.

/// What a record is read from.
pub trait Source {
    /// Why that fails.
    type Error;
}

/// A source that knows fields of type `F`.
pub trait Read<F>: Source {
    /// The field of that name, the next in the order of declaration; `usual` where the source may leave it out.
    ///
    /// # Errors
    /// It is not there, or something else is.
    fn read(&mut self, name: &'static str, usual: F) -> Result<F, Self::Error>;
}

/// What a record is written to.
pub trait Target {
    /// Why that fails.
    type Error;
}

/// A target that knows fields of type `F`.
pub trait Write<F>: Target {
    /// Write the field of that name, the next in the order of declaration.
    ///
    /// # Errors
    /// Whatever the target says.
    fn write(&mut self, name: &'static str, value: &F) -> Result<(), Self::Error>;
}

/// Declares a record with a usual value for each field, which is read and written field by field.
#[macro_export]
macro_rules! record {
    ($(#[$about:meta])* pub struct $name:ident {
        $($(#[$doc:meta])* pub $field:ident: $kind:ty = $usual:expr,)+
    }) => {
        $(#[$about])*
        pub struct $name {
            $($(#[$doc])* pub $field: $kind,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $usual,)+ }
            }
        }

        impl $name {
            /// Read it; what the source leaves out is as in `usual`.
            ///
            /// # Errors
            /// Those of the source.
            pub fn read<S>(from: &mut S, usual: Self) -> Result<Self, S::Error>
            where
                S: $crate::Source $(+ $crate::Read<$kind>)+,
            {
                Ok(Self { $($field: from.read(stringify!($field), usual.$field)?,)+ })
            }

            /// Write it.
            ///
            /// # Errors
            /// Those of the target.
            pub fn write<T>(&self, to: &mut T) -> Result<(), T::Error>
            where
                T: $crate::Target $(+ $crate::Write<$kind>)+,
            {
                $(to.write(stringify!($field), &self.$field)?;)+
                Ok(())
            }
        }
    };
}
