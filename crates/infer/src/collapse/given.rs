//! What the effects are a priori, given the hyperparameters θ: precisions, means, and how the rows'
//! coefficients turn; and the way back, from slopes in those to a slope in θ.

use lehr_density::{Point, RowSet, Rows};
use lehr_graph::{Expr, Graph, Plan, Slot, Workspace};

use super::parts::{Block, Parts, reference};
use super::small;
use crate::train::{copy_rows, read_columns};

/// The prior of one group of a block, in the effects v = T u that the rows read at the reference.
#[derive(Clone, Debug)]
pub(super) struct BlockPrior {
    /// P, row after row.
    pub(super) precision: Vec<f64>,
    /// P times the mean.
    pub(super) linear: Vec<f64>,
    /// T⁻¹
    pub(super) inverse: Vec<f64>,
}

/// The density at one θ, but for its rows.
#[derive(Clone, Debug)]
pub(super) struct Given {
    /// ln p(θ) and the log prior of all v where they are 0.
    pub(super) log_prior: f64,
    /// In the order of the blocks.
    pub(super) blocks: Vec<BlockPrior>,
    /// The standard deviation of a normal response.
    pub(super) noise: Option<f64>,
}

/// Slopes in what [`Given`] holds.
pub(super) struct Adjoint {
    /// For each block in its precision (symmetric) and in its linear term.
    pub(super) blocks: Vec<(Vec<f64>, Vec<f64>)>,
    pub(super) noise: f64,
}

/// The program behind [`Given`].
pub(super) struct Conditional {
    origin: Vec<f64>,
    value: Program,
    slope: Program,
    /// The table's rows that the programs read.
    rows: Vec<usize>,
}

/// A plan, and which columns it reads.
struct Program {
    plan: Plan,
    columns: Vec<(usize, Slot)>,
}

impl Program {
    fn set(&self, workspace: &mut Workspace, name: &str, values: &[f64]) {
        if let Some(slot) = self.plan.input_named(name) {
            workspace.set(slot, values);
        }
    }
}

/// What a thread needs to run it.
pub(super) struct Scratch {
    value: Workspace,
    slope: Workspace,
    z: Vec<f64>,
}

/// Expressions of one block.
struct Pieces<'g> {
    /// `[width]`
    linear: Expr<'g>,
    /// The columns of the precision.
    precision: Vec<Expr<'g>>,
    /// The columns of the coefficients of its pivots, where they depend on θ.
    coefficients: Vec<Expr<'g>>,
}

impl<'g> Pieces<'g> {
    fn all(&self) -> impl Iterator<Item = Expr<'g>> + '_ {
        let columns = self.precision.iter().chain(&self.coefficients);
        std::iter::once(self.linear).chain(columns.copied())
    }
}

const Z: &str = "z";

fn adjoint_name(place: usize) -> String {
    format!("adjoint {place}")
}

impl Conditional {
    pub(super) fn new(parts: &Parts<'_>) -> Conditional {
        let pivots = parts
            .blocks
            .iter()
            .filter_map(|block| block.pivots.as_ref());
        let mut rows: Vec<usize> = pivots.flat_map(|own| own.rows.clone()).collect();
        // With two rows at least, a number that all rows share can be told from one of each row.
        rows.resize(rows.len().max(2), 0);
        let graph = Graph::new();
        let z = graph.input(Z, [parts.density.latents().size()]);
        let at = Point::new(z, graph.full([0], 0.0));
        let data = Rows::inputs(&graph, parts.density.columns(), rows.len(), "rows.");
        let prior = parts.density.log_prior(&at);
        let mut outputs = vec![prior];
        for piece in pieces(parts, &at, &data, prior) {
            outputs.extend(piece.all());
        }
        outputs.extend(parts.split.noise(&at, &data));
        let mut total = prior;
        for (place, output) in outputs.iter().enumerate().skip(1) {
            let adjoint = graph.input(&adjoint_name(place), output.shape());
            total = total + (adjoint * *output).sum();
        }
        let slope = graph.grad(total, &[z])[0];
        let program = |outputs: &[Expr<'_>]| {
            let plan = Plan::new(outputs, 1);
            let columns = read_columns(&plan, &data);
            Program { plan, columns }
        };
        Conditional {
            origin: reference(parts.density),
            value: program(&outputs),
            slope: program(&[slope]),
            rows,
        }
    }

    /// A scratch with the rows in place.
    pub(super) fn scratch(&self, parts: &Parts<'_>) -> Scratch {
        let ready = |program: &Program| {
            let mut workspace = program.plan.workspace();
            let rows = RowSet::List(&self.rows);
            copy_rows(&mut workspace, parts.source, &rows, &program.columns);
            workspace
        };
        Scratch {
            value: ready(&self.value),
            slope: ready(&self.slope),
            z: self.origin.clone(),
        }
    }

    /// The prior of the effects at θ; `None` where it is not finite.
    pub(super) fn at(
        &self,
        parts: &Parts<'_>,
        theta: &[f64],
        scratch: &mut Scratch,
    ) -> Option<Given> {
        parts.place(theta, &mut scratch.z);
        self.value.set(&mut scratch.value, Z, &scratch.z);
        self.value.plan.run(&mut scratch.value);
        let mut outputs = (1..self.value.plan.n_outputs()).map(|k| scratch.value.output(k));
        let mut log_prior = scratch.value.output(0)[0];
        let mut blocks = Vec::with_capacity(parts.blocks.len());
        for block in &parts.blocks {
            let found = Raw::take(block, &mut outputs);
            let (prior, log_det) = found.turned(block)?;
            log_prior -= block.groups as f64 * log_det;
            blocks.push(prior);
        }
        let noise = outputs.next().map(|value| value[0]);
        let sound = log_prior.is_finite() && noise.is_none_or(|noise| noise > 0.0);
        sound.then_some(Given {
            log_prior,
            blocks,
            noise,
        })
    }

    /// The slope in θ of a function with these slopes in what [`Conditional::at`] gives, its first
    /// entry (the log prior) taken once.
    pub(super) fn pull(
        &self,
        parts: &Parts<'_>,
        theta: &[f64],
        adjoint: &Adjoint,
        scratch: &mut Scratch,
    ) -> Option<Vec<f64>> {
        parts.place(theta, &mut scratch.z);
        self.value.set(&mut scratch.value, Z, &scratch.z);
        self.value.plan.run(&mut scratch.value);
        let mut place = 1;
        let mut given: Vec<Vec<f64>> = Vec::new();
        {
            let mut outputs = (1..self.value.plan.n_outputs()).map(|k| scratch.value.output(k));
            for (block, slopes) in parts.blocks.iter().zip(&adjoint.blocks) {
                given.extend(Raw::take(block, &mut outputs).pulled(block, slopes)?);
            }
            given.extend(outputs.next().map(|_| vec![adjoint.noise]));
        }
        for values in given {
            self.slope
                .set(&mut scratch.slope, &adjoint_name(place), &values);
            place += 1;
        }
        self.slope.set(&mut scratch.slope, Z, &scratch.z);
        self.slope.plan.run(&mut scratch.slope);
        let slope = scratch.slope.output(0);
        let own: Vec<f64> = parts.hyper.iter().map(|place| slope[*place]).collect();
        own.iter().all(|entry| entry.is_finite()).then_some(own)
    }
}

/// The expressions of every block: of its first group, for all are alike.
fn pieces<'g>(
    parts: &Parts<'_>,
    at: &Point<'g>,
    rows: &Rows<'g>,
    prior: Expr<'g>,
) -> Vec<Pieces<'g>> {
    let graph = at.graph();
    let size = at.latents.shape().size();
    let slope = graph.grad(prior, &[at.latents])[0];
    let predictor = parts.split.predictor(at, rows);
    let mut first = 0;
    let mut found = Vec::with_capacity(parts.blocks.len());
    for block in &parts.blocks {
        let own = block.places.start..block.places.start + block.width;
        let unit = |place: usize| {
            let mut along = vec![0.0; size];
            along[place] = 1.0;
            graph.constant([size], &along)
        };
        let precision = own.clone().map(|place| {
            let along = unit(place);
            let product = graph.jvp(&[slope], &[at.latents], &[along])[0];
            -product.slice(0, own.clone())
        });
        let mut piece = Pieces {
            linear: slope.slice(0, own.clone()),
            precision: precision.collect(),
            coefficients: Vec::new(),
        };
        if block.pivots.is_some() {
            for effect in 0..block.width {
                let along = every_group(graph, block, effect, size);
                let gained = graph.jvp(&[predictor], &[at.latents], &[along])[0];
                piece
                    .coefficients
                    .push(gained.slice(0, first..first + block.width));
            }
            first += block.width;
        }
        found.push(piece);
    }
    found
}

/// The direction of one effect in all groups of a block.
fn every_group<'g>(graph: &'g Graph, block: &Block, effect: usize, size: usize) -> Expr<'g> {
    let mut along = vec![0.0; size];
    let own = along[block.places.clone()].iter_mut().skip(effect);
    own.step_by(block.width).for_each(|entry| *entry = 1.0);
    graph.constant([size], &along)
}

/// The numbers of a block as the program gives them.
struct Raw {
    linear: Vec<f64>,
    precision: Vec<f64>,
    /// T; `None` where it is the identity.
    turn: Option<Vec<f64>>,
}

impl Raw {
    fn take<'w>(block: &Block, outputs: &mut impl Iterator<Item = &'w [f64]>) -> Raw {
        let width = block.width;
        let mut next = || outputs.next().expect("every piece is an output").to_vec();
        let linear = next();
        let columns: Vec<f64> = (0..width).flat_map(|_| next()).collect();
        let turn = block.pivots.as_ref().map(|pivots| {
            let columns: Vec<f64> = (0..width).flat_map(|_| next()).collect();
            small::product(&pivots.inverse, &small::transposed(&columns, width), width)
        });
        Raw {
            linear,
            precision: small::transposed(&columns, width),
            turn,
        }
    }

    /// The prior of v = T u, and ln |det T|.
    fn turned(self, block: &Block) -> Option<(BlockPrior, f64)> {
        let width = block.width;
        let Some(turn) = &self.turn else {
            let prior = BlockPrior {
                precision: self.precision,
                linear: self.linear,
                inverse: small::identity(width),
            };
            return Some((prior, 0.0));
        };
        let (inverse, log_det) = small::inverse(turn, width)?;
        let flipped = small::transposed(&inverse, width);
        let inner = small::product(&self.precision, &inverse, width);
        let prior = BlockPrior {
            precision: small::product(&flipped, &inner, width),
            linear: small::apply(&flipped, &self.linear),
            inverse,
        };
        log_det.is_finite().then_some((prior, log_det))
    }

    /// Slopes in the program's own numbers from those in the prior of v:
    ///
    /// ```text
    /// P_v = T⁻ᵀP T⁻¹, l_v = T⁻ᵀl:   P̄ = T⁻¹P̄_v T⁻ᵀ,   l̄ = T⁻¹l̄_v
    /// T̄ = −2 P_v P̄_v T⁻ᵀ − l_v l̄ᵀ − G T⁻ᵀ
    /// ```
    fn pulled(
        self,
        block: &Block,
        (precision, linear): &(Vec<f64>, Vec<f64>),
    ) -> Option<Vec<Vec<f64>>> {
        let width = block.width;
        let columns = |matrix: &[f64]| -> Vec<Vec<f64>> {
            let flipped = small::transposed(matrix, width);
            flipped.chunks_exact(width).map(<[f64]>::to_vec).collect()
        };
        if self.turn.is_none() {
            let mut found = vec![linear.clone()];
            found.extend(columns(precision));
            return Some(found);
        }
        let (prior, _) = self.turned(block)?;
        let inverse = &prior.inverse;
        let flipped = small::transposed(inverse, width);
        let own_linear = small::apply(inverse, linear);
        let inner = small::product(precision, &flipped, width);
        let own_precision = small::product(inverse, &inner, width);
        let mut turn = small::product(&prior.precision, &inner, width);
        for (k, entry) in turn.iter_mut().enumerate() {
            let (i, j) = (k / width, k % width);
            *entry =
                -2.0 * *entry - prior.linear[i] * own_linear[j] - block.groups as f64 * flipped[k];
        }
        let pivots = block.pivots.as_ref().expect("only pivots make a turn");
        let own_columns = small::product(&small::transposed(&pivots.inverse, width), &turn, width);
        let mut found = vec![own_linear];
        found.extend(columns(&own_precision));
        found.extend(columns(&own_columns));
        Some(found)
    }
}
