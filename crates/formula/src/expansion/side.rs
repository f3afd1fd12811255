//! Reads the right side of a formula as an intercept, terms and specials.

use super::algebra::{MAX_TERMS, TermLimitExceeded, TermList};
use super::covariate::{self, CovariateTerm};
use super::group::{EffectCorrelation, GroupTerm, is_row, read_groupings, split_tie};
use super::intercept::Intercept;
use super::monotonic::{self, MonotonicTerm};
use super::smooth::{self, SmoothTerm};
use super::spline::{self, SplineTerm};
use crate::column_use::{ColumnRole, ColumnUse, read_numbers};
use crate::error::{FormulaError, Span};
use crate::expression::{ColumnExpr, only_argument};
use crate::factor::{Factor, Term};
use crate::syntax::{BinaryOperator, NodeKind, Sign, SignedNode, SyntaxNode};

/// A part of the right side.
#[derive(Debug, Default)]
pub(crate) struct RightSidePart {
    /// `None` if the part does not mention the intercept.
    pub(super) intercept: Option<Intercept>,
    pub(super) terms: TermList,
    pub(super) specials: Vec<Special>,
}

/// A summand that is not a product of factors.
#[derive(Debug)]
pub(super) struct Special {
    pub(super) kind: SpecialKind,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum SpecialKind {
    Offset(ColumnExpr),
    Weights(ColumnExpr),
    Groups(Vec<GroupTerm>),
    Rows,
    Covariate(CovariateTerm),
    Smooth(SmoothTerm),
    Spline(SplineTerm),
    Monotonic(MonotonicTerm),
}

/// Walks the tree and records the place of each column.
pub(crate) struct Expander<'a> {
    /// The columns `.` stands for.
    dot: &'a [String],
    pub(crate) uses: Vec<ColumnUse>,
    pub(crate) dots: usize,
}

impl<'a> Expander<'a> {
    pub(crate) fn new(dot: &'a [String]) -> Self {
        Self {
            dot,
            uses: Vec::new(),
            dots: 0,
        }
    }

    pub(crate) fn note_use(&mut self, name: &str, span: Span, role: ColumnRole) {
        let name = name.to_owned();
        self.uses.push(ColumnUse { name, span, role });
    }

    /// Expands a piece of the right side.
    pub(crate) fn expand_side(&mut self, node: &SyntaxNode) -> Result<RightSidePart, FormulaError> {
        match &node.kind {
            NodeKind::Number(value) => intercept_side(*value, node.span),
            NodeKind::Name(name) => {
                self.note_use(name, node.span, ColumnRole::Term);
                Ok(single_side(Factor::Column(name.clone())))
            }
            NodeKind::Dot => Ok(self.all_columns(node.span)),
            NodeKind::Paren(inner) => match &inner.kind {
                NodeKind::Binary(BinaryOperator::Pipe, left, right) => {
                    self.expand_group(node.span, [left, right], EffectCorrelation::Correlated)
                }
                NodeKind::Binary(BinaryOperator::DoublePipe, left, right) => {
                    self.expand_group(node.span, [left, right], EffectCorrelation::Independent)
                }
                _ => self.expand_side(inner),
            },
            NodeKind::Sum(items) => self.expand_sum(items),
            NodeKind::Binary(binary, left, right) => {
                self.expand_binary(node.span, *binary, [left, right])
            }
            NodeKind::Negative(_) => Err(FormulaError::new(node.span, "a sign inside a product")
                .with_hint("take terms away from the whole, as in a*b - a:b")),
            NodeKind::Call(name, arguments) => self.expand_call(node, name, arguments),
            NodeKind::Text(_) => Err(FormulaError::new(node.span, "a text is no term")
                .with_hint("put names with spaces in backticks, as in `my column`")),
            NodeKind::Named(..) => unreachable!("only calls have named arguments"),
        }
    }

    fn all_columns(&mut self, span: Span) -> RightSidePart {
        self.dots += 1;
        let columns = self.dot;
        for name in columns {
            self.note_use(name, span, ColumnRole::Term);
        }
        let factors = columns.iter().cloned().map(Factor::Column);
        RightSidePart {
            terms: TermList::from_terms(factors.map(Term::from_factor)),
            ..RightSidePart::default()
        }
    }

    fn expand_sum(&mut self, items: &[SignedNode]) -> Result<RightSidePart, FormulaError> {
        let mut sum = RightSidePart::default();
        for item in items {
            let first_use = self.uses.len();
            let part = self.expand_side(&item.node)?;
            if item.sign == Sign::Plus {
                sum.intercept = part.intercept.or(sum.intercept);
                sum.terms.extend(part.terms.into_terms());
                sum.specials.extend(part.specials);
                if sum.terms.len() > MAX_TERMS {
                    return Err(too_many(item.node.span));
                }
                continue;
            }
            if let Some(special) = part.specials.first() {
                return Err(FormulaError::new(special.span, "this cannot be taken away")
                    .with_hint("only terms can; leave it out instead"));
            }
            for used in &mut self.uses[first_use..] {
                used.role = ColumnRole::Removed;
            }
            sum.intercept = part.intercept.map(Intercept::flipped).or(sum.intercept);
            sum.terms.remove_terms(&part.terms);
        }
        Ok(sum)
    }

    fn expand_binary(
        &mut self,
        span: Span,
        binary: BinaryOperator,
        [left, right]: [&SyntaxNode; 2],
    ) -> Result<RightSidePart, FormulaError> {
        match binary {
            BinaryOperator::Pipe | BinaryOperator::DoublePipe => {
                return Err(bare_pipe(span, binary.symbol()));
            }
            BinaryOperator::In => {
                return Err(FormulaError::new(span, "%in% is not supported")
                    .with_hint("write a:b for a within b, or b/a for b and a within b"));
            }
            BinaryOperator::Compare(_) => {
                return Err(
                    FormulaError::new(span, "a comparison is arithmetic and no term")
                        .with_hint("write I(x > 3) for a column of 0 and 1"),
                );
            }
            BinaryOperator::Power => return self.expand_power(left, right),
            BinaryOperator::Cross | BinaryOperator::Slash | BinaryOperator::Interaction => {}
        }
        let symbol = binary.symbol();
        let left = self.expand_factors(left, symbol)?;
        let right = self.expand_factors(right, symbol)?;
        let terms = match binary {
            BinaryOperator::Cross => left.crossing(right),
            BinaryOperator::Slash => left.nesting(&right),
            _ => left.interaction(&right),
        };
        terms_only(terms, span)
    }

    fn expand_power(
        &mut self,
        base: &SyntaxNode,
        exponent: &SyntaxNode,
    ) -> Result<RightSidePart, FormulaError> {
        let span = base.span.up_to(exponent.span);
        if let NodeKind::Name(_) | NodeKind::Call(..) = base.without_parens().kind {
            return Err(
                FormulaError::new(span, "^ crosses several terms, but this is one")
                    .with_hint("write I(x^2) for a square, poly(x, 2) for a parabola"),
            );
        }
        let terms = self.expand_factors(base, "^")?;
        match exponent.without_parens().kind {
            NodeKind::Number(value) if value >= 1.0 && value.fract() == 0.0 => {
                terms_only(terms.power(value as usize), span)
            }
            _ => Err(
                FormulaError::new(exponent.span, "terms are crossed a whole number of times")
                    .with_hint("write (a + b)^2 for a + b + a:b"),
            ),
        }
    }

    /// Expands an operand of a product, which must consist of terms alone.
    fn expand_factors(
        &mut self,
        node: &SyntaxNode,
        symbol: &str,
    ) -> Result<TermList, FormulaError> {
        if let NodeKind::Number(_) = node.without_parens().kind {
            let message = format!("a number next to {symbol} is not a term");
            return Err(FormulaError::new(node.span, message)
                .with_hint("wrap arithmetic in I(...), as in I(2 * x)"));
        }
        let side = self.expand_side(node)?;
        if let Some(special) = side.specials.first() {
            let message = format!("this cannot stand next to {symbol}");
            let hint = match special.kind {
                SpecialKind::Smooth(_) => "add it with +; by = column makes a function vary",
                SpecialKind::Spline(_) => {
                    "add it with +; s(x, by = g) is a function of each level, ns(x, df = 4):g too"
                }
                SpecialKind::Covariate(_) => {
                    "add it with +; a covariate with errors or gaps has one slope for all rows"
                }
                SpecialKind::Monotonic(_) => "add it with +; C(x):g is an effect of each pair",
                _ => "add it with +",
            };
            return Err(FormulaError::new(special.span, message).with_hint(hint));
        }
        if side.intercept.is_some() {
            let message = format!("the intercept cannot stand next to {symbol}");
            return Err(FormulaError::new(node.span, message)
                .with_hint("set it once for the whole formula, as in 0 + a*b"));
        }
        Ok(side.terms)
    }

    fn expand_call(
        &mut self,
        node: &SyntaxNode,
        name: &str,
        arguments: &[SyntaxNode],
    ) -> Result<RightSidePart, FormulaError> {
        let span = node.span;
        let used = &mut |name: &str, span, role| self.note_use(name, span, role);
        let kind = match name {
            smooth::NAME => SpecialKind::Smooth(SmoothTerm::read_call(span, arguments, used)?),
            spline::NAME => SpecialKind::Spline(SplineTerm::read_call(span, arguments, used)?),
            monotonic::NAME => {
                SpecialKind::Monotonic(MonotonicTerm::read_call(span, arguments, used)?)
            }
            covariate::MEASURED | covariate::MISSING => {
                SpecialKind::Covariate(CovariateTerm::read_call(span, (name, arguments), used)?)
            }
            "offset" | "weights" => {
                let (role, kind): (_, fn(ColumnExpr) -> SpecialKind) = match name {
                    "offset" => (ColumnRole::Offset, SpecialKind::Offset),
                    _ => (ColumnRole::Weights, SpecialKind::Weights),
                };
                let used = &mut |name: &str, span, _| used(name, span, role);
                kind(read_numbers(only_argument(name, arguments, span)?, used)?)
            }
            _ => return Factor::read_call(node, name, arguments, used).map(single_side),
        };
        Ok(special_side(kind, span))
    }

    fn expand_group(
        &mut self,
        span: Span,
        [left, right]: [&SyntaxNode; 2],
        correlation: EffectCorrelation,
    ) -> Result<RightSidePart, FormulaError> {
        let dots = self.dots;
        let (left, tie) = split_tie(left);
        let effects = self.expand_side(left)?;
        if self.dots > dots {
            let error = FormulaError::new(left.span, ". cannot stand inside a group term");
            return Err(error.with_hint("name the columns whose slopes vary"));
        }
        if let Some(special) = effects.specials.first() {
            let hint = match special.kind {
                SpecialKind::Covariate(_) => {
                    "add it with +; a covariate with errors or gaps has one slope for all groups"
                }
                _ => "only the intercept and slopes can, as in (1 + dose | patient)",
            };
            let error = FormulaError::new(special.span, "this cannot vary by group");
            return Err(error.with_hint(hint));
        }
        let intercept = effects.intercept.unwrap_or(Intercept::Present);
        let slopes = effects.terms.into_sorted();
        if intercept == Intercept::Absent && slopes.is_empty() {
            return Err(FormulaError::new(left.span, "nothing varies by group here")
                .with_hint("write (1 | site) for an intercept per site"));
        }
        if is_row(right) {
            return match tie {
                None => by_row(span, intercept, &slopes),
                Some(_) => Err(tied_rows(span)),
            };
        }
        // An intercept alone has no correlations.
        let correlation = match slopes[..] {
            [] => EffectCorrelation::Correlated,
            _ => correlation,
        };
        let mut used = |name: &str, span, role| self.note_use(name, span, role);
        let groupings = read_groupings(right, &mut used)?.into_iter();
        let terms = groupings.map(|grouping| GroupTerm {
            intercept,
            slopes: slopes.clone(),
            grouping,
            correlation,
            tie: tie.clone(),
        });
        Ok(special_side(SpecialKind::Groups(terms.collect()), span))
    }
}

/// `(1 | row())`: an effect of each row.
fn by_row(
    span: Span,
    intercept: Intercept,
    slopes: &[Term],
) -> Result<RightSidePart, FormulaError> {
    if intercept == Intercept::Absent || !slopes.is_empty() {
        let message = "only the intercept can vary by row";
        return Err(FormulaError::new(span, message)
            .with_hint("write (1 | row()); one row cannot tell its slope from its intercept"));
    }
    Ok(special_side(SpecialKind::Rows, span))
}

fn tied_rows(span: Span) -> FormulaError {
    FormulaError::new(span, "effects of single rows are not tied to others")
        .with_hint("write (1 |p| id), where the column id numbers the rows; of gaussian responses + set_rescor(TRUE)")
}

fn intercept_side(value: f64, span: Span) -> Result<RightSidePart, FormulaError> {
    let intercept = match value {
        1.0 => Intercept::Present,
        0.0 => Intercept::Absent,
        _ => {
            return Err(
                FormulaError::new(span, "the only numbers among terms are 0 and 1")
                    .with_hint("wrap arithmetic in I(...), as in I(2 * x)"),
            );
        }
    };
    Ok(RightSidePart {
        intercept: Some(intercept),
        ..RightSidePart::default()
    })
}

fn single_side(factor: Factor) -> RightSidePart {
    RightSidePart {
        terms: TermList::from_terms([Term::from_factor(factor)]),
        ..RightSidePart::default()
    }
}

fn special_side(kind: SpecialKind, span: Span) -> RightSidePart {
    RightSidePart {
        specials: vec![Special { kind, span }],
        ..RightSidePart::default()
    }
}

fn terms_only(
    terms: Result<TermList, TermLimitExceeded>,
    span: Span,
) -> Result<RightSidePart, FormulaError> {
    Ok(RightSidePart {
        terms: terms.map_err(|TermLimitExceeded| too_many(span))?,
        ..RightSidePart::default()
    })
}

/// The error for a `|` outside parentheses.
pub(crate) fn bare_pipe(span: Span, symbol: &str) -> FormulaError {
    FormulaError::new(span, format!("{symbol} stands outside parentheses"))
        .with_hint("put the group term in parentheses, as in (1 | site)")
}

fn too_many(span: Span) -> FormulaError {
    let message = format!("this expands to more than {MAX_TERMS} terms");
    FormulaError::new(span, message).with_hint("cross fewer columns")
}
