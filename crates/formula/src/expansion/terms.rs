//! An expanded formula: every term once, in order.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::algebra::TermList;
use super::covariate::CovariateTerm;
use super::group::{BY_ROW, GroupTerm};
use super::intercept::Intercept;
use super::monotonic::MonotonicTerm;
use super::side::{RightSidePart, SpecialKind};
use super::smooth::SmoothTerm;
use super::spline::SplineTerm;
use crate::coded::LevelCoding;
use crate::column_use::{ColumnRole, ColumnUse};
use crate::error::{FormulaError, Span};
use crate::expression::ColumnExpr;
use crate::factor::{Factor, Term};
use crate::response::{LeftSide, Response};

/// The meaning of a formula. Printing it gives a formula with the same meaning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// The left side.
    pub response: Response,
    /// Whether there is a common intercept.
    pub intercept: Intercept,
    /// The terms of fixed effects, each once, by number of factors and then by appearance (R's
    /// order).
    pub fixed: Vec<Term>,
    /// Expressions added to the linear predictor with coefficient 1.
    pub offsets: Vec<ColumnExpr>,
    /// The weight of each row.
    pub weights: Option<ColumnExpr>,
    /// The random effects, as written.
    pub groups: Vec<GroupTerm>,
    /// The Gaussian-process terms, as written.
    pub smooths: Vec<SmoothTerm>,
    /// The penalised smooths, as written; their lines are among the fixed effects.
    pub splines: Vec<SplineTerm>,
    /// The monotonic effects, as written.
    pub monotonics: Vec<MonotonicTerm>,
    /// Whether every row has an effect of its own: `(1 | row())`.
    #[serde(default)]
    pub by_row: bool,
    /// The covariate that is measured with error or missing in some rows.
    #[serde(default)]
    pub covariate: Option<CovariateTerm>,
    /// Formulas of the family's own parameters, `sigma ~ x`: the response of each is the parameter.
    #[serde(default)]
    pub parameters: Vec<Terms>,
    /// Every place where a column is named; not saved with the terms.
    #[serde(skip)]
    pub uses: Vec<ColumnUse>,
}

impl Terms {
    /// Joins the two sides. Refuses mistakes that appear only when both are known.
    pub(crate) fn assemble_terms(
        left: LeftSide,
        right: RightSidePart,
        uses: Vec<ColumnUse>,
        span: Span,
    ) -> Result<Self, FormulaError> {
        let mut common = right.terms;
        common.extend(
            right
                .specials
                .iter()
                .filter_map(|special| match &special.kind {
                    SpecialKind::Spline(spline) => spline.line_term(),
                    _ => None,
                }),
        );
        let mut terms = Self {
            response: left.response,
            intercept: right.intercept.unwrap_or(Intercept::Present),
            fixed: common.into_sorted(),
            offsets: Vec::new(),
            weights: left.weights.map(|(weights, _)| weights),
            groups: Vec::new(),
            smooths: Vec::new(),
            splines: Vec::new(),
            monotonics: Vec::new(),
            by_row: false,
            covariate: None,
            parameters: Vec::new(),
            uses,
        };
        for special in right.specials {
            terms.add(special.kind, special.span)?;
        }
        terms.check_response()?;
        let empty =
            terms.fixed.is_empty() && terms.offsets.is_empty() && terms.other_parameters() == 0;
        if empty && terms.intercept == Intercept::Absent {
            let error = FormulaError::new(span, "neither an intercept nor a term is left");
            return Err(error.with_hint("write y ~ 1 for an intercept alone"));
        }
        Ok(terms)
    }

    /// How many terms have effects other than fixed ones.
    pub fn other_parameters(&self) -> usize {
        let functions = self.smooths.len() + self.splines.len();
        let latents = usize::from(self.by_row) + usize::from(self.covariate.is_some());
        self.groups.len() + functions + self.monotonics.len() + latents
    }

    fn add(&mut self, kind: SpecialKind, span: Span) -> Result<(), FormulaError> {
        match kind {
            SpecialKind::Weights(_) if self.weights.is_some() => {
                return Err(FormulaError::new(span, "weights(...) is given twice")
                    .with_hint("multiply them, as in weights(v * w)"));
            }
            SpecialKind::Rows if self.by_row => {
                return Err(FormulaError::given_twice(span, "(1 | row())"));
            }
            SpecialKind::Weights(expr) => self.weights = Some(expr),
            SpecialKind::Rows => self.by_row = true,
            SpecialKind::Offset(expr) => {
                push_once(&mut self.offsets, expr, span, |expr| {
                    format!("offset({expr})")
                })?;
            }
            SpecialKind::Smooth(term) => {
                push_once(&mut self.smooths, term, span, SmoothTerm::term_label)?;
            }
            SpecialKind::Spline(term) => {
                push_once(&mut self.splines, term, span, SplineTerm::term_label)?;
            }
            SpecialKind::Monotonic(term) => {
                push_once(&mut self.monotonics, term, span, MonotonicTerm::term_label)?;
            }
            SpecialKind::Covariate(term) => self.add_covariate(term, span)?,
            SpecialKind::Groups(groups) => {
                for group in groups {
                    self.check_group(&group, span)?;
                    self.groups.push(group);
                }
            }
        }
        Ok(())
    }

    /// Refuses the same effect twice for the same groups, which no data could tell apart.
    fn check_group(&self, group: &GroupTerm, span: Span) -> Result<(), FormulaError> {
        let is_tied = |other: &GroupTerm| other.tie.is_some() && other.tie == group.tie;
        if let Some(other) = self.groups.iter().find(|other| is_tied(other)) {
            let message = format!("{group} is tied to {other} of the same response");
            return Err(FormulaError::new(span, message).with_hint(
                "put the effects of one grouping into one term, as in (1 + x |p| g), and give \
                 each grouping a name of its own",
            ));
        }
        let same = self
            .groups
            .iter()
            .filter(|other| other.sort_key() == group.sort_key());
        let taken: HashSet<String> = same.flat_map(GroupTerm::effect_names).collect();
        let mut effects = group.effect_names().into_iter();
        let Some(effect) = effects.find(|effect| taken.contains(effect)) else {
            return Ok(());
        };
        let message = format!("{effect} varies by {} already", group.term_label());
        Err(FormulaError::new(span, message).with_hint("each effect varies once by each grouping"))
    }

    fn add_covariate(&mut self, term: CovariateTerm, span: Span) -> Result<(), FormulaError> {
        if let Some(other) = &self.covariate {
            let message = format!("{other} is there already, and one such term is supported");
            return Err(FormulaError::new(span, message).with_hint(
                "write the better known of the two as a plain column, and leave out rows that \
                 lack it with --missing drop",
            ));
        }
        self.check_latent(&term)?;
        self.covariate = Some(term);
        Ok(())
    }

    /// Refuses other uses of the column of a covariate with errors or gaps, because its true value
    /// is not known.
    pub fn check_latent(&self, term: &CovariateTerm) -> Result<(), FormulaError> {
        let is_other = |used: &&ColumnUse| {
            let role = used.role;
            role != ColumnRole::Latent && role != ColumnRole::Removed && used.name == term.column
        };
        let Some(used) = self.uses.iter().find(is_other) else {
            return Ok(());
        };
        let message = format!("\"{}\" is read as it stands here, and by {term}", used.name);
        Err(FormulaError::new(used.span, message).with_hint("leave out one of the two"))
    }

    fn check_response(&self) -> Result<(), FormulaError> {
        use crate::column_use::ColumnRole::{
            Censoring, Failures, Limit, NumericResponse, Removed, Response,
        };
        let outcome = self.response.outcome.column_names();
        let offender = self.uses.iter().find(|used| {
            !matches!(used.role, Response | NumericResponse | Failures | Removed)
                && outcome.contains(&used.name.as_str())
        });
        let Some(used) = offender else {
            return Ok(());
        };
        let message = format!("the response \"{}\" cannot explain itself", used.name);
        let hint = match used.role {
            Censoring | Limit => "name a column of its own, which says what is known of it",
            _ => "leave it out on the right of ~",
        };
        Err(FormulaError::new(used.span, message).with_hint(hint))
    }

    /// Refuses the first column that is not among `names`, with the nearest name as hint.
    pub fn check_columns<S: AsRef<str>>(&self, names: &[S]) -> Result<(), FormulaError> {
        let known: HashSet<&str> = names.iter().map(AsRef::as_ref).collect();
        let unknown = self.uses.iter().filter(|used| !known.contains(&*used.name));
        match unknown.min_by_key(|used| used.span.start) {
            None => Ok(()),
            Some(used) => used.check_known(names),
        }
    }

    /// The terms with text columns made categorical, given which columns hold text.
    ///
    /// Afterwards [`Factor::is_categorical`] is final: `color` and `C(color)` are one term.
    /// Refuses text columns inside arithmetic.
    pub fn resolve_text(&self, is_text: &dyn Fn(&str) -> bool) -> Result<Self, FormulaError> {
        for used in &self.uses {
            used.check_kind(is_text)?;
        }
        for effect in &self.monotonics {
            effect.check_order(self.span_of(&effect.coded.column), is_text)?;
        }
        let mut terms = self.clone();
        terms.fixed = resolve_terms(&self.fixed, is_text);
        for group in &mut terms.groups {
            group.slopes = resolve_terms(&group.slopes, is_text);
        }
        for smooth in &mut terms.smooths {
            smooth.resolve_text(is_text);
        }
        for spline in &mut terms.splines {
            spline.resolve_text(is_text);
        }
        let constants: Vec<Term> = (terms.splines.iter())
            .filter_map(SplineTerm::constant_term)
            .collect();
        if !constants.is_empty() {
            let mut common = TermList::from_terms(terms.fixed);
            common.extend(constants);
            terms.fixed = common.into_sorted();
        }
        Ok(terms)
    }

    /// How each factor of each common term is coded; see [`effect_codings`].
    pub fn term_codings(&self) -> Vec<Vec<LevelCoding>> {
        effect_codings(self.intercept, &self.fixed)
    }

    /// The columns that a fit reads, each once, those of the response first.
    pub fn column_names(&self) -> Vec<&str> {
        let slopes = self.groups.iter().flat_map(|group| &group.slopes);
        let factors = self
            .fixed
            .iter()
            .chain(slopes)
            .flat_map(|term| &term.factors);
        let expressions = self.offsets.iter().chain(&self.weights);
        let all = self.response.observed_columns().into_iter();
        let all = all.chain(self.response.addition_columns());
        let all = all.chain(factors.flat_map(Factor::column_names));
        let all = all.chain(expressions.flat_map(ColumnExpr::column_names));
        let groupings = self.groups.iter().flat_map(|group| &group.grouping);
        let all = all.chain(self.smooths.iter().flat_map(SmoothTerm::column_names));
        let all = all.chain(self.splines.iter().flat_map(SplineTerm::column_names));
        let ordered = self.monotonics.iter();
        let all = all.chain(ordered.map(|effect| effect.coded.column.as_str()));
        let all = all.chain(self.covariate.iter().flat_map(CovariateTerm::column_names));
        let all = all.chain(self.parameter_columns());
        let all = all.chain(self.parameters.iter().flat_map(Terms::group_columns));
        let mut seen = HashSet::new();
        all.chain(groupings.map(String::as_str))
            .filter(|name| seen.insert(*name))
            .collect()
    }

    /// The columns that the formulas of parameters read without their group terms, with repeats.
    pub fn parameter_columns(&self) -> impl Iterator<Item = &str> {
        let fixed = self.parameters.iter().flat_map(|terms| &terms.fixed);
        let factors = fixed.flat_map(|term| &term.factors);
        let splines = self.parameters.iter().flat_map(|terms| &terms.splines);
        let splines = splines.flat_map(SplineTerm::column_names);
        factors.flat_map(Factor::column_names).chain(splines)
    }

    /// The columns that the group terms of this formula read, with repeats.
    pub fn group_columns(&self) -> impl Iterator<Item = &str> {
        let slopes = self.groups.iter().flat_map(|group| &group.slopes);
        let factors = slopes.flat_map(|term| &term.factors);
        let own = self.groups.iter().flat_map(|group| &group.grouping);
        (factors.flat_map(Factor::column_names)).chain(own.map(String::as_str))
    }

    /// The group terms of all formulas, each with the parameter whose formula contains it: `None`
    /// for the formula of the response, whose terms come first.
    pub fn all_groups(&self) -> impl Iterator<Item = (Option<&str>, &GroupTerm)> {
        self.all_terms(|terms| &terms.groups)
    }

    /// Terms of one kind in all formulas.
    fn all_terms<'t, T: 't>(
        &'t self,
        kind: fn(&Terms) -> &Vec<T>,
    ) -> impl Iterator<Item = (Option<&'t str>, &'t T)> {
        let own = kind(self).iter().map(|term| (None, term));
        let others = self.parameters.iter().flat_map(move |terms| {
            let name = terms.parameter();
            kind(terms).iter().map(move |term| (Some(name), term))
        });
        own.chain(others)
    }

    /// The penalised smooths of all formulas, as [`Terms::all_groups`].
    pub fn all_splines(&self) -> impl Iterator<Item = (Option<&str>, &SplineTerm)> {
        self.all_terms(|terms| &terms.splines)
    }

    /// The columns whose values may be missing.
    pub fn optional_columns(&self) -> Vec<&str> {
        let term = self.covariate.iter().filter(|term| term.error.is_none());
        term.map(|term| term.column.as_str()).collect()
    }

    /// The first place where a column is named, for later errors.
    pub fn span_of(&self, column: &str) -> Option<Span> {
        let uses = self.uses.iter().filter(|used| used.name == column);
        uses.map(|used| used.span).min()
    }
}

/// Adds a term, unless one of this label is there.
fn push_once<T>(
    terms: &mut Vec<T>,
    term: T,
    span: Span,
    label: fn(&T) -> String,
) -> Result<(), FormulaError> {
    let own = label(&term);
    if terms.iter().any(|other| label(other) == own) {
        return Err(FormulaError::given_twice(span, own));
    }
    terms.push(term);
    Ok(())
}

fn resolve_terms(terms: &[Term], is_text: &dyn Fn(&str) -> bool) -> Vec<Term> {
    let categorical = terms.iter().map(|term| {
        let factors = term.factors.iter().map(|factor| match factor {
            Factor::Column(name) if is_text(name) => Factor::Categorical(name.clone()),
            other => other.clone(),
        });
        // Through `times`, so that color:C(color) becomes one factor.
        factors.fold(Term::default(), |term, factor| {
            term.interaction_with(&Term::from_factor(factor))
        })
    });
    TermList::from_terms(categorical).into_sorted()
}

/// How each factor of each term is coded, by R's rule.  A categorical factor loses its first level
/// (treatment coding) where the term without it is in the model, or is the intercept, and keeps all
/// levels otherwise. So `color` alone and `x + x:color` drop a level, and `x:color` without `x` has
/// a slope for every level. Without an intercept, the first categorical factor of the first term
/// that has one keeps all its levels. For other factors the coding has no meaning.
pub fn effect_codings(intercept: Intercept, terms: &[Term]) -> Vec<Vec<LevelCoding>> {
    let present: HashSet<Vec<String>> = terms.iter().map(Term::sort_key).collect();
    let coding = |term: &Term, factor: &Factor| {
        let mut margin = term.clone();
        margin.factors.retain(|other| other != factor);
        if margin.factors.is_empty() || present.contains(&margin.sort_key()) {
            LevelCoding::Treatment
        } else {
            LevelCoding::Full
        }
    };
    let codings = |term: &Term| {
        term.factors
            .iter()
            .map(|factor| coding(term, factor))
            .collect()
    };
    let mut codings: Vec<Vec<LevelCoding>> = terms.iter().map(codings).collect();
    let first = terms.iter().enumerate().find_map(|(row, term)| {
        let at = term.factors.iter().position(Factor::is_categorical)?;
        Some((row, at))
    });
    if let (Intercept::Absent, Some((row, at))) = (intercept, first) {
        codings[row][at] = LevelCoding::Full;
    }
    codings
}

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let intercept = match self.intercept {
            Intercept::Present => "1",
            Intercept::Absent => "0",
        };
        write!(f, "{} ~ {intercept}", self.response)?;
        let texts = self.fixed.iter().map(ToString::to_string);
        let texts = texts.chain(
            self.offsets
                .iter()
                .map(|offset| format!("offset({offset})")),
        );
        let texts = texts.chain(
            self.weights
                .iter()
                .map(|weights| format!("weights({weights})")),
        );
        let texts = texts.chain(self.groups.iter().map(ToString::to_string));
        let texts = texts.chain(self.by_row.then(|| format!("(1 | {BY_ROW})")));
        let texts = texts.chain(self.covariate.iter().map(ToString::to_string));
        let texts = texts.chain(self.smooths.iter().map(ToString::to_string));
        let texts = texts.chain(self.splines.iter().map(ToString::to_string));
        let mut texts = texts.chain(self.monotonics.iter().map(ToString::to_string));
        texts.try_for_each(|text| write!(f, " + {text}"))
    }
}
