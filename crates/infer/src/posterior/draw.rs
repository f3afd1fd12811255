//! Single draws, with groups whose draws are not kept and with local latents.

use lehr_density::{Density, SiteValue};

use super::Posterior;
use crate::local::{LocalDrawError, LocalDraws};

impl Posterior {
    /// How many numbers the model has, including those without kept draws.
    pub fn n_latents(&self) -> usize {
        (self.spared.as_ref()).map_or(self.latents.size(), |spared| spared.latents().size())
    }

    /// The kept numbers of a draw.
    pub fn draw(&self, place: usize) -> &[f64] {
        let size = self.latents.size();
        &self.draws[place * size..(place + 1) * size]
    }

    /// A draw with only these groups, in this order, of a site whose draws are not kept.
    pub fn draw_with(&self, place: usize, groups: &[u32]) -> Vec<f64> {
        let kept = self.draw(place);
        match &self.spared {
            Some(spared) => spared.joined(kept, &spared.effects(place, kept, groups)),
            None => kept.to_vec(),
        }
    }

    /// z of a draw; in a site whose draws are not kept, all other groups are 0.
    pub fn draw_filled(&self, place: usize, groups: &[u32]) -> Vec<f64> {
        let Some(spared) = &self.spared else {
            return self.draw(place).to_vec();
        };
        let (kept, own) = (self.draw(place), spared.place());
        let width = spared.width();
        let found = spared.effects(place, kept, groups);
        // Zeros that are never written need no physical memory.
        let mut z = vec![0.0; spared.latents().size()];
        z[..own.start].copy_from_slice(&kept[..own.start]);
        z[own.end..].copy_from_slice(&kept[own.start..]);
        for (group, values) in groups.iter().zip(found.chunks_exact(width)) {
            z[own.start + *group as usize * width..][..width].copy_from_slice(values);
        }
        z
    }

    /// Draws of the local latents of rows, counted from 0, one for each draw of the posterior.
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
