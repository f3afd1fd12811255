//! Names and values that no method accepts, or not this one.

/// The name of no method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("method: expected one of {known}, found {found:?}")]
pub struct UnknownMethod {
    /// The unknown name.
    pub found: String,
    /// The known names.
    pub known: String,
}

/// A setting that a method does not have, or a value that it cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The value cannot be read.
    #[error("{name}: {problem}")]
    Value {
        /// The setting.
        name: &'static str,
        /// The expected and the found value.
        problem: String,
    },
    /// Another method has it.
    #[error("{method}: the method has no setting {name}\n  hint: {owners} {verb}")]
    Other {
        /// The method.
        method: &'static str,
        /// The setting.
        name: String,
        /// The methods that have it.
        owners: String,
        /// `has it` or `have it`.
        verb: &'static str,
    },
    /// No method has it.
    #[error("{method}: no method has a setting {name:?}\n  hint: its settings are {known}")]
    Unknown {
        /// The method.
        method: &'static str,
        /// The name.
        name: String,
        /// The settings of the method.
        known: String,
    },
}
