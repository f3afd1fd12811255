//! Descriptions of a fit, for printing.

use lehr_density::Support;

use crate::group_moments::GroupMoments;
use crate::integration_points::WeightedDraws;
use crate::marginal::MarginalDensity;
use crate::mixed_search::MixedSearch;
use crate::proposal::ProposalKind;

impl MarginalDensity<'_> {
    /// A description of the effects that are integrated out: names and values.
    pub fn remarks(&self) -> Vec<(String, String)> {
        let (model, order) = (&self.model, &self.order);
        let blocks: Vec<String> = (model.blocks.iter())
            .map(|block| format!("{} of {}", block.places.len(), block.name))
            .collect();
        let common = match model.common.places.len() {
            0 => String::new(),
            count => format!(" and {count} that all rows share"),
        };
        let chosen = [
            ("collapsed", format!("{}{common}", blocks.join(", "))),
            (
                "eliminated first",
                format!("{}, which leaves {}", model.blocks[0].name, order.rest),
            ),
            ("hyperparameters", self.size().to_string()),
        ];
        chosen.map(|(what, how)| (what.to_owned(), how)).to_vec()
    }
}

impl MixedSearch<'_> {
    /// A description of the draws of hyperparameters and effects.
    pub(crate) fn remarks(
        &self,
        drawn: &WeightedDraws,
        moments: Option<&GroupMoments>,
    ) -> Vec<(String, String)> {
        let (marginal, axes, mode) = (self.marginal, &self.axes, &self.mode);
        let model = &marginal.model;
        let factors = mode.steps + 2 * marginal.size() + axes.n_evaluations() + drawn.factors;
        let mut chosen = vec![("factorisations", factors.to_string())];
        if let Some(distinct) = &model.distinct {
            let (some, all) = (distinct.rows.len(), model.density.n_rows());
            let words = format!("{all} rows, of which {some} are distinct");
            chosen.push(("joined", words));
        }
        if let Some(words) = &mode.gap_in_words {
            chosen.push(("added to the bound", words.clone()));
        }
        if drawn.points.kind == ProposalKind::Exact {
            let words = format!("{}, group by group", model.blocks[0].name);
            chosen.push(("drawn exactly", words));
        }
        for (one, other) in &marginal.confounded {
            let [one, other] = [one, other].map(|block| &model.blocks[*block].name);
            let words = format!(
                "{one} and {other} group the rows alike: only the sums of their effects are known"
            );
            chosen.push(("confounded", words));
        }
        let names: Vec<&str> = (axes.open_to_the_left().iter())
            .filter_map(|k| model.density.latents().site_of(model.hyper[*k]))
            .filter(|site| site.support == Support::Positive)
            .map(|site| site.name.as_str())
            .collect();
        if !names.is_empty() {
            chosen.push(("not ruled out", format!("{} = 0", names.join(" = 0, "))));
        }
        if let Some(moments) = moments {
            let (site, numbers) = (&moments.site().name, moments.groups() * moments.width());
            let words = format!("moments of the {numbers} numbers of {site}, draws of all others");
            chosen.push(("kept", words));
        }
        let owned = |(what, how): (&str, String)| (what.to_owned(), how);
        chosen.into_iter().map(owned).collect()
    }
}
