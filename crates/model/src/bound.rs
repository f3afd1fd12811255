//! A model bound to its table: the density that inference sees.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use lehr_density::{Columns, Density, Layout, Point, Response, Role, RowData, RowSource, Rows};
use lehr_graph::{Expr, Graph};
use lehr_table::Table;

use crate::data::{Demands, read};
use crate::error::BindError;
use crate::linear::predictors;
use crate::model::Model;
use crate::record::Record;
use crate::schema::Schema;
use crate::supply::Supply;
use crate::tracer::Tracer;

/// A model on the rows of a table, with every mistake ruled out. Cheap to clone.
#[derive(Clone)]
pub struct Bound {
    parts: Arc<Parts>,
}

/// What a binding consists of.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) model: Model,
    pub(crate) latents: Layout,
    pub(crate) params: Layout,
    pub(crate) locals: Layout,
    pub(crate) description: String,
    pub(crate) columns: Columns,
    pub(crate) data: Arc<dyn RowSource>,
    pub(crate) demands: Demands,
    pub(crate) schema: Arc<Schema>,
}

impl Bound {
    pub(crate) fn new(parts: Parts) -> Bound {
        let parts = Arc::new(parts);
        Bound { parts }
    }

    /// The same model on the rows of another source, which its caller vouches for: it has the
    /// columns of [`Density::columns`] in their order, and their values are such that binding
    /// a table of them would not refuse any.
    pub fn with_source(&self, source: Arc<dyn RowSource>) -> Bound {
        let mut parts = Parts::clone(&self.parts);
        parts.data = source;
        Bound::new(parts)
    }

    /// The rows of another table as this model reads them, for prediction: levels keep the
    /// numbers they were bound with, and observed columns may be absent. Returns the columns
    /// that are there with their data.
    pub fn rows_of(&self, table: &Table) -> Result<(Columns, RowData), BindError> {
        let present = |column: &&lehr_density::Column| {
            !matches!(column.role, Role::Response { .. }) || table.column(&column.name).is_ok()
        };
        let columns = Columns(self.parts.columns.iter().filter(present).cloned().collect());
        let data = read(table, &columns, &self.parts.schema, &self.parts.demands)
            .map_err(|problems| BindError { problems })?;
        Ok((columns, data))
    }

    /// Runs the model and returns what it said.
    pub(crate) fn trace<'g>(
        &self,
        graph: &'g Graph,
        supply: Supply<'g>,
        rows: Option<&Rows<'g>>,
    ) -> Record<'g> {
        let schema = Arc::clone(&self.parts.schema);
        let tracer = Tracer::new(graph, schema, supply, rows.cloned());
        self.parts.model.run(&tracer);
        tracer.record.into_inner()
    }

    /// Runs the model without rows and returns the supply.
    pub(crate) fn trace_with<'g>(&self, graph: &'g Graph, supply: Supply<'g>) -> Supply<'g> {
        let tracer = Tracer::new(graph, Arc::clone(&self.parts.schema), supply, None);
        self.parts.model.run(&tracer);
        tracer.supply
    }

    pub(crate) fn at<'g>(&self, at: &Point<'g>, rows: Option<&Rows<'g>>) -> Record<'g> {
        let mut supply = Supply::at(at, &self.parts.latents, &self.parts.params);
        if let (Some(rows), Supply::Given(values)) = (rows, &mut supply) {
            values.extend(self.local_values(rows).0);
        }
        self.trace(at.graph(), supply, rows)
    }

    /// The local latents of rows by name, and their log Jacobian.
    fn local_values<'g>(&self, rows: &Rows<'g>) -> (HashMap<String, Expr<'g>>, Option<Expr<'g>>) {
        let locals = &self.parts.locals;
        if locals.is_empty() {
            return (HashMap::new(), None);
        }
        let flat = (rows.locals()).expect("the rows of a model with local latents carry them");
        let sites = locals.constrain_rows(flat);
        let names = locals.sites().iter().map(|site| site.name.clone());
        let values = names.zip(sites.values).collect();
        (values, Some(sites.log_jacobian))
    }
}

impl Density for Bound {
    fn latents(&self) -> &Layout {
        &self.parts.latents
    }

    fn params(&self) -> &Layout {
        &self.parts.params
    }

    fn locals(&self) -> &Layout {
        &self.parts.locals
    }

    fn columns(&self) -> &Columns {
        &self.parts.columns
    }

    fn source(&self) -> &dyn RowSource {
        &*self.parts.data
    }

    fn log_prior<'g>(&self, at: &Point<'g>) -> Expr<'g> {
        let jacobian = self.parts.latents.constrain(at.latents).log_jacobian;
        let terms = self.at(at, None).prior;
        terms.into_iter().fold(jacobian, |sum, term| sum + term)
    }

    fn log_likelihood<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Expr<'g> {
        let terms = self.at(at, Some(rows)).likelihood;
        let jacobian = self.local_values(rows).1;
        let sum = terms.into_iter().chain(jacobian).reduce(|a, b| a + b);
        sum.unwrap_or_else(|| at.graph().full([rows.len()], 0.0))
    }

    fn responses<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Vec<Response<'g>> {
        let observed = self.at(at, Some(rows)).observed.into_iter();
        observed
            .map(|observed| Response {
                name: observed.name,
                kind: observed.kind,
                width: observed.width,
                family: observed.family,
                parameters: observed.parameters,
                mean: observed.mean,
            })
            .collect()
    }

    fn deterministics<'g>(&self, at: &Point<'g>) -> Vec<(String, Expr<'g>)> {
        self.at(at, None).deterministics
    }

    fn linear_predictors<'g>(&self, at: &Point<'g>, rows: &Rows<'g>) -> Option<Vec<Expr<'g>>> {
        if !self.parts.locals.is_empty() {
            return None;
        }
        predictors(at, &self.parts.latents, &self.responses(at, rows))
    }

    fn describe(&self) -> String {
        let rows = self.n_rows();
        format!("{}\n{rows} rows", self.parts.description)
    }
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bound {{ {} }}", self.describe().replace('\n', "; "))
    }
}
