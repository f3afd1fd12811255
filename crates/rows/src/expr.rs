//! A set of rows as expressions.

use lehr_graph::{Expr, Graph, Indices, Shape};

use crate::{ColumnKind, Columns};

/// The rows on which a likelihood is evaluated: every column as an expression over them.
///
/// The rows that drive a chain and the rows that score it are separate values of this type, and so
/// is a surrogate: nothing about a density is tied to the table's own rows.
#[derive(Clone, Debug)]
pub struct Rows<'g> {
    length: usize,
    columns: Vec<(String, RowColumn<'g>)>,
    locals: Option<Expr<'g>>,
}

/// One column over a set of rows.
#[derive(Clone, Copy)]
pub enum RowColumn<'g> {
    /// A number per row, `[n]`, or a vector per row, `[n, width]`; may be laned.
    Numbers(Expr<'g>),
    /// A row number of some array per row.
    Index(Indices<'g>),
}

impl<'g> RowColumn<'g> {
    /// The expression of either kind, for binding values to it.
    pub fn expr(self) -> Expr<'g> {
        match self {
            RowColumn::Numbers(expr) => expr,
            RowColumn::Index(indices) => indices.expr(),
        }
    }
}

impl std::fmt::Debug for RowColumn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.expr().fmt(f)
    }
}

impl<'g> Rows<'g> {
    /// `length` rows without columns.
    pub fn new(length: usize) -> Rows<'g> {
        Rows {
            length,
            columns: Vec::new(),
            locals: None,
        }
    }

    /// Rows whose columns are inputs of the graph, in the order of `columns`, named by the prefix
    /// and the column.
    pub fn inputs(graph: &'g Graph, columns: &Columns, length: usize, prefix: &str) -> Rows<'g> {
        let declare = |column: &crate::Column| {
            let name = format!("{prefix}{}", column.name);
            let declared = match column.kind {
                ColumnKind::Index { .. } => RowColumn::Index(graph.index_input(&name, length)),
                ColumnKind::Number { width } => {
                    let shape = width.map_or([length].into(), |width| Shape::from([length, width]));
                    RowColumn::Numbers(graph.input(&name, shape))
                }
            };
            (column.name.clone(), declared)
        };
        Rows {
            columns: columns.iter().map(declare).collect(),
            ..Rows::new(length)
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// True without a row.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The columns in order; those of [`Rows::inputs`] in the order of its columns.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, RowColumn<'g>)> {
        self.columns
            .iter()
            .map(|(name, column)| (name.as_str(), *column))
    }

    /// The rows with a numeric column added, or replaced in its place.
    ///
    /// # Panics
    /// If the leading axis is not one entry per row.
    #[must_use]
    pub fn with_column(mut self, name: &str, values: Expr<'g>) -> Rows<'g> {
        let leading = values.shape().dims().first().copied();
        assert_eq!(
            leading,
            Some(self.length),
            "column {name:?}: one entry per row"
        );
        let known = (self.columns.iter_mut())
            .find(|(known, column)| known == name && matches!(column, RowColumn::Numbers(_)));
        match known {
            Some((_, column)) => *column = RowColumn::Numbers(values),
            None => self
                .columns
                .push((name.to_owned(), RowColumn::Numbers(values))),
        }
        self
    }

    /// The rows with their local latents, flat and unconstrained: `[n, locals.size()]`.
    ///
    /// # Panics
    /// If the leading axis is not one entry per row.
    #[must_use]
    pub fn with_locals(mut self, flat: Expr<'g>) -> Rows<'g> {
        let leading = flat.shape().dims().first().copied();
        assert_eq!(
            leading,
            Some(self.length),
            "local latents: one entry per row"
        );
        self.locals = Some(flat);
        self
    }

    /// The rows with these numbers as their local latents, one `[n]` per number.
    ///
    /// # Panics
    /// If there are no numbers.
    #[must_use]
    pub fn carry_numbers(&self, numbers: &[Expr<'g>]) -> Rows<'g> {
        let column = |one: &Expr<'g>| one.broadcast([self.length]).reshape([self.length, 1]);
        let columns: Vec<Expr<'g>> = numbers.iter().map(column).collect();
        let flat = match columns.as_slice() {
            [only] => *only,
            many => many[0].graph().concat(many, 1),
        };
        self.clone().with_locals(flat)
    }

    /// The local latents of these rows, if they have any.
    pub fn locals(&self) -> Option<Expr<'g>> {
        self.locals
    }

    /// The numeric column of that name.
    pub fn numbers(&self, name: &str) -> Option<Expr<'g>> {
        self.columns
            .iter()
            .find_map(|(known, column)| match column {
                RowColumn::Numbers(expr) if known == name => Some(*expr),
                _ => None,
            })
    }

    /// The index column of that name.
    pub fn indices(&self, name: &str) -> Option<Indices<'g>> {
        self.columns
            .iter()
            .find_map(|(known, column)| match column {
                RowColumn::Index(indices) if known == name => Some(*indices),
                _ => None,
            })
    }
}
