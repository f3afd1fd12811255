//! Sums over rows that pass by in blocks of any length and are not kept.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use lehr_density::{Density, Query, RowSource};

use crate::collapse::tally::{Tallier, Tallying};
use crate::condensed::{self, Reflection};
use crate::question::Question;
use lehr_rows::{LANES, RowProgram};

/// Rows that are computed together at most.
const LARGEST: usize = 8192;

/// What was compiled for one model: it is kept from pass to pass. RowPrograms are cut into pieces whose
/// lengths are powers of 2, so that there are few of them.
#[derive(Default)]
pub struct RowSums {
    compiled: BTreeMap<(Query, usize), RowProgram>,
    tallier: Tallier,
}

/// A query whose rows are passing by.
pub struct Passing<'a> {
    compiled: &'a mut BTreeMap<(Query, usize), RowProgram>,
    tallier: &'a mut Tallier,
    question: Question<'a>,
    arguments: &'a [&'a [f64]],
    state: State,
}

/// What the rows so far have come to.
enum State {
    Sums(Vec<Vec<f64>>),
    Triangle {
        reflection: Option<Reflection>,
        arguments: [Vec<f64>; 2],
    },
    Tally(Tallying),
}

impl RowSums {
    /// A query of the rows of this model, always of the same one, at these arguments.
    pub fn ask<'a>(
        &'a mut self,
        density: &'a dyn Density,
        query: Query,
        arguments: &'a [&'a [f64]],
    ) -> Passing<'a> {
        let state = match query {
            Query::Triangle if density.gaussian().is_some() => State::Triangle {
                arguments: Reflection::new(density).arguments(),
                reflection: None,
            },
            Query::GroupSums => State::Tally(Tallying::new(density, arguments)),
            _ => State::Sums(Vec::new()),
        };
        Passing {
            compiled: &mut self.compiled,
            tallier: &mut self.tallier,
            question: Question { query, density },
            arguments,
            state,
        }
    }
}

impl Passing<'_> {
    /// Adds a block of rows, the columns of which are those of the model.
    pub fn see(&mut self, rows: &dyn RowSource) {
        if let State::Tally(tallying) = &mut self.state {
            return tallying.see(self.question.density, rows, self.tallier);
        }
        let (mut first, n_rows) = (0, rows.n_rows());
        while first < n_rows {
            let length = self.piece(n_rows - first);
            let key = (self.computed(), length);
            let question = Question {
                query: key.0,
                density: self.question.density,
            };
            let block = match self.compiled.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(compiled(&question, length)),
            };
            block.place(rows, first..first + length);
            match &mut self.state {
                State::Sums(sums) => add(block, &question, self.arguments, sums),
                State::Triangle {
                    reflection,
                    arguments,
                } => {
                    let found = block.run(&[&arguments[0], &arguments[1]]);
                    let new = || Reflection::new(question.density);
                    reflection.get_or_insert_with(new).add(length, found);
                }
                State::Tally(_) => unreachable!("tallies read rows by themselves"),
            }
            first += length;
        }
    }

    /// The sums, one array per function; none without rows.
    pub fn finish(self) -> Vec<Vec<f64>> {
        match self.state {
            State::Sums(sums) => sums,
            State::Triangle { reflection, .. } => {
                reflection.map_or_else(Vec::new, Reflection::into_parts)
            }
            State::Tally(tallying) => tallying.finish(),
        }
    }

    /// How many rows are taken of so many.
    fn piece(&self, left: usize) -> usize {
        let most = match self.question.query {
            Query::Triangle => condensed::BLOCK,
            _ => LARGEST,
        };
        let floor = 1 << left.ilog2();
        floor.min(most)
    }

    /// What is compiled: however many lanes are asked for, few are computed side by side.
    fn computed(&self) -> Query {
        match self.question.query {
            Query::LogLikelihood { lanes } if lanes > LANES => {
                Query::LogLikelihood { lanes: LANES }
            }
            query => query,
        }
    }
}

fn compiled(question: &Question<'_>, length: usize) -> RowProgram {
    let shape = (question.lanes(), length);
    let sizes = question.arguments();
    RowProgram::new(
        question.density.columns(),
        shape,
        &sizes,
        &|inputs, rows| question.write(inputs, rows),
    )
}

/// Adds the functions of the rows in place.
fn add(
    block: &mut RowProgram,
    question: &Question<'_>,
    arguments: &[&[f64]],
    sums: &mut Vec<Vec<f64>>,
) {
    let size = question.density.latents().size();
    if let Query::LogLikelihood { lanes } = question.query
        && arguments[0].len() > lanes * size
    {
        let mut values = Vec::with_capacity(arguments[0].len() / size);
        let mut z = vec![0.0; lanes * size];
        for some in arguments[0].chunks(lanes * size) {
            z[..some.len()].copy_from_slice(some);
            // A likelihood that does not depend on z is the same for every lane.
            let found = block.run(&[&z, arguments[1]]).output(0).iter().cycle();
            values.extend(found.take(some.len() / size));
        }
        return add_array(sums, 0, &values);
    }
    let outputs = block.outputs();
    let found = block.run(arguments);
    for k in 0..outputs {
        add_array(sums, k, found.output(k));
    }
}

fn add_array(sums: &mut Vec<Vec<f64>>, k: usize, part: &[f64]) {
    match sums.get_mut(k) {
        Some(sum) => sum.iter_mut().zip(part).for_each(|(sum, one)| *sum += one),
        None => sums.push(part.to_vec()),
    }
}
