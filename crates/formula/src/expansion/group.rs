//! Random effects: `(1 + dose | patient)`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::intercept::Intercept;
use crate::column_use::{ColumnRole, UseListener};
use crate::dialect;
use crate::error::FormulaError;
use crate::factor::Term;
use crate::syntax::{BinaryOperator, NodeKind, SyntaxNode, quote_name};

/// Most columns of one grouping factor, and most grouping factors of one term.
const MAX_GROUPING: usize = 16;

/// The name of the grouping factor whose groups are single rows.
pub const BY_ROW: &str = "row()";

/// An intercept and slopes, one set for each level of a grouping factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupTerm {
    /// Whether the intercept varies by group.
    pub intercept: Intercept,
    /// The terms whose coefficients vary by group.
    pub slopes: Vec<Term>,
    /// The columns whose combinations of values are the groups; never empty.
    pub grouping: Vec<String>,
    /// Whether the effects of one group are correlated.
    pub correlation: EffectCorrelation,
    /// The identifier that ties the effects of one group across responses: `p` of `(1 |p| site)`.
    pub tie: Option<String>,
}

/// How the effects of one group depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectCorrelation {
    /// `|`: their correlations are estimated.
    Correlated,
    /// `||`: they are independent. Never so for an intercept alone.
    Independent,
}

impl GroupTerm {
    /// The name of the grouping factor: `site`, or `region:district`.
    pub fn term_label(&self) -> String {
        term_label(&self.grouping)
    }

    /// The names of the varying effects: `Intercept` and the slopes.
    pub fn effect_names(&self) -> Vec<String> {
        let intercept = (self.intercept == Intercept::Present).then(|| "Intercept".to_owned());
        let slopes = self.slopes.iter().map(ToString::to_string);
        intercept.into_iter().chain(slopes).collect()
    }

    /// Identifies the grouping factor, in whatever order its columns are written.
    pub(super) fn sort_key(&self) -> Vec<String> {
        let mut columns = self.grouping.clone();
        columns.sort_unstable();
        columns
    }
}

impl fmt::Display for GroupTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.intercept {
            Intercept::Present => "(1",
            Intercept::Absent => "(0",
        })?;
        for slope in &self.slopes {
            write!(f, " + {slope}")?;
        }
        let bar = match (self.correlation, &self.tie) {
            (_, Some(tie)) => format!("|{}|", quoted_tie(tie)),
            (EffectCorrelation::Correlated, None) => "|".to_owned(),
            (EffectCorrelation::Independent, None) => "||".to_owned(),
        };
        write!(f, " {bar} {})", self.term_label())
    }
}

/// The text between two bars; brms's are often numbers.
fn quoted_tie(tie: &str) -> std::borrow::Cow<'_, str> {
    match tie.parse::<f64>() {
        Ok(_) => tie.into(),
        Err(_) => quote_name(tie),
    }
}

/// The effects, and the identifier between two bars: `1` and `p` of `1 |p`.
pub(super) fn split_tie(left: &SyntaxNode) -> (&SyntaxNode, Option<String>) {
    let NodeKind::Binary(BinaryOperator::Pipe, effects, tie) = &left.kind else {
        return (left, None);
    };
    let tie = match &tie.kind {
        NodeKind::Name(name) => Some(name.clone()),
        NodeKind::Number(number) => Some(number.to_string()),
        _ => None,
    };
    (effects, tie)
}

fn term_label(grouping: &[String]) -> String {
    let names: Vec<_> = grouping.iter().map(|name| quote_name(name)).collect();
    names.join(":")
}

/// The name of the single grouping factor in a piece of text.
pub(crate) fn grouping_of(node: &SyntaxNode) -> Result<String, FormulaError> {
    if is_row(node) {
        return Ok(BY_ROW.to_owned());
    }
    match &read_groupings(node, &mut |_, _, _| {})?[..] {
        [grouping] => Ok(term_label(grouping)),
        _ => Err(
            FormulaError::new(node.span, "several groupings where one is expected")
                .with_hint("name one, as in region or region:district"),
        ),
    }
}

/// Whether the grouping factor is `row()`, in which every row is a group of its own.
pub(super) fn is_row(node: &SyntaxNode) -> bool {
    let NodeKind::Call(name, arguments) = &node.without_parens().kind else {
        return false;
    };
    name == "row" && arguments.is_empty()
}

/// The grouping factors right of a `|`: `a/b` is `a` and `a:b`.
pub(super) fn read_groupings(
    node: &SyntaxNode,
    used: &mut UseListener<'_>,
) -> Result<Vec<Vec<String>>, FormulaError> {
    match &node.kind {
        NodeKind::Paren(inner) => read_groupings(inner, used),
        NodeKind::Name(name) => {
            used(name, node.span, ColumnRole::Group);
            Ok(vec![vec![name.clone()]])
        }
        NodeKind::Binary(
            binary @ (BinaryOperator::Interaction | BinaryOperator::Slash | BinaryOperator::Cross),
            left,
            right,
        ) => {
            let (left, right) = (read_groupings(left, used)?, read_groupings(right, used)?);
            combine_groupings(*binary, left, &right, node)
        }
        NodeKind::Binary(other, ..) => {
            let message = format!("{} has no meaning in a grouping", other.symbol());
            Err(FormulaError::new(node.span, message)
                .with_hint("groupings are joined by : and nested by /"))
        }
        NodeKind::Sum(_) => Err(
            FormulaError::new(node.span, "a group term has one grouping").with_hint(
                "write (1 | a) + (1 | b) for crossed groups, (1 | a:b) for their combinations",
            ),
        ),
        NodeKind::Call(name, _) if name == "row" => Err(FormulaError::new(
            node.span,
            "row() stands alone and takes nothing",
        )
        .with_hint("write (1 | row()) for an effect of each row")),
        NodeKind::Call(name, arguments) if name == "gr" => match &arguments[..] {
            [column] => read_groupings(column, used),
            _ => Err(gr_argument(node, arguments)),
        },
        NodeKind::Call(name, _) => {
            let message = format!("{name}(...) cannot be a grouping");
            Err(FormulaError::new(node.span, message).with_hint(dialect::grouping_advice(name)))
        }
        _ => Err(FormulaError::new(node.span, "a grouping is a column")
            .with_hint("name the grouping column, as in (1 | site)")),
    }
}

/// `gr(g)` is `g`; its other arguments in brms are not supported.
fn gr_argument(node: &SyntaxNode, arguments: &[SyntaxNode]) -> FormulaError {
    let named = arguments.iter().find_map(|argument| match &argument.kind {
        NodeKind::Named(name, _) => Some((name.as_str(), argument.span)),
        _ => None,
    });
    let (name, span) = named.unwrap_or(("", node.span));
    let message = match name {
        "" => "gr(...) takes one column".to_owned(),
        name => format!("gr(...) has no argument \"{name}\""),
    };
    FormulaError::new(span, message).with_hint(dialect::grouping_argument(name))
}

fn combine_groupings(
    binary: BinaryOperator,
    left: Vec<Vec<String>>,
    right: &[Vec<String>],
    node: &SyntaxNode,
) -> Result<Vec<Vec<String>>, FormulaError> {
    let mut found = match binary {
        BinaryOperator::Interaction => cross_groupings(&left, right),
        BinaryOperator::Slash => {
            let inner = cross_groupings(&[unite_columns(&left)], right);
            left.into_iter().chain(inner).collect()
        }
        _ => {
            let inner = cross_groupings(&left, right);
            left.into_iter()
                .chain(right.to_vec())
                .chain(inner)
                .collect()
        }
    };
    found.dedup();
    if found.len() > MAX_GROUPING || found.iter().any(|columns| columns.len() > MAX_GROUPING) {
        let message = format!("this makes more than {MAX_GROUPING} groupings");
        return Err(
            FormulaError::new(node.span, message).with_hint("name those you mean one by one")
        );
    }
    Ok(found)
}

fn cross_groupings(left: &[Vec<String>], right: &[Vec<String>]) -> Vec<Vec<String>> {
    left.iter()
        .flat_map(|a| right.iter().map(|b| unite_columns(&[a.clone(), b.clone()])))
        .collect()
}

/// All the columns, each once.
fn unite_columns(groupings: &[Vec<String>]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for column in groupings.iter().flatten() {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    columns
}
