//! The inputs that a guide requests while its program is written: learned blocks, noise and rows.

use std::cell::RefCell;
use std::sync::Arc;

use lehr_density::{Density, Point, RowData, Rows};
use lehr_graph::{Expr, Graph, Shape};

use super::{Block, Guide, Whitening};

/// The name of θ among the learned blocks.
pub const PARAMS: &str = "params";

/// The source of a program's rows.
#[derive(Clone)]
pub enum RowInput {
    /// Every row of the table.
    All,
    /// A fresh mini-batch at every step; another purpose gives independent batches.
    Batch {
        /// Rows in the batch.
        size: usize,
        /// The name of the random stream.
        purpose: String,
    },
    /// Separate rows, in the order of the density's columns.
    Fixed(Arc<RowData>),
}

impl RowInput {
    /// How many rows there are.
    pub fn len(&self, density: &dyn Density) -> usize {
        use lehr_density::RowSource;
        match self {
            RowInput::All => density.n_rows(),
            RowInput::Batch { size, .. } => *size,
            RowInput::Fixed(data) => data.n_rows(),
        }
    }
}

/// An input that is filled before each run.
pub(crate) enum ProgramInput<'g> {
    /// A learned block, by name.
    Learned(String, Expr<'g>),
    /// Standard normal numbers.
    Noise(Expr<'g>),
    /// Rows.
    Rows(RowInput, Rows<'g>),
    /// Numbers that never change.
    Fixed(Arc<[f64]>, Expr<'g>),
    /// For each row of the batch of a purpose, 0 if it is one of these (increasing), else 1.
    Others(String, Arc<[usize]>, Expr<'g>),
    /// The learned numbers of each row of the batch that scores a step.
    Own(Expr<'g>),
}

/// A program under construction, with the inputs that it will need.
pub struct Context<'g, 'd> {
    graph: &'g Graph,
    density: &'d dyn Density,
    whitening: &'d Whitening,
    params: Expr<'g>,
    needs: RefCell<Vec<ProgramInput<'g>>>,
}

impl<'g, 'd> Context<'g, 'd> {
    /// A context on an empty program, in the latents' own coordinates.
    pub fn new(graph: &'g Graph, density: &'d dyn Density) -> Context<'g, 'd> {
        Context::within(graph, density, &Whitening::Identity)
    }

    /// A context whose guide moves in whitened coordinates.
    pub fn within(
        graph: &'g Graph,
        density: &'d dyn Density,
        whitening: &'d Whitening,
    ) -> Context<'g, 'd> {
        let context = Context {
            graph,
            density,
            whitening,
            params: graph.full([density.params().size()], 0.0),
            needs: RefCell::default(),
        };
        match params_block(density) {
            Some(block) => Context {
                params: context.learned(&block),
                ..context
            },
            None => context,
        }
    }

    /// The program's graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// The model and its data.
    pub fn density(&self) -> &'d dyn Density {
        self.density
    }

    /// The whitening of the coordinates in which the guide moves.
    pub fn whitening(&self) -> &'d Whitening {
        self.whitening
    }

    /// The latents at these whitened coordinates.
    pub fn latents(&self, coordinates: Expr<'g>) -> Expr<'g> {
        self.whitening.latents(self, coordinates)
    }

    /// The point at these whitened coordinates, with the learned θ.
    pub fn at(&self, coordinates: Expr<'g>) -> Point<'g> {
        Point::new(self.latents(coordinates), self.params)
    }

    fn find<T>(&self, known: impl Fn(&ProgramInput<'g>) -> Option<T>) -> Option<T> {
        self.needs.borrow().iter().find_map(known)
    }

    fn request(&self, need: ProgramInput<'g>) {
        self.needs.borrow_mut().push(need);
    }

    /// A learned block as an input; the same block is the same input.
    pub fn learned(&self, block: &Block) -> Expr<'g> {
        let known = self.find(|need| match need {
            ProgramInput::Learned(name, input) if *name == block.name => Some(*input),
            _ => None,
        });
        known.unwrap_or_else(|| {
            let input = self.graph.input(&block.name, Shape::new(&block.dims));
            let need = ProgramInput::Learned(block.name.clone(), input);
            self.request(need);
            input
        })
    }

    /// Fresh standard normal numbers for every lane and step.
    pub fn noise(&self, name: &str, shape: impl Into<Shape>) -> Expr<'g> {
        let input = self.graph.laned_input(name, shape);
        self.request(ProgramInput::Noise(input));
        input
    }

    /// Rows of an input; `name` is the prefix of their inputs. The same fixed rows are the same
    /// inputs, under any name.
    pub fn rows(&self, name: &str, input: &RowInput) -> Rows<'g> {
        if let Some(rows) = self.known_rows(input) {
            return rows;
        }
        let length = input.len(self.density);
        let prefix = format!("{name}.");
        let rows = Rows::inputs(self.graph, self.density.columns(), length, &prefix);
        self.request(ProgramInput::Rows(input.clone(), rows.clone()));
        rows
    }

    fn known_rows(&self, input: &RowInput) -> Option<Rows<'g>> {
        let RowInput::Fixed(data) = input else {
            return None;
        };
        self.find(|need| match need {
            ProgramInput::Rows(RowInput::Fixed(known), rows) if Arc::ptr_eq(known, data) => {
                Some(rows.clone())
            }
            _ => None,
        })
    }

    /// An array that never changes. Unlike a constant it can be large without being hashed; the
    /// same values in the same shape are the same input.
    pub fn fixed(&self, name: &str, shape: impl Into<Shape>, values: &Arc<[f64]>) -> Expr<'g> {
        let shape = shape.into();
        let known = self.find(|need| match need {
            ProgramInput::Fixed(held, input)
                if Arc::ptr_eq(held, values) && input.shape() == shape =>
            {
                Some(*input)
            }
            _ => None,
        });
        if let Some(input) = known {
            return input;
        }
        let input = self.graph.input(name, shape);
        self.request(ProgramInput::Fixed(values.clone(), input));
        input
    }

    /// For each row of the batch that was asked for with this purpose, 0 if it is one of `rows`
    /// (increasing numbers in [`LocalRows::batch_order`](lehr_rows::LocalRows::batch_order)) and 1 if not.
    pub(crate) fn others(&self, purpose: &str, size: usize, rows: &Arc<[usize]>) -> Expr<'g> {
        let input = self.graph.input("others", [size]);
        let need = ProgramInput::Others(purpose.to_owned(), rows.clone(), input);
        self.request(need);
        input
    }

    /// The learned numbers of each row of a batch, `[size, width]`.
    pub(crate) fn own(&self, size: usize, width: usize) -> Expr<'g> {
        let input = self.graph.input(super::ROW_NUMBERS, [size, width]);
        self.request(ProgramInput::Own(input));
        input
    }

    /// The learned numbers of rows, if they were requested before.
    pub(crate) fn known_own(&self) -> Option<Expr<'g>> {
        self.find(|need| match need {
            ProgramInput::Own(input) => Some(*input),
            _ => None,
        })
    }

    pub(crate) fn into_inputs(self) -> Vec<ProgramInput<'g>> {
        self.needs.into_inner()
    }
}

/// θ as a learned block, if the model has any.
pub fn params_block(density: &dyn Density) -> Option<Block> {
    let params = density.params();
    let block = || Block::new(PARAMS, &[params.size()], params.start().to_vec());
    (params.size() > 0).then(block)
}

/// All learned quantities of a fit: θ, if the model has any, and the guide's own blocks.
pub fn all_blocks(density: &dyn Density, guide: &dyn Guide) -> Vec<Block> {
    let mut blocks: Vec<Block> = params_block(density).into_iter().collect();
    blocks.extend(guide.blocks(density));
    blocks
}
