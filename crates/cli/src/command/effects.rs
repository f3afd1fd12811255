//! `lehr effects`: average and conditional effects of a column, with contrasts and slopes.

use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Result, anyhow, ensure};
use clap::{Args, ValueEnum};
use lehr::regression::{
    EffectAverager, EffectEstimate, EffectEstimates as Answer, EffectQuestion, EffectScale,
    Forecaster, PredictionLevel,
};
use lehr::report::Coefficient;
use lehr::table::TableFiles;

use crate::acceptance::Acceptance;
use crate::live::Live;
use crate::one_response::OneResponse;
use crate::outcome::CommandOutcome;
use crate::reading::ReadingArgs;
use crate::session::Session;

use super::predict::{LevelName, NewLevelsName};

/// The scale on which effects are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ScaleName {
    /// The mean of the response, or the probability of each class
    #[default]
    Response,
    /// The linear predictor
    Link,
    /// e to the power of the linear predictor; contrasts are ratios, of odds or of means
    #[value(alias = "ratio")]
    Odds,
}

impl From<ScaleName> for EffectScale {
    fn from(name: ScaleName) -> EffectScale {
        match name {
            ScaleName::Response => EffectScale::Response,
            ScaleName::Link => EffectScale::Link,
            ScaleName::Odds => EffectScale::Odds,
        }
    }
}

/// Columns held at values, as typed: `load=0.5,shift=night`.
#[derive(Clone, Debug)]
struct ColumnValues(Vec<(String, String)>);

impl FromStr for ColumnValues {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<ColumnValues> {
        let pair = |part: &str| match part.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                Ok((name.trim().to_owned(), value.trim().to_owned()))
            }
            _ => Err(anyhow!(
                "expected 'column=value,column=value', found {part:?}"
            )),
        };
        Ok(ColumnValues(
            text.split(',').map(pair).collect::<Result<_>>()?,
        ))
    }
}

/// Average and conditional effects of a column: predictions, contrasts, slopes
///
/// With a table, every row is predicted with the column set to a value, and the predictions are
/// averaged: adjusted predictions, average contrasts and average slopes as R's marginaleffects
/// defines them. Without one, they are conditional on the reference: numbers at their mean, levels
/// at their commonest, the effects of groups at 0.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr effects fit.lehr age train.parquet
  lehr effects fit.lehr age --at load=0.5,shift=night
  lehr effects fit.lehr shift train.parquet --contrast 'night - day' --by site
  lehr effects fit.lehr shift --scale odds --json")]
pub(crate) struct EffectsArgs {
    /// A file written by lehr fit; - reads stdin
    fit: PathBuf,
    /// The column whose effect is asked for
    variable: String,
    /// Files, folders or patterns that together are the table to average over; - reads stdin
    #[arg(value_name = "TABLE")]
    tables: Vec<PathBuf>,
    /// Hold columns at values, e.g. load=0.5,shift=night (may be repeated)
    #[arg(long, value_name = "COLUMN=VALUE")]
    at: Vec<ColumnValues>,
    /// Average the rows of each value of this column apart
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// Compare two values, e.g. 'shift: night - day' or 'night - day' (may be repeated)
    #[arg(long, value_name = "VALUES")]
    contrast: Vec<String>,
    /// On which scale effects are told
    #[arg(long, value_enum, default_value_t)]
    scale: ScaleName,
    /// At how many values a number is predicted, from its least to its greatest
    #[arg(long, value_name = "N", default_value_t = 5)]
    points: usize,
    /// Whether the effects of groups are part of it [default: groups with a table, else population]
    #[arg(long, value_enum)]
    level: Option<LevelName>,
    /// What becomes of groups that were not fitted
    #[arg(long, value_enum, default_value = "refuse")]
    new_levels: NewLevelsName,
    /// Draws to use [default: 1000 with a table, else 4000]
    #[arg(long, value_name = "N")]
    draws: Option<usize>,
    #[command(flatten)]
    one: OneResponse,
    #[command(flatten)]
    acceptance: Acceptance,
    #[command(flatten)]
    reading: ReadingArgs,
}

impl EffectsArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        let usual = if self.tables.is_empty() { 4000 } else { 1000 };
        let draws = self.draws.unwrap_or(usual);
        ensure!(
            draws > 1,
            "--draws: expected at least two draws, found {draws}"
        );
        let saved = self.one.load_fit(session.resolve_input(&self.fit)?)?;
        let usual = if self.tables.is_empty() {
            PredictionLevel::Population
        } else {
            PredictionLevel::Groups
        };
        let forecaster = Forecaster {
            new_levels: self.new_levels.into(),
            level: self.level.map_or(usual, Into::into),
            ..saved.forecaster(draws)
        };
        let question = self.effect_question();
        let averager = EffectAverager::new(&forecaster, &question)?;
        let answer = if self.tables.is_empty() {
            averager.at_reference()?
        } else {
            let source = session.open_tables(&self.tables)?;
            self.averaged_over(averager, &source, &Live::new(session, "effects"))?
        };
        session.print_answer(&answer, || format_text(&answer))?;
        Ok(self.acceptance.exit_outcome(&saved, session))
    }

    fn effect_question(&self) -> EffectQuestion {
        EffectQuestion {
            at: self.at.iter().flat_map(|held| held.0.clone()).collect(),
            by: self.by.clone(),
            contrasts: self.contrast.clone(),
            scale: self.scale.into(),
            points: self.points,
            ..EffectQuestion::new(&self.variable)
        }
    }

    /// Averages over all rows of some files.
    fn averaged_over(
        &self,
        mut averager: EffectAverager<'_>,
        source: &TableFiles,
        live: &Live,
    ) -> Result<Answer> {
        let options = self.reading.read_options(Some(averager.columns()))?;
        let options = options.keep_columns(&averager.optional_columns());
        source.scan_blocks(&options, &mut |batch, at| {
            live.rows(at);
            averager.push(&batch)
        })?;
        Ok(averager.finish()?)
    }
}

fn format_text(answer: &Answer) -> String {
    let over = match answer.n_rows {
        0 => "at the reference".into(),
        rows => format!("averaged over {rows} rows"),
    };
    let groups = match answer.level {
        PredictionLevel::Population if answer.has_groups => ", effects of groups at 0",
        _ => "",
    };
    let values = answer.reference.iter();
    let values: Vec<String> = values.map(|(name, at)| format!("{name} = {at}")).collect();
    let reference = match &values[..] {
        [] => String::new(),
        values => format!("reference: {}\n", values.join(", ")),
    };
    let head = format!(
        "effect of {} on {}, {over}{groups}, {} draws\n{reference}\n",
        answer.variable, answer.on, answer.n_draws
    );
    let rows: Vec<Coefficient> = answer.effects.iter().map(effect_row).collect();
    head + &Session::style().format_coefficients(&rows)
}

/// An effect as a row of a table: its name, then the rows and the class that it refers to.
fn effect_row(effect: &EffectEstimate) -> Coefficient {
    let parts = [effect.by.as_deref(), effect.class.as_deref()];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    let name = if parts.is_empty() {
        effect.name.clone()
    } else {
        format!("{} [{}]", effect.name, parts.join(", "))
    };
    Coefficient::new(name, effect.summary)
}
