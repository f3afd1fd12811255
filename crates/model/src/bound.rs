//! A program bound to its rows: the density that inference uses.

use std::fmt;
use std::sync::{Arc, OnceLock};

use lehr_density::{
    Columns, Density, GaussianRows, GaussianTerms, Layout, LinearRows, LocalLaw, Locals, Point,
    Predictive, Predictors, Response, Role, RowData, RowSource, Rows, SplitRows, StoredForm,
};
use lehr_graph::{Expr, Graph};
use lehr_table::Table;

use crate::data::read_columns;
use crate::error::BindError;
use crate::gaussian::Gaussian;
use crate::linear::{is_shift, linear_predictors};
use crate::program::{LocalSite, Program};
use crate::split::{find_effects, split_predictor};
use crate::stacked::StackedModel;

/// A model on the rows of a table, free of mistakes. Cheap to clone.
#[derive(Clone)]
pub struct Bound {
    program: Program,
    data: Arc<dyn RowSource>,
    is_linear: Arc<OnceLock<bool>>,
    is_gaussian: Arc<OnceLock<bool>>,
    /// The sites that can be integrated out, or the reason why there are none, as a clause.
    effects: Arc<OnceLock<Result<Vec<usize>, String>>>,
    stacked: Arc<OnceLock<Option<Box<StackedModel>>>>,
}

impl Bound {
    pub(crate) fn new(program: Program, data: Arc<dyn RowSource>) -> Bound {
        Bound {
            program,
            data,
            is_linear: Arc::default(),
            is_gaussian: Arc::default(),
            effects: Arc::default(),
            stacked: Arc::default(),
        }
    }

    /// The model as data.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The rows of another table in the form that this model reads, for prediction. Levels keep the
    /// numbers with which they were bound, and observed columns may be absent. Returns the columns
    /// that are present with their data.
    pub fn rows_of(&self, table: &Table) -> Result<(Columns, RowData), BindError> {
        let present = |column: &&lehr_density::Column| {
            !matches!(column.role, Role::Response { .. }) || table.column(&column.name).is_ok()
        };
        let parts = &self.program.parts;
        let columns = Columns(parts.columns.iter().filter(present).cloned().collect());
        let data = read_columns(table, &columns, &parts.schema, &parts.demands)
            .map_err(|problems| BindError { problems })?;
        Ok((columns, data))
    }

    fn predictors_of<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Option<Predictors<'g>> {
        let responses = self.responses(at, rows).into_iter();
        let parameters = responses.flat_map(|one| one.parameters);
        let parameters: Vec<Expr<'g>> = parameters.map(|(_, value)| value).collect();
        let Some(locals) = self.locals().filter(|_| rows.locals().is_some()) else {
            return linear_predictors(at, self.latents(), &parameters);
        };
        let laws = locals.local_laws(at, rows).into_iter();
        let all = parameters
            .into_iter()
            .chain(laws.flat_map(|law| law.parameters));
        linear_predictors(at, self.latents(), &all.collect::<Vec<_>>())
    }

    /// Whether rows with local latents depend on z through a few affine functions, and the local
    /// latents only shift these.
    fn is_locally_linear(&self) -> bool {
        let graph = Graph::new();
        let (at, rows) = self.probe_point(&graph);
        let own = graph.input("own", [rows.len(), self.program.parts.locals.size()]);
        let found = self.predictors_of(&at, &rows.clone().with_locals(own));
        let without = self.predictors_of(&at, &self.without_locals(&at, &rows));
        found.zip(without).is_some_and(|(found, without)| {
            let known = |place| without.shared.contains(place);
            let same = found.rows.len() == without.rows.len() && found.shared.iter().all(known);
            same && is_shift(&at, &found.rows, own)
        })
    }

    /// The rows without their local latents: a latent that only shifts a predictor can have any
    /// value.
    fn without_locals<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Rows<'g> {
        match self.program.parts.locals.size() {
            0 => rows.clone(),
            own => rows
                .clone()
                .with_locals(at.graph().full([rows.len(), own], 0.0)),
        }
    }

    fn gaussian_of<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Option<Gaussian<'g>> {
        Gaussian::from_program(rows, self.columns(), &self.responses(at, rows))
    }

    fn is_gaussian(&self) -> bool {
        let graph = Graph::new();
        let (at, rows) = self.probe_point(&graph);
        let found = || self.gaussian_of(&at, &rows);
        let is_all = |found: Gaussian<'_>| found.is_all_of(self.log_likelihood(&at, &rows), &at);
        self.locals().is_none() && self.params().is_empty() && found().is_some_and(is_all)
    }

    /// A point and two rows, for the analysis of the program.
    fn probe_point<'g>(&self, graph: &'g Graph) -> (Point<'g>, Rows<'g>) {
        let at = Point::inputs(graph, [self.latents().size(), self.params().size()]);
        (at, Rows::inputs(graph, self.columns(), 2, ""))
    }

    fn is_linear(&self) -> bool {
        let graph = Graph::new();
        let (at, rows) = self.probe_point(&graph);
        self.predictors_of(&at, &rows).is_some()
    }
}

impl Density for Bound {
    fn latents(&self) -> &Layout {
        self.program.latents()
    }

    fn params(&self) -> &Layout {
        self.program.params()
    }

    fn columns(&self) -> &Columns {
        self.program.columns()
    }

    fn source(&self) -> &dyn RowSource {
        &*self.data
    }

    fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        self.program.log_prior(at)
    }

    fn improper(&self) -> Vec<usize> {
        self.program.improper()
    }

    fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        let Some(locals) = self.locals() else {
            return self.program.log_likelihood(at, rows);
        };
        let joint = locals.log_joint(at, rows);
        match locals.row_weight(rows) {
            Some(weight) => joint * weight,
            None => joint,
        }
    }

    fn origin(&self) -> Option<StoredForm> {
        Some(self.program.stored())
    }

    fn linear(&self) -> Option<&dyn LinearRows> {
        if self.locals().is_some() {
            return None;
        }
        let is_linear = *self.is_linear.get_or_init(|| self.is_linear());
        is_linear.then_some(self)
    }

    fn gaussian(&self) -> Option<&dyn GaussianRows> {
        let is_gaussian = *self.is_gaussian.get_or_init(|| self.is_gaussian());
        is_gaussian.then_some(self)
    }

    fn split(&self) -> Result<&dyn SplitRows, String> {
        let found = self.effects.get_or_init(|| find_effects(&self.program));
        found
            .as_ref()
            .map(|_| self as &dyn SplitRows)
            .map_err(String::clone)
    }

    fn stacked(&self) -> Option<&dyn Density> {
        let made = || StackedModel::from_program(&self.program, &self.data).map(Box::new);
        let stacked = self.stacked.get_or_init(made).as_deref();
        stacked.map(|stacked| stacked as &dyn Density)
    }

    fn predictive(&self) -> Option<&dyn Predictive> {
        Some(self)
    }

    fn locals(&self) -> Option<&dyn Locals> {
        (!self.program.parts.locals.is_empty()).then_some(self)
    }
}

impl LinearRows for Bound {
    fn predictors<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Predictors<'g> {
        let rows = self.without_locals(at, rows);
        self.predictors_of(at, &rows).expect("linear rows")
    }
}

impl GaussianRows for Bound {
    fn gaussian_terms<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> GaussianTerms<'g> {
        self.gaussian_of(at, rows).expect("Gaussian rows").terms
    }

    fn noise_scale<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        let rows = Rows::inputs(at.graph(), self.columns(), 2, "any.");
        self.gaussian_of(at, &rows).expect("Gaussian rows").scale
    }
}

impl SplitRows for Bound {
    fn effect_sites(&self) -> &[usize] {
        match self.effects.get() {
            Some(Ok(sites)) => sites,
            _ => &[],
        }
    }

    fn predictor<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        let found = split_predictor(at, self.latents(), &self.responses(at, rows));
        found.expect("rows that are split").predictor
    }

    fn log_density_given<'g>(
        &self,
        predictor: Expr<'g>,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> Expr<'g> {
        let own = SplitRows::predictor(self, at, rows);
        let value = self.log_likelihood(at, rows);
        let moved = at.graph().replace(value, own, predictor);
        moved.expect("rows that are split")
    }

    fn noise_scale<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Option<Expr<'g>> {
        let responses = self.responses(at, rows);
        split_predictor(at, self.latents(), &responses).ok()?.noise
    }
}

impl Locals for Bound {
    fn linear(&self) -> Option<&dyn LinearRows> {
        let is_linear = *self.is_linear.get_or_init(|| self.is_locally_linear());
        is_linear.then_some(self)
    }

    fn layout(&self) -> &Layout {
        &self.program.parts.locals
    }

    fn log_prior<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        let terms: Vec<usize> = self.program.locals().map(|local| local.term).collect();
        let terms = self.program.evaluate_at(&terms, at, Some(rows)).into_iter();
        terms.fold(self.local_jacobian(rows), |sum, term| sum + term)
    }

    fn log_joint<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        self.program.log_likelihood(at, rows) + self.local_jacobian(rows)
    }

    fn row_weight<'g>(&self, rows: &Rows<'g>) -> Option<Expr<'g>> {
        let columns = self.program.weights().map(|name| {
            let column = rows.numbers(name);
            column.unwrap_or_else(|| panic!("column {name:?} is not among the rows"))
        });
        columns.reduce(|a, b| a * b)
    }

    fn local_laws<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Vec<LocalLaw<'g>> {
        let law = |local: LocalSite<'_>| {
            let outputs: Vec<usize> = local.law.parameters.iter().map(|p| p.output).collect();
            LocalLaw {
                family: local.law.family.0,
                parameters: self.program.evaluate_at(&outputs, at, Some(rows)),
                batch: local.law.batch,
            }
        };
        self.program.locals().map(law).collect()
    }
}

impl Bound {
    fn local_jacobian<'g>(&self, rows: &Rows<'g>) -> Expr<'g> {
        let sites = self.program.local_sites(rows);
        sites.expect("a model with local latents").log_jacobian
    }
}

impl Predictive for Bound {
    fn responses<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Vec<Response<'g>> {
        self.program.responses(at, rows)
    }

    fn deterministics<'g>(&self, at: &Point<'g>) -> Vec<(String, Expr<'g>)> {
        self.program.named_quantities(at)
    }

    fn row_quantities<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Vec<(String, Expr<'g>)> {
        self.program.named_row_quantities(at, rows)
    }

    fn describe(&self) -> String {
        format!("{}\n{} rows", self.program, self.n_rows())
    }
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bound {{ {} }}", self.describe().replace('\n', "; "))
    }
}
