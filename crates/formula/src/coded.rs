//! Explicit coding of levels: `C(shift, ref = "day")`, `C(dose, helmert)`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::column_use::{ColumnRole, UseListener};
use crate::error::{FormulaError, Span};
use crate::spelling::{suggestion, unknown_option};
use crate::syntax::{NodeKind, SyntaxNode, quote_name};

/// The arguments of `C` that have names.
const OPTIONS: [&str; 3] = ["ref", "levels", "contrast"];

/// A column whose levels have an explicit coding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodedColumn {
    /// The column.
    pub column: String,
    /// The contrasts of the coefficients.
    pub contrast: Contrast,
    /// The level without a coefficient of its own, if one was named.
    pub reference: Option<String>,
    /// The levels in order; empty for ascending order.
    pub order: Vec<String>,
}

/// The number of columns of zeros and ones that a categorical factor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LevelCoding {
    /// One column for each level but the first, with which the others are compared.
    Treatment,
    /// One column for each level.
    Full,
}

/// The comparison that the coefficients of levels express. The numbers are those of R's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contrast {
    /// Each level with the reference (`contr.treatment`).
    Treatment,
    /// Each level with the mean of all levels (`contr.sum`).
    Sum,
    /// Each level with the mean of those before it (`contr.helmert`).
    Helmert,
}

impl Contrast {
    /// Every contrast.
    pub const ALL: [Contrast; 3] = [Contrast::Treatment, Contrast::Sum, Contrast::Helmert];

    /// The name of the contrast in a formula.
    pub fn name(self) -> &'static str {
        match self {
            Self::Treatment => "treatment",
            Self::Sum => "sum",
            Self::Helmert => "helmert",
        }
    }

    /// The contrast as R (`contr.sum`) and patsy (`Sum`) write it.
    fn from_name(name: &str) -> Option<Self> {
        let plain = name.strip_prefix("contr.").unwrap_or(name).to_lowercase();
        Self::ALL.into_iter().find(|one| one.name() == plain)
    }

    /// The levels that have a column, all but one.
    pub(crate) fn kept_levels(self, levels: usize, reference: Option<usize>) -> Vec<usize> {
        let left_out = match self {
            Self::Treatment | Self::Helmert => reference.unwrap_or(0),
            Self::Sum => reference.unwrap_or(levels - 1),
        };
        (0..levels).filter(|place| *place != left_out).collect()
    }

    /// The entry of the contrast matrix for the level at `row` in the column of the level at
    /// `column`.
    pub(crate) fn contrast_value(self, row: usize, column: usize, kept: &[usize]) -> f64 {
        match self {
            Self::Sum if !kept.contains(&row) => -1.0,
            Self::Helmert if row < column => -1.0,
            Self::Helmert if row == column => column as f64,
            Self::Treatment | Self::Sum | Self::Helmert => f64::from(u8::from(row == column)),
        }
    }
}

impl CodedColumn {
    /// Reads the arguments of `C`.
    pub(crate) fn read_call(
        span: Span,
        arguments: &[SyntaxNode],
        used: &mut UseListener<'_>,
    ) -> Result<Self, FormulaError> {
        let (mut coded, options) = Self::first_argument("C", span, arguments, used)?;
        let mut given: Vec<&str> = Vec::new();
        for option in options {
            let (name, value) = match &option.kind {
                NodeKind::Named(name, value) => (name.as_str(), &**value),
                _ => ("contrast", option),
            };
            if given.contains(&name) {
                return Err(FormulaError::given_twice(option.span, name));
            }
            given.push(name);
            coded.read_option(name, option.span, value)?;
        }
        coded.check_options(span)?;
        Ok(coded)
    }

    /// The column that a call names first, in whatever order its arguments come, and the other
    /// arguments.
    pub(crate) fn first_argument<'a>(
        call: &str,
        span: Span,
        arguments: &'a [SyntaxNode],
        used: &mut UseListener<'_>,
    ) -> Result<(Self, &'a [SyntaxNode]), FormulaError> {
        let Some((first, options)) = arguments.split_first() else {
            return Err(
                FormulaError::new(span, format!("{call}() is given nothing"))
                    .with_hint(format!("name a column, as in {call}(x)")),
            );
        };
        let coded = Self {
            column: read_column(call, first, ColumnRole::Categorical, used)?,
            contrast: Contrast::Treatment,
            reference: None,
            order: Vec::new(),
        };
        Ok((coded, options))
    }

    fn read_option(
        &mut self,
        name: &str,
        span: Span,
        value: &SyntaxNode,
    ) -> Result<(), FormulaError> {
        match name {
            "ref" => self.reference = Some(read_level(value)?),
            "levels" => self.order = read_levels(value)?,
            "contrast" => self.contrast = read_contrast(value, &self.column)?,
            _ => return Err(unknown_option("C", name, span, &OPTIONS)),
        }
        Ok(())
    }

    fn check_options(&self, span: Span) -> Result<(), FormulaError> {
        let Some(reference) = &self.reference else {
            return Ok(());
        };
        if self.contrast == Contrast::Helmert {
            let hint = "set the order instead, as in levels = c(\"low\", \"mid\", \"high\")";
            let error = FormulaError::new(span, "helmert contrasts have no reference");
            return Err(error.with_hint(hint));
        }
        if self.order.is_empty() || self.order.contains(reference) {
            return Ok(());
        }
        let message = format!("the reference \"{reference}\" is not among the levels");
        let hint = suggestion(reference, "levels", &self.order);
        Err(FormulaError::new(span, message).with_hint(hint))
    }

    /// Writes the order of the levels, if there is one, and closes the call.
    pub(crate) fn write_order(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.order.is_empty() {
            let all: Vec<String> = self.order.iter().map(|level| in_quotes(level)).collect();
            write!(f, ", levels = c({})", all.join(", "))?;
        }
        f.write_str(")")
    }

    /// Whether it only marks the column as categorical.
    pub(crate) fn is_plain(&self) -> bool {
        self.contrast == Contrast::Treatment && self.reference.is_none() && self.order.is_empty()
    }

    /// The name of its coefficients before their levels. Treatment contrasts have the names that
    /// levels have anyway.
    pub(crate) fn label(&self) -> String {
        let column = quote_name(&self.column);
        match self.contrast {
            Contrast::Treatment => column.into_owned(),
            other => format!("C({column}, {})", other.name()),
        }
    }
}

/// The column that an argument names.
pub(crate) fn read_column(
    call: &str,
    node: &SyntaxNode,
    role: ColumnRole,
    used: &mut UseListener<'_>,
) -> Result<String, FormulaError> {
    let NodeKind::Name(name) = &node.without_parens().kind else {
        let message = format!("{call}(...) takes the name of a column");
        return Err(FormulaError::new(node.span, message)
            .with_hint("make a column of it in the table first"));
    };
    used(name, node.span, role);
    Ok(name.clone())
}

fn read_contrast(node: &SyntaxNode, column: &str) -> Result<Contrast, FormulaError> {
    let names = Contrast::ALL.map(Contrast::name);
    let name = match &node.without_parens().kind {
        NodeKind::Name(name) | NodeKind::Text(name) => name,
        NodeKind::Call(name, _) if Contrast::from_name(name).is_some() => {
            return Err(
                FormulaError::new(node.span, "a contrast takes no arguments")
                    .with_hint(format!("write C({}, ref = \"level\")", quote_name(column))),
            );
        }
        _ => {
            return Err(FormulaError::new(node.span, "a contrast is a name")
                .with_hint(format!("one of {}", names.join(", "))));
        }
    };
    Contrast::from_name(name).ok_or_else(|| {
        let error = FormulaError::new(node.span, format!("no contrast \"{name}\""));
        match name.as_str() {
            "contr.poly" | "Poly" | "poly" => {
                error.with_hint("write poly(x, 2) of a numeric column")
            }
            _ => error.with_hint(suggestion(name, "C", &names)),
        }
    })
}

/// A level: a text, a plain name or a number.
fn read_level(node: &SyntaxNode) -> Result<String, FormulaError> {
    let bare = node.without_parens();
    match &bare.kind {
        NodeKind::Text(text) | NodeKind::Name(text) => Ok(text.clone()),
        NodeKind::Number(value) => Ok(value.to_string()),
        NodeKind::Sum(items) => match &items[..] {
            // The only sum of one part is a number with a minus.
            [item] => read_level(&item.node).map(|text| format!("-{text}")),
            _ => Err(no_level(node.span)),
        },
        NodeKind::Negative(inner) => read_level(inner).map(|text| format!("-{text}")),
        _ => Err(no_level(node.span)),
    }
}

fn no_level(span: Span) -> FormulaError {
    FormulaError::new(span, "a level is a text or a number")
        .with_hint("put it in quotes, as in ref = \"day\"")
}

pub(crate) fn read_levels(node: &SyntaxNode) -> Result<Vec<String>, FormulaError> {
    let wrong = |message: &str| {
        FormulaError::new(node.span, message)
            .with_hint("write levels = c(\"low\", \"mid\", \"high\")")
    };
    let NodeKind::Call(name, arguments) = &node.without_parens().kind else {
        return Err(wrong("levels are a list"));
    };
    if name != "c" || arguments.len() < 2 {
        return Err(wrong("levels are a list of two or more"));
    }
    let mut found: Vec<String> = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let level = read_level(argument)?;
        if found.contains(&level) {
            let what = format!("the level \"{level}\"");
            return Err(FormulaError::given_twice(argument.span, what));
        }
        found.push(level);
    }
    Ok(found)
}

/// A level in quotes, as [`CodedColumn`] parses it.
fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl fmt::Display for CodedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "C({}", quote_name(&self.column))?;
        if self.contrast != Contrast::Treatment {
            write!(f, ", {}", self.contrast.name())?;
        }
        if let Some(reference) = &self.reference {
            write!(f, ", ref = {}", in_quotes(reference))?;
        }
        self.write_order(f)
    }
}
