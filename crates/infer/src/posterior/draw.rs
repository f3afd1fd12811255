//! Draws one by one, with groups that are not kept and latents of single rows.

use lehr_density::{Density, SiteValue};

use super::Posterior;
use crate::local::{LocalDrawError, LocalDraws};

impl Posterior {
    /// How many numbers the model has, whether draws of them are kept or not.
    pub fn n_latents(&self) -> usize {
        (self.spared.as_ref()).map_or(self.latents.size(), |spared| spared.latents().size())
    }

    /// A draw as it is kept.
    pub fn draw(&self, place: usize) -> &[f64] {
        let size = self.latents.size();
        &self.draws[place * size..(place + 1) * size]
    }

    /// A draw that has these groups alone of a site whose draws are not kept, in this order.
    pub fn draw_with(&self, place: usize, groups: &[u32]) -> Vec<f64> {
        let kept = self.draw(place);
        match &self.spared {
            Some(spared) => spared.joined(kept, &spared.effects(place, kept, groups)),
            None => kept.to_vec(),
        }
    }

    /// z of a draw, in which of a site whose draws are not kept all but these groups are 0.
    pub fn draw_filled(&self, place: usize, groups: &[u32]) -> Vec<f64> {
        let Some(spared) = &self.spared else {
            return self.draw(place).to_vec();
        };
        let (kept, own) = (self.draw(place), spared.place());
        let width = spared.width();
        let found = spared.effects(place, kept, groups);
        // Millions of zeros that nobody writes cost nothing.
        let mut z = vec![0.0; spared.latents().size()];
        z[..own.start].copy_from_slice(&kept[..own.start]);
        z[own.end..].copy_from_slice(&kept[own.start..]);
        for (group, values) in groups.iter().zip(found.chunks_exact(width)) {
            z[own.start + *group as usize * width..][..width].copy_from_slice(values);
        }
        z
    }

    /// Draws of the latents of rows' own, counted from 0, one for each draw of the posterior.
    ///
    /// # Errors
    /// As [`LocalDraws::new`].
    pub fn draw_locals(
        &self,
        density: &dyn Density,
        rows: &[usize],
        seed: u64,
    ) -> Result<Vec<SiteValue>, LocalDrawError> {
        let draws = LocalDraws::new(density, rows)?;
        Ok(draws.draw(&self.draws, &self.param_values, seed))
    }
}
