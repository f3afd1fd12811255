//! Further draws from fits by each method, after saving and loading.

use anyhow::Result;
use lehr::infer::method::MethodInfo;
use lehr::prelude::*;

use super::function::{events, groups, overdispersed};
use super::method::shortened;
use super::table::small;
use super::{Case, Shell};

/// All methods whose fits can be saved.
pub(super) fn cases() -> Vec<Case> {
    vec![Case::program("restored/more draws", |shell| {
        let methods = lehr::METHODS.iter().filter(|method| method.name != "auto");
        methods
            .into_iter()
            .try_for_each(|method| draw(shell, method))
    })]
}

/// Records a few more draws, or the reason why there are none.
fn draw(shell: &mut Shell, method: &MethodInfo) -> Result<()> {
    let model = match method.name {
        "semi-dais" => overdispersed(),
        "collapse" => groups(),
        _ => events(),
    };
    let (table, path) = (small()?, shell.path("fit.lehr"));
    let density = model.bind(&table)?;
    let mut fit = Fit::named(method.name)?.seed(12).draws(60);
    for (name, value) in shortened(method) {
        fit = fit.set(name, value)?;
    }
    SavedFit::of(fit.run(&density)?)?.save(&path)?;
    let restored = lehr::load(&path)?;
    let name = shell.name(method.name);
    match restored.posterior.draw_more(&density, 16, 13) {
        Ok(draws) => shell.transcript.numbers(&name, &draws),
        Err(error) => shell.transcript.text(&name, &error.to_string()),
    }
    Ok(())
}
