//! Draws of responses at given latents: compiled once, run for any number of draws.

use std::ops::Range;

use lehr_graph::{Expr, Graph, Plan, Slot, Workspace};
use lehr_rows::lend::{copy_rows, lend_all, read_columns};
use rand_core::Rng;

use crate::local::PriorDraws;
use crate::told::PredictedRows;
use crate::{Columns, Density, Family, Point, Response, ResponseKind, RowSet, RowSource, Rows};

/// The responses of a set of rows as functions of the latents and parameters.
pub struct Predictor {
    plan: Plan,
    workspace: Workspace,
    latents: Option<Slot>,
    params: Option<Slot>,
    locals: Option<DrawnLocals>,
    responses: Vec<ResponsePlan>,
    /// The named quantities of each row, with the number of their output.
    quantities: Vec<(String, usize)>,
    rows: usize,
}

/// The local latents, and the slot where the plan reads them.
struct DrawnLocals {
    draws: PriorDraws,
    slot: Option<Slot>,
}

/// One response of a plan.
struct ResponsePlan {
    name: String,
    family: &'static dyn Family,
    /// The outputs that are its parameters.
    parameters: Range<usize>,
    /// The output that is its mean.
    mean: Option<usize>,
    /// The output that is its variance.
    variance: Option<usize>,
    /// The number of classes, for categorical responses.
    classes: usize,
    /// The number of draws for all rows, and of numbers in each of them.
    events: usize,
    event: usize,
    /// How many numbers a row has.
    width: usize,
}

/// The numbers of one observed column, for each row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowPrediction {
    /// The column.
    pub name: String,
    /// Numbers per row.
    pub width: usize,
    /// Row after row.
    pub values: Vec<f64>,
}

/// The moments of one response, without drawing it, for each row.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// The column.
    pub name: String,
    /// The mean; `None` if the family has none.
    pub mean: Option<Vec<f64>>,
    /// The variance; `None` if the family has none, NaN if it does not exist.
    pub variance: Option<Vec<f64>>,
    /// The probability of each class, row after row; empty unless the response is categorical.
    pub probabilities: Vec<f64>,
}

impl Predictor {
    /// The responses of some rows of a source with these columns, from which observed ones may be
    /// absent. Local latents are drawn from their prior, and means average over them.
    ///
    /// # Panics
    /// Without rows, and for densities that are not [`crate::Predictive`].
    pub fn new(
        density: &dyn Density,
        columns: &Columns,
        source: &dyn RowSource,
        set: &RowSet<'_>,
    ) -> Predictor {
        assert!(!set.is_empty(), "prediction needs a row");
        let graph = Graph::new();
        let point = Point::inputs(&graph, [density.latents().size(), density.params().size()]);
        let rows = Rows::inputs(&graph, columns, set.len(), "row.");
        let is_all = matches!(set, RowSet::Range(range) if *range == (0..source.n_rows()));
        let fill_in = |plan: &Plan, workspace: &mut Workspace| {
            let columns = read_columns(plan, &rows);
            if is_all {
                lend_all(workspace, source, &columns);
            } else {
                copy_rows(workspace, source, set, &columns);
            }
        };
        let told = PredictedRows::from_density(density, &point, &rows);
        let mut outputs = Vec::new();
        let responses = told.responses.iter();
        let responses = responses
            .map(|r| plan_response(r, set.len(), &mut outputs))
            .collect();
        let first = outputs.len();
        let (names, values): (Vec<String>, Vec<Expr<'_>>) = told.quantities.into_iter().unzip();
        outputs.extend(values);
        let plan = Plan::new(&outputs, 1);
        let mut workspace = plan.workspace();
        fill_in(&plan, &mut workspace);
        let own = density.locals().zip(told.locals);
        if let Some((slot, (locals, _))) = own.and_then(|(_, input)| plan.input(input)).zip(own) {
            // Means may be requested before anything is drawn.
            workspace.set(slot, &locals.layout().start().repeat(set.len()));
        }
        Predictor {
            latents: plan.input(point.latents),
            params: plan.input(point.params),
            locals: own.map(|(locals, input)| DrawnLocals {
                slot: plan.input(input),
                draws: PriorDraws::new(locals, &point, &rows.clone().with_locals(input), fill_in),
            }),
            workspace,
            plan,
            responses,
            quantities: names.into_iter().zip(first..).collect(),
            rows: set.len(),
        }
    }

    /// The responses of all rows of the density's own data.
    pub fn of_all_rows(density: &dyn Density) -> Predictor {
        let all = RowSet::Range(0..density.n_rows());
        Predictor::new(density, density.columns(), density.source(), &all)
    }

    /// A draw of every response, given flat unconstrained latents and parameters.
    pub fn draw_responses(
        &mut self,
        latents: &[f64],
        params: &[f64],
        random: &mut dyn Rng,
    ) -> Vec<RowPrediction> {
        if let Some(own) = &mut self.locals {
            let values = own.draws.draw_locals(latents, params, random);
            self.workspace.set_input(own.slot, values);
        }
        self.run_plan(latents, params);
        let mut drawn = Vec::with_capacity(self.responses.len());
        for response in &self.responses {
            drawn.push(response.draw_response(&self.workspace, random));
        }
        drawn
    }

    /// The mean of every response whose family has one.
    pub fn means(&mut self, latents: &[f64], params: &[f64]) -> Vec<RowPrediction> {
        self.run_plan(latents, params);
        let mean = |response: &ResponsePlan| {
            let values = self.workspace.output(response.mean?).to_vec();
            Some(response.predicted_response(values))
        };
        self.responses.iter().filter_map(mean).collect()
    }

    /// The mean, the variance and the probabilities of the classes of every response.
    pub fn moments(&mut self, latents: &[f64], params: &[f64]) -> Vec<Moments> {
        self.run_plan(latents, params);
        let workspace = &self.workspace;
        let moments = |response: &ResponsePlan| {
            let values = |output: usize| workspace.output(output).to_vec();
            Moments {
                name: response.name.clone(),
                mean: response.mean.map(values),
                variance: response.variance.map(values),
                probabilities: match self.locals {
                    // Probabilities given a single draw of the local latents are not those of the
                    // response.
                    Some(_) => vec![f64::NAN; response.events * response.classes],
                    None => response.probabilities(workspace),
                },
            }
        };
        self.responses.iter().map(moments).collect()
    }

    /// The quantities of each row that the model names.
    pub fn quantities(&mut self, latents: &[f64], params: &[f64]) -> Vec<RowPrediction> {
        self.run_plan(latents, params);
        let quantity = |(name, output): &(String, usize)| {
            let values = self.workspace.output(*output).to_vec();
            RowPrediction {
                name: name.clone(),
                width: values.len() / self.rows,
                values,
            }
        };
        self.quantities.iter().map(quantity).collect()
    }

    fn run_plan(&mut self, latents: &[f64], params: &[f64]) {
        for (slot, values) in [(self.latents, latents), (self.params, params)] {
            self.workspace.set_input(slot, values);
        }
        self.plan.run(&mut self.workspace);
    }
}

/// Adds what a response needs to the outputs.
fn plan_response<'g>(
    response: &Response<'g>,
    rows: usize,
    outputs: &mut Vec<Expr<'g>>,
) -> ResponsePlan {
    let first = outputs.len();
    outputs.extend(response.parameters.iter().map(|(_, expr)| *expr));
    let parameters = first..outputs.len();
    let mut add = |moment: Expr<'g>| {
        outputs.push(moment);
        outputs.len() - 1
    };
    let (mean, variance) = (response.mean.map(&mut add), response.variance.map(&mut add));
    let event = response.kind.width();
    // Independent numbers of a row are separate draws.
    let events = rows * response.width / event.max(1);
    ResponsePlan {
        name: response.name.clone(),
        family: response.family,
        parameters,
        mean,
        variance,
        classes: match response.kind {
            ResponseKind::Category(classes) => classes,
            _ => 0,
        },
        events,
        event,
        width: response.width,
    }
}

impl ResponsePlan {
    fn draw_response(&self, workspace: &Workspace, random: &mut dyn Rng) -> RowPrediction {
        let mut values = vec![0.0; self.events * self.event];
        self.each_event(
            workspace,
            values.chunks_exact_mut(self.event),
            |own, event| {
                self.family.draw_value(own, random, event);
            },
        );
        self.predicted_response(values)
    }

    fn probabilities(&self, workspace: &Workspace) -> Vec<f64> {
        let mut values = vec![0.0; self.events * self.classes];
        self.each_event(
            workspace,
            values.chunks_exact_mut(self.classes.max(1)),
            |own, event| {
                self.family.category_probabilities(own, event);
            },
        );
        values
    }

    /// Calls back with the parameters of each event and the place for its result.
    fn each_event<'v>(
        &self,
        workspace: &Workspace,
        places: impl Iterator<Item = &'v mut [f64]>,
        mut each: impl FnMut(&[&[f64]], &mut [f64]),
    ) {
        let all: Vec<&[f64]> = (self.parameters.clone())
            .map(|k| workspace.output(k))
            .collect();
        let mut own = all.clone();
        for (k, place) in places.enumerate() {
            for (part, whole) in own.iter_mut().zip(&all) {
                let width = whole.len() / self.events;
                *part = &whole[k * width..(k + 1) * width];
            }
            each(&own, place);
        }
    }

    fn predicted_response(&self, values: Vec<f64>) -> RowPrediction {
        RowPrediction {
            name: self.name.clone(),
            width: self.width,
            values,
        }
    }
}
