//! From a question to counterfactual tables, and the effects computed from them.

use lehr_learn::{ColumnProfile, ColumnValue, LearnError, Link, ValueProfile};
use lehr_regression::Regression;
use lehr_table::{Column, Table, TableError, nearest};
use serde::Serialize;

use super::{EffectQuestion, EffectScale};

/// More levels are not all predicted.
const MOST_LEVELS: usize = 50;
/// The distance of a central difference as a share of the column's range.
const STEP: f64 = 1e-4;

/// The kind of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectKind {
    /// The response itself.
    Prediction,
    /// One prediction compared with another.
    Contrast,
    /// The derivative of the response in the column.
    Slope,
}

/// The treatment of a column in a counterfactual.
#[derive(Clone, Debug, PartialEq)]
enum ColumnSetting {
    To(ColumnValue),
    Moved(f64),
}

/// Counterfactual rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scenario {
    settings: Vec<(String, ColumnSetting)>,
}

/// The combination of the scenarios' averages, by their places.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Combination {
    One(usize),
    Difference(usize, usize),
    Quotient { low: usize, high: usize, step: f64 },
}

/// One reported number.
#[derive(Clone, Debug)]
pub(crate) struct PlannedEffect {
    pub(crate) kind: EffectKind,
    pub(crate) name: String,
    /// The number at which a column is predicted.
    pub(crate) value: Option<f64>,
    pub(crate) of: Combination,
}

/// The scenarios and quantities of a question.
#[derive(Clone, Debug, Default)]
pub(crate) struct EffectPlan {
    pub(crate) scenarios: Vec<Scenario>,
    pub(crate) quantities: Vec<PlannedEffect>,
}

impl Scenario {
    /// The rows of a table in this scenario.
    pub(crate) fn rows(&self, table: &Table) -> Result<Table, TableError> {
        let mut rows = table.clone();
        for (name, setting) in &self.settings {
            let column = match setting {
                ColumnSetting::To(value) => value.column(table.n_rows()),
                ColumnSetting::Moved(by) => {
                    let own = table.number(name)?;
                    Column::Number(own.iter().map(|value| value + by).collect())
                }
            };
            rows = with_column(&rows, name, column)?;
        }
        Ok(rows)
    }

    /// Whether the scenario sets the column, so that rows need not have it.
    pub(crate) fn sets(&self, name: &str) -> bool {
        let is_it = |(own, setting): &(String, ColumnSetting)| {
            own == name && matches!(setting, ColumnSetting::To(_))
        };
        self.settings.iter().any(is_it)
    }

    fn with(&self, name: &str, setting: ColumnSetting) -> Scenario {
        let mut settings = self.settings.clone();
        settings.retain(|(own, _)| own != name);
        settings.push((name.to_owned(), setting));
        Scenario { settings }
    }
}

impl EffectPlan {
    /// Plans the answer of a question about a regression.
    pub(crate) fn new(
        question: &EffectQuestion,
        regression: &Regression,
    ) -> Result<EffectPlan, LearnError> {
        check_scale(question.scale, regression)?;
        let variable = profile(regression, &question.variable)?;
        let mut held = Scenario::default();
        for (name, text) in &question.at {
            let value = profile(regression, name)?.read(text)?;
            held = held.with(name, ColumnSetting::To(value));
        }
        let mut planner = Planner {
            question,
            variable: &variable,
            held,
            plan: EffectPlan::default(),
        };
        match (&variable.values, question.contrasts.is_empty()) {
            (_, false) => planner.contrasts()?,
            (ValueProfile::Number { low, high, .. }, true) => planner.number([*low, *high]),
            (ValueProfile::Levels { .. }, true) => planner.levels()?,
        }
        Ok(planner.plan)
    }
}

/// A plan under construction.
struct Planner<'a> {
    question: &'a EffectQuestion,
    variable: &'a ColumnProfile,
    /// The values of the columns that are held.
    held: Scenario,
    plan: EffectPlan,
}

impl Planner<'_> {
    /// The place of the scenario with this setting of the variable.
    fn scenario(&mut self, setting: ColumnSetting) -> usize {
        let wanted = self.held.with(&self.variable.name, setting);
        let scenarios = &mut self.plan.scenarios;
        let known = scenarios.iter().position(|scenario| *scenario == wanted);
        known.unwrap_or_else(|| {
            scenarios.push(wanted);
            scenarios.len() - 1
        })
    }

    fn prediction(&mut self, value: &ColumnValue) -> usize {
        let place = self.scenario(ColumnSetting::To(value.clone()));
        let (shown, number) = match value {
            ColumnValue::Number(number) => (rounded(*number), Some(*number)),
            other => (other.to_string(), None),
        };
        self.plan.quantities.push(PlannedEffect {
            kind: EffectKind::Prediction,
            name: format!("{} = {shown}", self.variable.name),
            value: number,
            of: Combination::One(place),
        });
        place
    }

    fn contrast(&mut self, [high, low]: [&ColumnValue; 2]) {
        let places = [high, low].map(|value| self.scenario(ColumnSetting::To(value.clone())));
        let sign = match self.question.scale {
            EffectScale::Odds => "/",
            EffectScale::Response | EffectScale::Link => "-",
        };
        self.plan.quantities.push(PlannedEffect {
            kind: EffectKind::Contrast,
            name: format!("{high} {sign} {low}"),
            value: None,
            of: Combination::Difference(places[0], places[1]),
        });
    }

    /// The value at which the question holds the variable itself.
    fn held_value(&self) -> Option<ColumnValue> {
        let mut settings = self.held.settings.iter();
        match settings.find(|(name, _)| *name == self.variable.name)? {
            (_, ColumnSetting::To(value)) => Some(value.clone()),
            (_, ColumnSetting::Moved(_)) => None,
        }
    }

    /// A slope at the rows' own values, or at the held value of the variable, and predictions along
    /// its range.
    fn number(&mut self, [least, most]: [f64; 2]) {
        let step = STEP * if most > least { most - least } else { 1.0 };
        let held = self.held_value();
        let around = |by: f64| match held {
            Some(ColumnValue::Number(at)) => ColumnSetting::To(ColumnValue::Number(at + by)),
            _ => ColumnSetting::Moved(by),
        };
        let settings = [around(-0.5 * step), around(0.5 * step)];
        let [low, high] = settings.map(|setting| self.scenario(setting));
        self.plan.quantities.push(PlannedEffect {
            kind: EffectKind::Slope,
            name: "slope".into(),
            value: None,
            of: Combination::Quotient { low, high, step },
        });
        if let Some(value) = held {
            self.prediction(&value);
            return;
        }
        let last = self.question.points.saturating_sub(1).max(1) as f64;
        for point in 0..self.question.points {
            let share = point as f64 / last;
            self.prediction(&ColumnValue::Number(least + share * (most - least)));
        }
    }

    /// Every level, and each compared with the first.
    fn levels(&mut self) -> Result<(), LearnError> {
        if let Some(value) = self.held_value() {
            self.prediction(&value);
            return Ok(());
        }
        let levels = self.variable.levels().unwrap_or_default();
        if levels.len() > MOST_LEVELS {
            return Err(LearnError::column(
                format!("column {:?}", self.variable.name),
                format!("at most {MOST_LEVELS} levels to predict one by one"),
                levels.len().to_string(),
                "name two of them: --contrast 'north - south'",
            ));
        }
        for level in &levels {
            self.prediction(level);
        }
        for level in levels.iter().skip(1) {
            self.contrast([level, &levels[0]]);
        }
        Ok(())
    }

    fn contrasts(&mut self) -> Result<(), LearnError> {
        for text in &self.question.contrasts {
            let [high, low] = self.sides(text)?;
            self.prediction(&high);
            self.prediction(&low);
            self.contrast([&high, &low]);
        }
        Ok(())
    }

    /// The two values of `night - day` or `shift: night - day`. A level may contain a dash, so
    /// every dash between blanks is tried.
    fn sides(&self, text: &str) -> Result<[ColumnValue; 2], LearnError> {
        let name = &self.variable.name;
        let pair = match text.split_once(':') {
            Some((before, after)) if before.trim() == name => after,
            _ => text,
        };
        let places = pair.match_indices(" - ").map(|(at, _)| at);
        let mut first = None;
        for at in places {
            let sides = [&pair[..at], &pair[at + 3..]].map(|side| self.variable.read(side));
            match sides {
                [Ok(high), Ok(low)] => return Ok([high, low]),
                [high, low] => first = first.or(high.err().or(low.err())),
            }
        }
        Err(first.unwrap_or_else(|| {
            LearnError::column(
                format!("--contrast {text:?}"),
                "two values with a dash between blanks",
                "none",
                format!("write --contrast '{name}: first - second'"),
            )
        }))
    }
}

/// The table with a column replaced or added.
pub(crate) fn with_column(table: &Table, name: &str, column: Column) -> Result<Table, TableError> {
    let mut table = table.clone();
    if table.column(name).is_ok() {
        table.replace(name, column)?;
    } else {
        table.insert(name, column)?;
    }
    Ok(table)
}

/// A number with four significant digits, for a name.
pub(crate) fn rounded(value: f64) -> String {
    let power = value.abs().max(f64::MIN_POSITIVE).log10().floor();
    let digits = (3.0 - power).clamp(0.0, 15.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// The profile of a column that the formula reads.
pub(crate) fn profile(regression: &Regression, name: &str) -> Result<ColumnProfile, LearnError> {
    let known = regression.profiles().iter().find(|one| one.name == name);
    let group = || regression.group_profile(name);
    (known.cloned().or_else(group)).ok_or_else(|| {
        let names = regression.predictor_columns();
        let hint = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("the formula reads {}", names.join(", ")),
        };
        LearnError::UnknownColumn {
            name: name.to_owned(),
            hint,
        }
    })
}

fn check_scale(scale: EffectScale, regression: &Regression) -> Result<(), LearnError> {
    let family = regression.family();
    let is_ratio = matches!(family.link(), Link::Log | Link::Logit);
    if scale != EffectScale::Odds || is_ratio {
        return Ok(());
    }
    Err(LearnError::mismatch(
        family.name(),
        "a link whose differences are ratios",
        format!("the link {}", family.link().name()),
        "use --scale response",
    ))
}
