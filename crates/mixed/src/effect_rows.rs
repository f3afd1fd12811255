//! Reads the coefficients, weights and responses of rows in one pass, and checks that each row reads
//! its effects as the description says.

use lehr_density::{Density, Layout, RowSet, RowSource, Rows, SplitRows};
use lehr_graph::{Expr, Workspace};
use lehr_numeric::dense::small;
use lehr_rows::{Argument, RowProgram};

use crate::dependence::{derivatives, point_at};
use crate::effect_reading::{BlockReading, EffectReading};
use crate::effect_structure::{moved, reference};
use crate::tolerance::{ROUNDING, probe_pattern};

/// Arguments of the programs, by their place.
const Z: usize = 0;
const DIRECTIONS: usize = 1;
const PATTERN: usize = 2;

/// The programs for a block of rows, and their results.
pub(crate) struct RowReader {
    reading: EffectReading,
    /// At the reference: coefficients, weights and responses.
    still: RowProgram,
    /// At moved hyperparameters: only the changes of the predictor, and the predictor.
    away: RowProgram,
    /// The first place in z of each block and of each common effect.
    starts: Vec<usize>,
    /// The group of each row, block after block.
    pub(crate) codes: Vec<Vec<u32>>,
    /// The coefficient of each effect, effect after effect.
    pub(crate) coefficients: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    /// The responses less the predictor without effects.
    pub(crate) values: Vec<f64>,
}

impl RowReader {
    pub(crate) fn new(density: &dyn Density, reading: &EffectReading, rows: usize) -> RowReader {
        let split = density.split().expect("it was asked before");
        let latents = density.latents();
        let (size, entries) = (latents.size(), reading.entries());
        let sizes = [
            Argument::Shared(size),
            Argument::PerLane(entries),
            Argument::Shared(size),
        ];
        let writing = RowTermWriter {
            reading,
            split,
            latents,
        };
        let reference = reference(density);
        let others = (0..latents.sites().len()).filter(|site| !split.effect_sites().contains(site));
        let hyper: Vec<usize> = others.flat_map(|site| latents.range(site)).collect();
        let mut probe_pattern: Vec<f64> = (0..size).map(probe_pattern).collect();
        for &place in &hyper {
            probe_pattern[place] = 0.0;
        }
        let ready = |z: &[f64], mut block: RowProgram| {
            block.set(Z, z);
            block.set(DIRECTIONS, &small::identity(entries));
            block.set(PATTERN, &probe_pattern);
            block
        };
        let shape = (entries, rows);
        let still = RowProgram::new(density.columns(), shape, &sizes, &|inputs, rows| {
            writing.terms(inputs, rows)
        });
        let away = RowProgram::new(density.columns(), shape, &sizes, &|inputs, rows| {
            writing.gains(inputs, rows).to_vec()
        });
        let blocks = (reading.blocks.iter()).map(|own| latents.range(own.site).start);
        RowReader {
            starts: blocks.chain(reading.common.iter().copied()).collect(),
            still: ready(&reference, still),
            away: ready(&moved(&reference, &hyper), away),
            codes: vec![vec![0; rows]; reading.blocks.len()],
            reading: reading.clone(),
            coefficients: vec![0.0; rows * entries],
            weights: vec![0.0; rows],
            values: vec![0.0; rows],
        }
    }

    /// How many rows are read at a time.
    pub(crate) fn rows(&self) -> usize {
        self.weights.len()
    }

    pub(crate) fn reading(&self) -> &EffectReading {
        &self.reading
    }

    /// Reads the rows from `first` on; returns whether each reads its effects as the reading says.
    pub(crate) fn read(&mut self, source: &dyn RowSource, first: usize) -> Vec<bool> {
        let range = first..first + self.rows();
        for (own, codes) in self.reading.blocks.iter().zip(&mut self.codes) {
            if let Some(column) = own.column {
                source.copy_indices(column, &RowSet::Range(range.clone()), codes);
            }
        }
        self.still.place(source, range.clone());
        self.away.place(source, range);
        let found = self.still.run(&[]);
        let gains = found.output(0);
        let all = self.coefficients.iter_mut().zip(gains.iter().cycle());
        all.for_each(|(to, from)| *to = *from);
        let (slopes, curves) = (found.output(2), found.output(3));
        let noise = self.reading.noise;
        for row in 0..self.weights.len() {
            let (slope, curve) = (slopes[row % slopes.len()], curves[row % curves.len()]);
            (self.weights[row], self.values[row]) = weighted_response(slope, curve, noise);
        }
        self.away.run(&[]);
        (0..self.rows()).map(|row| self.is_sound(row)).collect()
    }

    /// Whether a row reads one group of each block and nothing else, its coefficients transform
    /// like those of all rows, and only effects change its predictor.
    fn is_sound(&self, row: usize) -> bool {
        let (still, away) = (self.still.found(), self.away.found());
        let offset = |found: &Workspace| found.output(1)[row % found.output(1).len()];
        self.reads_its_groups(row, still.output(4))
            && self.follows_map(row, away.output(0))
            && offset(still) == offset(away)
    }

    fn reads_its_groups(&self, row: usize, along_pattern: &[f64]) -> bool {
        let rows = self.rows();
        let (mut entry, mut sum, mut size) = (0, 0.0, 1e-300);
        for (k, start) in self.starts.iter().enumerate() {
            let own = self.reading.blocks.get(k);
            let width = own.map_or(1, |own| own.width);
            let group = self.codes.get(k).map_or(0, |codes| codes[row] as usize);
            for effect in 0..width {
                let term = self.coefficients[entry * rows + row]
                    * probe_pattern(start + group * width + effect);
                (sum, size) = (sum + term, size + term.abs());
                entry += 1;
            }
        }
        (sum - along_pattern[row % along_pattern.len()]).abs() <= ROUNDING * size
    }

    fn follows_map(&self, row: usize, after: &[f64]) -> bool {
        let rows = self.rows();
        let mut entry = 0;
        let before = |entry: usize| self.coefficients[entry * rows + row];
        let now = |entry: usize| after[(entry * rows + row) % after.len()];
        for own in &self.reading.blocks {
            let entries = entry..entry + own.width;
            let squares = entries.clone().map(|k| [before(k), now(k)].map(|c| c * c));
            let [was, is] = squares.fold([0.0, 0.0], |a, b| [a[0] + b[0], a[1] + b[1]]);
            let close = ROUNDING * (f64::sqrt(was) + f64::sqrt(is));
            for effect in 0..own.width {
                let turned = own.mapped(effect, |other| before(entry + other));
                if (turned - now(entry + effect)).abs() > close {
                    return false;
                }
            }
            entry += own.width;
        }
        (entry..self.reading.entries()).all(|k| before(k) == now(k))
    }
}

/// The weight of a row and its response less its predictor, from the slope and curvature of its log
/// likelihood at the reference: ln N(y; η, σ²)ʷ has slope w(y − η)/σ² and curvature −w/σ² in η.
pub(crate) fn weighted_response(slope: f64, curve: f64, noise: f64) -> (f64, f64) {
    let curve = -curve;
    // A row of weight zero has no information.
    let value = if curve > 0.0 { slope / curve } else { 0.0 };
    (curve * noise * noise, value)
}

/// The context from which the program is written.
struct RowTermWriter<'a> {
    reading: &'a EffectReading,
    split: &'a dyn SplitRows,
    latents: &'a Layout,
}

impl RowTermWriter<'_> {
    /// For each row: the change of its predictor along each entry, by lane, and its predictor at z
    /// with effects of 0.
    ///
    /// Directions are written in a compact form, one number for all groups, so that no array as
    /// long as z is computed.
    fn gains<'g>(&self, inputs: &[Expr<'g>], rows: &Rows<'g>) -> [Expr<'g>; 2] {
        let graph = inputs[Z].graph();
        let at = point_at(inputs[Z]);
        let predictor = self.split.predictor(&at, rows);
        let direction = self.direction(inputs[DIRECTIONS]);
        let gain = graph.jvp(&[predictor], &[at.latents], &[direction])[0];
        [gain, predictor]
    }

    /// The same, with the slope and curvature of its log likelihood in its predictor, and the
    /// change of the predictor along the probe pattern.
    fn terms<'g>(&self, inputs: &[Expr<'g>], rows: &Rows<'g>) -> Vec<Expr<'g>> {
        let graph = inputs[Z].graph();
        let [gain, predictor] = self.gains(inputs, rows);
        let along_pattern = graph.jvp(&[predictor], &[inputs[Z]], &[inputs[PATTERN]])[0];
        let at = point_at(inputs[Z]);
        let held = predictor.anchor();
        let value = self.split.log_density_given(held, &at, rows);
        let [slope, curve] = derivatives(value, held);
        vec![gain, predictor, slope, curve, along_pattern]
    }

    /// The direction in z of the entries of a row: all groups of a block move alike.
    fn direction<'g>(&self, entries: Expr<'g>) -> Expr<'g> {
        let graph = entries.graph();
        let widths = (self.reading.blocks.iter()).map(|own| own.width);
        let widths = widths.sum::<usize>();
        let part = |site: usize| {
            let range = self.latents.range(site);
            if !self.split.effect_sites().contains(&site) {
                return graph.full([range.len()], 0.0);
            }
            let mut first = 0;
            for own in &self.reading.blocks {
                if own.site == site {
                    let alike = entries.slice(0, first..first + own.width);
                    return (alike.broadcast([own.groups, own.width])).reshape([range.len()]);
                }
                first += own.width;
            }
            let common = self.reading.common.iter();
            let place = common.take_while(|place| **place != range.start).count() + widths;
            entries.slice(0, place..place + range.len())
        };
        let parts: Vec<Expr<'g>> = (0..self.latents.sites().len()).map(part).collect();
        graph.concat(&parts, 0)
    }
}

impl BlockReading {
    /// An entry of Tᵀz.
    fn mapped(&self, effect: usize, z: impl Fn(usize) -> f64) -> f64 {
        match self.map.len() {
            0 => z(effect),
            length if length == self.width => self.map[effect] * z(effect),
            _ => (0..self.width)
                .map(|other| self.map[other * self.width + effect] * z(other))
                .sum(),
        }
    }
}
