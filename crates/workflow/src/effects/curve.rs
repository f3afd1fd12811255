//! The effect of each column at the reference, for the plots of a report.

use lehr_learn::ValueProfile;
use lehr_regression::PredictionLevel;
use lehr_report::{EffectCurve, EffectPoint};

use super::{EffectAverager, EffectEstimate, EffectKind, EffectQuestion};
use crate::predict::Forecaster;
use crate::saved_fit::SavedFit;

/// The number of draws behind a curve.
const DRAWS: usize = 200;
/// Points of a curve.
const POINTS: usize = 25;
/// The most columns that are plotted.
const MOST_COLUMNS: usize = 12;
/// The most classes that are plotted.
const MOST_CLASSES: usize = 4;

/// A curve for each of the first columns of the fixed effects, and for each of the first classes. A
/// column that cannot be predicted by itself, such as one with very many levels, is left out.
pub(crate) fn curves(saved: &SavedFit) -> Vec<EffectCurve> {
    let Some(regression) = saved.subject.regression() else {
        return Vec::new();
    };
    let forecaster = Forecaster {
        level: PredictionLevel::Population,
        ..saved.forecaster(DRAWS)
    };
    let trials = regression.terms().response.trial_columns();
    let mut curves = Vec::new();
    for profile in regression.profiles().iter().take(MOST_COLUMNS) {
        if trials.contains(&profile.name.as_str()) {
            continue;
        }
        let question = EffectQuestion {
            points: POINTS,
            ..EffectQuestion::new(&profile.name)
        };
        let answer = EffectAverager::new(&forecaster, &question);
        let Ok(answer) = answer.and_then(EffectAverager::at_reference) else {
            continue;
        };
        let is_number = matches!(profile.values, ValueProfile::Number { .. });
        let mut classes: Vec<Option<String>> = Vec::new();
        for effect in &answer.effects {
            if !classes.contains(&effect.class) && classes.len() < MOST_CLASSES {
                classes.push(effect.class.clone());
            }
        }
        curves.extend(classes.into_iter().map(|class| EffectCurve {
            variable: profile.name.clone(),
            response: class.as_ref().map_or(answer.on.clone(), |class| {
                format!("the probability of {class}")
            }),
            numeric: is_number,
            points: points(&answer.effects, class.as_deref()),
        }));
    }
    curves
}

/// The predictions of one class.
fn points(effects: &[EffectEstimate], class: Option<&str>) -> Vec<EffectPoint> {
    let wanted = |effect: &&EffectEstimate| {
        effect.kind == EffectKind::Prediction && effect.class.as_deref() == class
    };
    let point = |effect: &EffectEstimate| EffectPoint {
        name: effect.name.clone(),
        value: effect.value,
        mean: effect.summary.mean,
        low: effect.summary.q5,
        high: effect.summary.q95,
    };
    effects.iter().filter(wanted).map(point).collect()
}
