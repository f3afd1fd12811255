//! Settings of a method by name and text, as in the command line and other languages.

use std::str::FromStr;

use crate::error::SettingError;

/// Parses a value, or reports what was expected.
type Set<'a> = dyn FnOnce(&str) -> Result<(), String> + 'a;

/// One setting of a method: its name, its description, and a way to change it.
pub struct Setting<'a> {
    /// The name, in words joined by hyphens.
    pub name: &'static str,
    /// The placeholder of a value in help, such as `N`.
    pub value: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The possible values, with their help; empty if there are too many to list.
    pub choices: Vec<(&'static str, &'static str)>,
    set: Box<Set<'a>>,
}

impl<'a> Setting<'a> {
    /// A setting that is parsed from text. Its errors report what was expected.
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
    pub fn count(name: &'static str, help: &'static str, to: &'a mut Option<usize>) -> Setting<'a> {
        Setting::new(name, "N", help, |text| {
            *to = Some(parsed(text, "a whole number")?);
            Ok(())
        })
    }

    /// A count with a fixed default.
    pub fn size(name: &'static str, help: &'static str, to: &'a mut usize) -> Setting<'a> {
        Setting::new(name, "N", help, |text| {
            *to = parsed(text, "a whole number")?;
            Ok(())
        })
    }

    /// The same setting with another placeholder of its value.
    #[must_use]
    pub fn with_value(self, value: &'static str) -> Setting<'a> {
        Setting { value, ..self }
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
    pub(crate) fn set(self, text: &str) -> Result<(), SettingError> {
        let name = self.name;
        (self.set)(text.trim()).map_err(|problem| SettingError::Value { name, problem })
    }
}

/// A value of a type that reports its own parse errors.
pub fn parsed<T: FromStr>(text: &str, expected: &str) -> Result<T, String> {
    let parsed = text.parse();
    parsed.map_err(|_| format!("expected {expected}, found {text:?}"))
}
