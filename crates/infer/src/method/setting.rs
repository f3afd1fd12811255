//! Settings of a method by name and text, as the command line and other languages give them.

use std::fmt::Display;
use std::str::FromStr;

use crate::method::{METHODS, MethodInfo};

/// Reads a value from text, or says what was expected.
type Set<'a> = dyn FnOnce(&str) -> Result<(), String> + 'a;

/// One setting of a method: its name, what it does, and a way to change it.
pub struct Setting<'a> {
    /// The name, in words joined by hyphens.
    pub name: &'static str,
    /// What stands for a value in help, such as `N`.
    pub value: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The values there are, with their help; empty where there are too many to list.
    pub choices: Vec<(&'static str, &'static str)>,
    set: Box<Set<'a>>,
}

impl<'a> Setting<'a> {
    /// A setting that reads its value from text. Its mistakes say what was expected.
    pub fn new(
        name: &'static str,
        value: &'static str,
        help: &'static str,
        set: impl FnOnce(&str) -> Result<(), String> + 'a,
    ) -> Setting<'a> {
        Setting {
            name,
            value,
            help,
            choices: Vec::new(),
            set: Box::new(set),
        }
    }

    /// A count that is chosen by a rule unless it is given.
    pub fn count(
        name: &'static str,
        value: &'static str,
        help: &'static str,
        to: &'a mut Option<usize>,
    ) -> Setting<'a> {
        Setting::new(name, value, help, |text| {
            *to = Some(parsed(text, "a whole number")?);
            Ok(())
        })
    }

    /// One of a few values by name.
    pub fn one_of<T: Clone + 'a>(
        name: &'static str,
        help: &'static str,
        choices: Vec<(&'static str, &'static str, T)>,
        to: &'a mut T,
    ) -> Setting<'a> {
        let listed = choices.iter().map(|(name, help, _)| (*name, *help));
        let listed = listed.collect();
        let set = move |text: &str| {
            let found = choices.iter().find(|(name, ..)| *name == text);
            let names: Vec<&str> = choices.iter().map(|(name, ..)| *name).collect();
            let (.., value) = found
                .ok_or_else(|| format!("expected one of {}, found {text:?}", names.join(", ")))?;
            *to = value.clone();
            Ok(())
        };
        Setting {
            choices: listed,
            ..Setting::new(name, "NAME", help, set)
        }
    }

    /// Changes it.
    pub(super) fn set(self, text: &str) -> Result<(), SettingError> {
        let name = self.name;
        (self.set)(text.trim()).map_err(|problem| SettingError::Value { name, problem })
    }
}

/// A value of a type that says itself what is wrong with a text.
pub fn parsed<T: FromStr>(text: &str, expected: &str) -> Result<T, String> {
    let parsed = text.parse();
    parsed.map_err(|_| format!("expected {expected}, found {text:?}"))
}

/// A setting that a method does not have, or a value that it cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The value cannot be read.
    #[error("{name}: {problem}")]
    Value {
        /// The setting.
        name: &'static str,
        /// What was expected and what was found.
        problem: String,
    },
    /// Another method has it.
    #[error("{method}: the method has no setting {name}\n  hint: {owners} {verb}")]
    Other {
        /// The method.
        method: &'static str,
        /// The setting.
        name: String,
        /// Those that have it.
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

impl SettingError {
    /// The error of a name that is not among a method's settings.
    pub(super) fn unknown(method: &'static MethodInfo, name: &str) -> SettingError {
        let has = |row: &&&MethodInfo| row.settings().iter().any(|one| one.name == name);
        let owners: Vec<&str> = METHODS.iter().filter(has).map(|row| row.name).collect();
        let (method, name) = (method.name, name.to_owned());
        match owners.as_slice() {
            [] => SettingError::Unknown {
                method,
                name,
                known: list(&known(method)),
            },
            [_] => SettingError::Other {
                method,
                name,
                owners: list(&owners),
                verb: "has it",
            },
            _ => SettingError::Other {
                method,
                name,
                owners: list(&owners),
                verb: "have it",
            },
        }
    }
}

fn known(method: &str) -> Vec<&'static str> {
    let row = METHODS.iter().find(|row| row.name == method);
    let settings = row.map(|row| row.settings()).unwrap_or_default();
    settings.iter().map(|one| one.name).collect()
}

/// `a, b and c`
fn list<T: Display>(names: &[T]) -> String {
    match names {
        [] => "none".into(),
        [one] => one.to_string(),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            format!("{} and {last}", first.join(", "))
        }
    }
}
