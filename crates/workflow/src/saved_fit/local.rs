//! Draws of local latents.

use lehr_infer::local::{LocalDrawError, LocalDraws};
use lehr_regression::NamedDraws;
use lehr_table::Table;

use super::SavedFit;
use crate::error::Error;

impl SavedFit {
    /// The latents of these rows of the fitted table, counted from 1, one for each of the draws of
    /// [`SavedFit::even_draws`]. The rows may be new ones, if the table has their response.
    ///
    /// # Errors
    /// If the table is not one of the model, its rows have no local latents, or a row does not
    /// exist.
    pub fn local_draws(&self, table: &Table, rows: &[u64]) -> Result<Vec<NamedDraws>, Error> {
        let bound = self.subject.bind(&self.subject.design(table)?)?;
        let counted_from_0 = |row: &u64| {
            let place = (*row as usize).checked_sub(1);
            place.ok_or_else(|| LocalDrawError::Row {
                rows: table.n_rows(),
                found: 0,
            })
        };
        let places: Vec<usize> = rows.iter().map(counted_from_0).collect::<Result<_, _>>()?;
        let draws = self.draws(self.posterior.n_draws()).concat();
        let seed = self.posterior.origin.seed;
        let sites = LocalDraws::new(&bound, &places)?.draw(&draws, self.params(), seed);
        let mut columns = Vec::new();
        for site in sites {
            let width = site.dims.iter().product::<usize>().max(1);
            for (place, row) in rows.iter().enumerate() {
                for entry in 0..width {
                    let own = site.values.iter().skip(place * width + entry);
                    let name = match width {
                        1 => format!("{}[{row}]", site.name),
                        _ => format!("{}[{row},{}]", site.name, entry + 1),
                    };
                    let values = own.step_by(rows.len() * width).copied().collect();
                    columns.push(NamedDraws::new(name, values));
                }
            }
        }
        Ok(columns)
    }
}
