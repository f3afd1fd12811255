//! The way in which rows read their effects, sent to the owner of the rows: sites, columns, and the
//! transformation of coefficients with the hyperparameters.

use lehr_density::Density;

use super::parts::Parts;

/// The way in which rows read their effects, without data of any row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scheme {
    /// In the order of [`Parts`].
    pub(super) blocks: Vec<Reading>,
    /// The places of the common effects in z.
    pub(super) common: Vec<usize>,
    /// The standard deviation of the response at the reference.
    pub(super) noise: f64,
}

/// The way in which rows read the effects of one block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) site: usize,
    /// The column with the group of each row; `None` if all rows are one group.
    pub(super) column: Option<usize>,
    pub(super) groups: usize,
    pub(super) width: usize,
    /// T at the moved hyperparameters: empty for the identity, else the diagonal or the full
    /// matrix, row-major.
    pub(super) turn: Vec<f64>,
}

impl Scheme {
    /// The scheme of a density's rows, with T of every block at moved hyperparameters.
    pub(super) fn of(parts: &Parts<'_>, turns: Vec<Vec<f64>>, noise: f64) -> Scheme {
        let latents = parts.density.latents();
        let site = |start: usize| {
            let mut sites = 0..latents.sites().len();
            sites.find(|site| latents.range(*site).start == start)
        };
        let blocks = parts.blocks.iter().zip(turns).map(|(block, turn)| Reading {
            site: site(block.places.start).expect("a block is a site"),
            column: block.column,
            groups: block.groups,
            width: block.width,
            turn,
        });
        Scheme {
            blocks: blocks.collect(),
            common: parts.common.places.clone(),
            noise,
        }
    }

    /// The scheme as arguments of [`lehr_density::Query::GroupSums`].
    pub(super) fn arguments(&self) -> Vec<Vec<f64>> {
        let block = |own: &Reading| {
            let column = own.column.map_or(-1.0, |column| column as f64);
            [own.site as f64, column, own.turn.len() as f64]
        };
        let turns = self.blocks.iter().flat_map(|own| own.turn.clone());
        vec![
            self.blocks.iter().flat_map(block).collect(),
            self.common.iter().map(|place| *place as f64).collect(),
            turns.collect(),
            vec![self.noise],
        ]
    }

    /// Decodes the arguments for the same model.
    pub(crate) fn told(density: &dyn Density, arguments: &[&[f64]]) -> Scheme {
        let latents = density.latents();
        let mut turns = arguments[2];
        let block = |told: &[f64]| {
            let site = told[0] as usize;
            let column = (told[1] >= 0.0).then_some(told[1] as usize);
            let first = latents.sites()[site].dims.first().copied().unwrap_or(1);
            let groups = column.map_or(1, |_| first);
            let turn;
            (turn, turns) = turns.split_at(told[2] as usize);
            Reading {
                site,
                column,
                groups,
                width: latents.range(site).len() / groups.max(1),
                turn: turn.to_vec(),
            }
        };
        Scheme {
            blocks: arguments[0].chunks_exact(3).map(block).collect(),
            common: arguments[1].iter().map(|place| *place as usize).collect(),
            noise: arguments[3][0],
        }
    }

    /// How many coefficients a row has.
    pub(super) fn entries(&self) -> usize {
        let blocks = self.blocks.iter().map(|block| block.width);
        blocks.sum::<usize>() + self.common.len()
    }
}
