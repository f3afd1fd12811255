//! The handle with which a model names its sites.

use std::cell::{Cell, RefCell};

use lehr_density::{LayoutError, Site, Support};
use lehr_graph::{Expr, Graph, Shape};

use crate::distribution::{Distribution, Normal, Value};
use crate::error::Problem;
use crate::record::Record;
use crate::schema::Schema;
use crate::statement::{InputRole, Statement};

/// The recorder of a model: the model names its sites, which are inputs of the recorded program.
pub struct Tracer<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) schema: Schema,
    pub(crate) record: RefCell<Record<'g>>,
    pub(crate) inside_rows: Cell<bool>,
    /// The current prefix of all names.
    prefix: RefCell<String>,
}

impl<'g> Tracer<'g> {
    pub(crate) fn new(graph: &'g Graph, schema: &Schema) -> Tracer<'g> {
        Tracer {
            graph,
            schema: schema.clone(),
            record: RefCell::default(),
            inside_rows: Cell::new(false),
            prefix: RefCell::default(),
        }
    }

    /// A part of the model in which all names of sites and columns begin with `prefix`, so that a
    /// model can contain the same part several times. Parts may be nested.
    ///
    /// ```
    /// use lehr_model::distribution::Normal;
    /// use lehr_model::{Model, Schema};
    ///
    /// let model = Model::new(|m| {
    ///     for response in ["left.", "right."] {
    ///         m.within(response, || {
    ///             let mean = m.sample("mean", Normal::new(0.0, 1.0));
    ///             m.rows(|row| row.observe("y", Normal::new(mean, 1.0)));
    ///         });
    ///     }
    /// });
    /// let schema = Schema::new().number("left.y").number("right.y");
    /// let program = model.record(&schema).unwrap();
    /// assert_eq!(program.latents().entry_names(), ["left.mean", "right.mean"]);
    /// ```
    pub fn within<T>(&self, prefix: &str, part: impl FnOnce() -> T) -> T {
        let before = self.prefix.borrow().len();
        self.prefix.borrow_mut().push_str(prefix);
        let value = part();
        self.prefix.borrow_mut().truncate(before);
        value
    }

    /// A name with the current prefix.
    pub(crate) fn full_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix.borrow())
    }

    /// An input of the program, with its meaning.
    pub(crate) fn input(&self, name: &str, shape: Shape, given: InputRole) -> Expr<'g> {
        self.record.borrow_mut().inputs.push(given);
        self.graph.input(name, shape)
    }

    /// The graph on which the model is recorded, for constants.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// A latent with this prior.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "models read without ampersands"
    )]
    pub fn sample(&self, name: &str, distribution: impl Distribution<'g>) -> Expr<'g> {
        let name = &*self.full_name(name);
        let shape = distribution.value_shape();
        let checked = (self.outside_rows("site", name))
            .and_then(|()| self.add_site(name, &distribution, shape));
        let site = match checked {
            Ok(site) => site,
            Err(problem) => return self.refuse_value(problem, shape),
        };
        let place = self.record.borrow().latents.len();
        let value = self.input(name, shape, InputRole::Latent(place));
        let density = distribution.log_density(value).sum();
        let mut record = self.record.borrow_mut();
        let law = record.record_law(self.graph, name, &distribution, |value| value);
        let term = record.add_output(name, density);
        let site_statement = Statement::Sample {
            site: place,
            law,
            term,
        };
        record.statements.push(site_statement);
        record.latents.push(site);
        value
    }

    /// The site of a distribution, or the reason why it cannot have one.
    pub(crate) fn add_site(
        &self,
        name: &str,
        distribution: &impl Distribution<'g>,
        shape: Shape,
    ) -> Result<Site, Problem> {
        self.free_name(name)?;
        self.check_distribution(&format!("site {name:?}"), distribution)?;
        let Some(support) = distribution.support() else {
            return Err(Problem::Discrete {
                name: name.to_owned(),
                distribution: distribution.name(),
            });
        };
        fit_site(Site::new(name, shape, support))
    }

    /// Refuses invalid parameters, unless they follow from a mistake reported before.
    pub(crate) fn check_distribution(
        &self,
        place: &str,
        distribution: &impl Distribution<'g>,
    ) -> Result<(), Problem> {
        let Err(error) = distribution.check_parameters() else {
            return Ok(());
        };
        let stand_in = error.message.ends_with("found NaN");
        let known = !self.record.borrow().problems.is_empty() || !self.graph.errors().is_empty();
        if stand_in && known {
            return Ok(());
        }
        let place = place.to_owned();
        Err(Problem::Parameter { place, error })
    }

    /// Refuses, inside `m.rows`, a statement that concerns all rows at once.
    fn outside_rows(&self, what: &'static str, name: &str) -> Result<(), Problem> {
        if self.inside_rows.get() {
            let name = name.to_owned();
            return Err(Problem::InsideRows { what, name });
        }
        Ok(())
    }

    fn free_name(&self, name: &str) -> Result<(), Problem> {
        if self.record.borrow().is_taken(name) {
            let name = name.to_owned();
            return Err(Problem::DuplicateSite { name });
        }
        Ok(())
    }

    pub(crate) fn report_problem(&self, problem: Problem) {
        self.record.borrow_mut().note_problem(problem);
    }

    /// The mistakes found so far, those in shapes last. An interface that builds a model step by
    /// step can thus report at once which step was wrong.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = self.record.borrow().problems.clone();
        let shapes = self.graph.errors().into_iter();
        problems.extend(shapes.map(|error| Problem::Shape { error }));
        problems
    }

    /// Records a problem and returns a stand-in of the intended shape.
    pub(crate) fn refuse_value(&self, problem: Problem, shape: Shape) -> Expr<'g> {
        self.report_problem(problem);
        self.graph.full(shape, f64::NAN)
    }

    /// A parameter θ: not random, but learned from this start. The start is a number or an array of
    /// constants inside the support and determines the parameter's shape.
    pub fn param(&self, name: &str, start: impl Into<Value<'g>>, support: Support) -> Expr<'g> {
        let name = &*self.full_name(name);
        let start = start.into();
        let shape = start.shape();
        let numbers = match start {
            Value::Number(number) => vec![number],
            Value::Vector(numbers) => numbers,
            Value::Expr(expr) => expr.constant_values().unwrap_or_default(),
        };
        let checked = (self.outside_rows("parameter", name))
            .and_then(|()| self.free_name(name))
            .and_then(|()| fit_site(Site::new(name, shape, support).with_start(&numbers)));
        let site = match checked {
            Ok(site) => site,
            Err(problem) => return self.refuse_value(problem, shape),
        };
        let place = self.record.borrow().params.len();
        let value = self.input(name, shape, InputRole::Param(place));
        let mut record = self.record.borrow_mut();
        record.statements.push(Statement::Param { site: place });
        record.params.push(site);
        value
    }

    /// A named quantity that is reported with the posterior draws.
    pub fn deterministic(&self, name: &str, value: Expr<'g>) -> Expr<'g> {
        let name = &*self.full_name(name);
        let outside = self.outside_rows("deterministic", name);
        if let Err(problem) = outside.and_then(|()| self.free_name(name)) {
            return self.refuse_value(problem, value.shape());
        }
        let mut record = self.record.borrow_mut();
        let output = record.add_output(name, value);
        record.statements.push(Statement::Deterministic { output });
        value
    }

    /// A term added to the log prior; one number.
    pub fn factor(&self, name: &str, value: Expr<'g>) {
        let name = &*self.full_name(name);
        if let Err(problem) = self.outside_rows("factor", name) {
            return self.report_problem(problem);
        }
        if value.shape().is_scalar() {
            let mut record = self.record.borrow_mut();
            let output = record.add_output(name, value);
            record.statements.push(Statement::Factor { output });
            return;
        }
        let found = value.shape().to_string();
        self.report_problem(Problem::NotANumber {
            what: "factor",
            name: name.to_owned(),
            found,
        });
    }

    /// Random effects of `groups` groups, each N(0, scale²), as scale times standard normals. In
    /// this non-centred form the posterior of `scale` and the effects is less curved than with the
    /// effects themselves as a site. The standard normals are the site `<name>_raw`.
    pub fn group_effect(&self, name: &str, groups: usize, scale: impl Into<Value<'g>>) -> Expr<'g> {
        let standard = Normal::new(0.0, 1.0).expand([groups]);
        let raw = self.sample(&format!("{name}_raw"), standard);
        self.deterministic(name, raw * scale.into().on_graph(self.graph))
    }

    /// How many levels the index column `name` has in the table the model is bound to.
    pub fn levels(&self, name: &str) -> usize {
        let name = &*self.full_name(name);
        let known = self.schema.column(name);
        if let Some(levels) = known.and_then(|column| column.levels) {
            return levels;
        }
        let problem = match known {
            None => self.unknown_column(name),
            Some(column) => Problem::WrongKind {
                name: name.to_owned(),
                expected: "a category or whole numbers from 0 on",
                found: column.kind.to_string(),
                hint: "only such columns have levels".into(),
            },
        };
        self.report_problem(problem);
        1
    }

    pub(crate) fn unknown_column(&self, name: &str) -> Problem {
        Problem::UnknownColumn {
            name: name.to_owned(),
            hint: self.schema.name_hint(name),
        }
    }
}

/// The site, if its support accepts its shape and start.
fn fit_site(site: Site) -> Result<Site, Problem> {
    let wrong = |source| LayoutError::Support {
        name: site.name.clone(),
        source,
    };
    site.support.free_shape(site.shape()).map_err(wrong)?;
    if let Some(start) = &site.start {
        let (expected, found) = (site.shape().size(), start.len());
        if expected != found {
            return Err(Problem::Site(LayoutError::Length {
                name: site.name.clone(),
                expected,
                found,
            }));
        }
        site.support.unconstrain_values(start).map_err(wrong)?;
    }
    Ok(site)
}
