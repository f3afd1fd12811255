//! The posteriors of the study: easy ones, and others on which approximations are known to fail.

use std::time::Instant;

use lehr_model::distribution::{
    Beta, Binomial, Cauchy, Distribution, HalfCauchy, HalfNormal, LogNormal, Normal, Poisson,
    StudentT, Uniform,
};
use lehr_model::{Bound, Model};
use lehr_numeric::stream::Stream;
use lehr_regression::Specification;
use lehr_table::Table;
use lehr_workflow::BoundRegression;

use super::large::large_problems;

/// The method by which the truth about a posterior is computed.
pub enum Truth {
    /// By long chains on it.
    Chains,
    /// By long chains on the same model written differently, for the sites of the same name.
    Twin(Box<Bound>),
    /// By sums over a grid of one to three unconstrained latents between these limits.
    Grid(f64, f64),
    /// In closed form: mean and standard deviation of some quantities.
    Known(Vec<(String, f64, f64)>),
}

/// A posterior of the study.
pub struct Problem {
    /// Its name.
    pub name: String,
    /// The kind of posterior.
    pub kind: &'static str,
    /// The model on its rows.
    pub density: Bound,
    /// The method for the truth.
    pub truth: Truth,
}

/// Random numbers of one problem.
pub(super) struct Source(pub(super) Stream);

impl Source {
    pub(super) fn new(seed: u64) -> Source {
        Source(Stream::new(seed, "verdict study", 0))
    }

    pub(super) fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.0.normal()).collect()
    }

    pub(super) fn chance(&mut self, probability: f64) -> f64 {
        f64::from(u8::from(self.0.uniform() < probability))
    }

    /// A count of this mean, by waiting times.
    pub(super) fn count(&mut self, mean: f64) -> f64 {
        let (mut time, mut count) = (0.0, 0.0);
        loop {
            time -= (1.0 - self.0.uniform()).ln();
            if time > mean {
                return count;
            }
            count += 1.0;
        }
    }
}

pub(super) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Covariates `x1`, `x2`, … and the linear predictor of these coefficients, the intercept first.
pub(super) fn covariates(
    source: &mut Source,
    rows: usize,
    coefficients: &[f64],
) -> (Table, Vec<f64>) {
    let mut table = Table::new();
    let mut predictor = vec![coefficients[0]; rows];
    for (k, beta) in coefficients.iter().enumerate().skip(1) {
        let x = source.normals(rows);
        predictor
            .iter_mut()
            .zip(&x)
            .for_each(|(p, x)| *p += beta * x);
        table = table.with_number(&format!("x{k}"), x).expect("a column");
    }
    (table, predictor)
}

pub(super) fn with(table: Table, name: &str, values: Vec<f64>) -> Table {
    table.with_number(name, values).expect("a column")
}

/// A regression of the columns `y` and `x1`, `x2`, …
pub(super) fn regression(table: &Table, formula: &str, family: &str) -> Bound {
    let specification = Specification::parse(formula, table.names()).expect("a formula");
    let specification = specification.with_family(family.parse().expect("a family"));
    let bound = BoundRegression::new(&specification, table, Instant::now());
    bound.expect("a regression").bound
}

fn problem(name: &str, kind: &'static str, density: Bound) -> Problem {
    Problem {
        name: name.to_owned(),
        kind,
        density,
        truth: Truth::Chains,
    }
}

/// A regression on independent covariates whose response `respond` draws from the predictor.
fn glm(
    name: &str,
    family: &str,
    rows: usize,
    coefficients: &[f64],
    respond: impl Fn(&mut Source, f64) -> f64,
) -> Problem {
    let mut source = Source::new(rows as u64 + coefficients.len() as u64);
    let (table, predictor) = covariates(&mut source, rows, coefficients);
    let y = predictor.iter().map(|p| respond(&mut source, *p)).collect();
    let density = regression(&with(table, "y", y), "y ~ .", family);
    problem(name, "glm", density)
}

/// Rows in groups with effects of this spread, `respond` as above.
fn groups(
    name: &str,
    family: &str,
    (count, rows_each): (usize, usize),
    spread: f64,
    respond: impl Fn(&mut Source, f64) -> f64,
) -> Problem {
    let mut source = Source::new(31 * count as u64 + rows_each as u64);
    let effects = source.normals(count);
    let (table, predictor) = covariates(&mut source, count * rows_each, &[0.3, 0.5]);
    let codes: Vec<u32> = (0..predictor.len()).map(|n| (n % count) as u32).collect();
    let y = predictor.iter().zip(&codes).map(|(p, g)| {
        let at = p + spread * effects[*g as usize];
        respond(&mut source, at)
    });
    let table = with(table, "y", y.collect());
    let levels = (0..count).map(|g| format!("g{g}")).collect();
    let table = table.with_category("g", codes, levels).expect("a column");
    let density = regression(&table, "y ~ x1 + (1 | g)", family);
    problem(name, "hierarchy", density)
}

/// A model of one column `y`.
pub(super) fn model(
    name: &str,
    kind: &'static str,
    y: Vec<f64>,
    truth: Truth,
    model: &Model,
) -> Problem {
    let table = with(Table::new(), "y", y);
    Problem {
        name: name.to_owned(),
        kind,
        density: model.bind(&table).expect("a model"),
        truth,
    }
}

fn glms() -> Vec<Problem> {
    let gaussian = |source: &mut Source, p: f64| p + 0.8 * source.0.normal();
    let binary = |source: &mut Source, p: f64| source.chance(logistic(p));
    let count = |source: &mut Source, p: f64| source.count(p.exp());
    let four = [0.2, 0.8, -0.6, 0.4];
    vec![
        glm("gaussian", "gaussian", 200, &[0.5, 1.0, -0.5], gaussian),
        glm("gaussian, 12 rows", "gaussian", 12, &[0.5, 1.0], gaussian),
        glm("logistic", "bernoulli", 500, &four, binary),
        glm("logistic, 40 rows", "bernoulli", 40, &four, binary),
        glm("logistic, rare", "bernoulli", 1000, &[-4.5, 0.5], binary),
        glm("poisson", "poisson", 300, &[0.7, 0.4, -0.3], count),
        glm("poisson, large counts", "poisson", 200, &[4.0, 0.3], count),
        glm("poisson, few counts", "poisson", 60, &[-2.5, 0.4], count),
    ]
}

/// Regressions with a second parameter of the response.
fn glms_with_shapes() -> Vec<Problem> {
    let over = |source: &mut Source, p: f64| {
        let noise = source.0.normal();
        source.count((p + 0.8 * noise).exp())
    };
    let outlier = |source: &mut Source, p: f64| {
        let scale = if source.0.uniform() < 0.1 { 8.0 } else { 0.5 };
        p + scale * source.0.normal()
    };
    let share = |source: &mut Source, p: f64| {
        let noise = 0.7 * source.0.normal();
        logistic(p + noise).clamp(0.001, 0.999)
    };
    let class = |source: &mut Source, p: f64| {
        let noisy = p + 1.5 * source.0.normal();
        f64::from(u8::from(noisy > -1.0)) + f64::from(u8::from(noisy > 0.7))
    };
    let surplus = |source: &mut Source, p: f64| {
        let open = source.chance(0.7);
        open * source.count(p.exp())
    };
    let scaled = |source: &mut Source, p: f64| {
        let parts: f64 = (0..3).map(|_| -(1.0 - source.0.uniform()).ln()).sum();
        p.exp() * parts / 3.0
    };
    let zeros = "zero_inflated_poisson";
    vec![
        glm("negative binomial", "negbinomial", 300, &[1.0, 0.5], over),
        glm("student", "student", 150, &[0.0, 1.0], outlier),
        glm("gamma", "gamma", 200, &[0.5, 0.4], scaled),
        glm("beta", "beta", 150, &[0.3, 0.6], share),
        glm("ordinal", "ordinal", 250, &[0.0, 1.0], class),
        glm("zero-inflated", zeros, 300, &[1.0, 0.3], surplus),
    ]
}

fn awkward() -> Vec<Problem> {
    let mut source = Source::new(5);
    let x = source.normals(40);
    let separated = x.iter().map(|x| f64::from(u8::from(*x > 0.1))).collect();
    let separated = with(with(Table::new(), "x", x), "y", separated);
    let rare: Vec<f64> = (0..200).map(|n| f64::from(u8::from(n % 40 == 0))).collect();
    let y = rare.iter().map(|r| source.chance(0.3).max(*r)).collect();
    let rare = with(with(Table::new(), "rare", rare), "y", y);
    let x = source.normals(100);
    let twin = x.iter().map(|x| x + 0.01 * source.0.normal()).collect();
    let y = x.iter().map(|x| x + source.0.normal()).collect();
    let collinear = with(with(with(Table::new(), "x", x), "twin", twin), "y", y);
    vec![
        problem(
            "separated",
            "separation",
            regression(&separated, "y ~ x", "bernoulli"),
        ),
        problem(
            "a rare level, always 1",
            "separation",
            regression(&rare, "y ~ rare", "bernoulli"),
        ),
        problem(
            "collinear",
            "collinear",
            regression(&collinear, "y ~ x + twin", "gaussian"),
        ),
    ]
}

fn hierarchies() -> Vec<Problem> {
    let gaussian = |source: &mut Source, p: f64| p + source.0.normal();
    let binary = |source: &mut Source, p: f64| source.chance(logistic(p));
    let count = |source: &mut Source, p: f64| source.count(p.exp());
    vec![
        groups("3 groups", "gaussian", (3, 20), 0.8, gaussian),
        groups("8 groups", "gaussian", (8, 10), 0.5, gaussian),
        groups("8 groups, no spread", "gaussian", (8, 10), 0.0, gaussian),
        groups("30 groups", "gaussian", (30, 8), 0.7, gaussian),
        groups("100 groups", "gaussian", (100, 6), 0.6, gaussian),
        groups("20 groups of counts", "poisson", (20, 10), 0.5, count),
        groups("50 groups of 0 and 1", "bernoulli", (50, 4), 1.0, binary),
        groups(
            "40 groups of 0 and 1, no spread",
            "bernoulli",
            (40, 5),
            0.0,
            binary,
        ),
    ]
}

/// Rubin's eight schools, with their effects drawn around the mean or written without it.
fn schools(centred: bool) -> Bound {
    let y = vec![28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
    let error = vec![15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];
    let table = with(with(Table::new(), "y", y), "error", error);
    let levels = (0..8).map(|g| format!("s{g}")).collect();
    let table = table.with_category("school", (0..8).collect(), levels);
    let model = Model::new(move |m| {
        let mu = m.sample("mu", Normal::new(0.0, 5.0));
        let tau = m.sample("tau", HalfCauchy::new(5.0));
        let effect = if centred {
            m.sample("effect", Normal::new(mu, tau).expand([8]))
        } else {
            let raw = m.sample("raw", Normal::new(0.0, 1.0).expand([8]));
            mu + tau * raw
        };
        m.rows(|row| {
            let at = effect.at(row.index("school"));
            row.observe("y", Normal::new(at, row.number("error")));
        });
    });
    model.bind(&table.expect("a column")).expect("a model")
}

fn funnels() -> Vec<Problem> {
    let mut centred = problem("eight schools, centred", "funnel", schools(true));
    centred.truth = Truth::Twin(Box::new(schools(false)));
    let funnel = |spread: f64| {
        Model::new(move |m| {
            let v = m.sample("v", Normal::new(0.0, spread));
            m.sample("x", Normal::new(0.0, (0.5 * v).exp()).expand([5]));
            m.rows(|row| row.observe("y", Normal::new(0.0, 1.0)));
        })
    };
    let known = |sd: f64| Truth::Known(vec![("v".to_owned(), 0.0, sd)]);
    let y = || vec![0.0; 4];
    vec![
        centred,
        problem("eight schools", "hierarchy", schools(false)),
        model("Neal's funnel", "funnel", y(), known(3.0), &funnel(3.0)),
        model("a mild funnel", "funnel", y(), known(1.0), &funnel(1.0)),
    ]
}

fn several_modes() -> Vec<Problem> {
    let location = Model::new(|m| {
        let mu = m.sample("mu", Normal::new(0.0, 10.0));
        m.rows(|row| row.observe("y", Cauchy::new(mu, 0.5)));
    });
    let product = Model::new(|m| {
        let a = m.sample("a", Normal::new(0.0, 1.0));
        let b = m.sample("b", Normal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Normal::new(a * b, 0.5)));
    });
    let three = Model::new(|m| {
        let [a, b, c] = ["a", "b", "c"].map(|name| m.sample(name, Normal::new(0.0, 1.0)));
        m.rows(|row| row.observe("y", Normal::new(a * b * c, 0.5)));
    });
    let square = Model::new(|m| {
        let a = m.sample("a", Normal::new(0.5, 1.5));
        m.rows(|row| row.observe("y", Normal::new(a.square(), 0.5)));
    });
    vec![
        model(
            "two clusters, Cauchy",
            "two modes",
            vec![-4.1, -3.9, -4.0, 3.9, 4.05, 4.1],
            Truth::Grid(-15.0, 15.0),
            &location,
        ),
        model(
            "unequal clusters, Cauchy",
            "two modes",
            vec![-3.2, -2.9, -3.0, -3.1, 4.0, 4.1, 3.9],
            Truth::Grid(-15.0, 15.0),
            &location,
        ),
        model(
            "a product",
            "two modes",
            vec![1.0; 12],
            Truth::Grid(-5.0, 5.0),
            &product,
        ),
        model(
            "a product of three",
            "two modes",
            vec![1.0; 12],
            Truth::Grid(-5.0, 5.0),
            &three,
        ),
        model(
            "a square",
            "two modes",
            vec![2.0, 1.5, 2.2],
            Truth::Grid(-8.0, 8.0),
            &square,
        ),
    ]
}

fn tails_and_limits() -> Vec<Problem> {
    let heavy = Model::new(|m| {
        let mu = m.sample("mu", StudentT::new(3.0, 0.0, 2.0));
        m.rows(|row| row.observe("y", Normal::new(mu, 20.0)));
    });
    let skewed = Model::new(|m| {
        let rate = m.sample("rate", LogNormal::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Poisson::with_rate(rate)));
    });
    let none = Model::new(|m| {
        let share = m.sample("share", Beta::new(1.0, 1.0));
        let logit = (share / (1.0 - share)).ln();
        m.rows(|row| row.observe("y", Binomial::with_logit(20.0, logit)));
    });
    let edge = Model::new(|m| {
        let level = m.sample("level", Uniform::new(0.0, 1.0));
        m.rows(|row| row.observe("y", Normal::new(level, 1.0)));
    });
    let grid = || Truth::Grid(-12.0, 12.0);
    vec![
        model(
            "a heavy tail",
            "heavy tail",
            vec![1.0],
            Truth::Grid(-2000.0, 2000.0),
            &heavy,
        ),
        model("a rate of zeros", "skewed", vec![0.0; 5], grid(), &skewed),
        model("no success in 20", "boundary", vec![0.0], grid(), &none),
        model(
            "a level at its limit",
            "boundary",
            vec![1.5, 0.8, 1.2],
            grid(),
            &edge,
        ),
    ]
}

fn odd_shapes() -> Vec<Problem> {
    let banana = Model::new(|m| {
        let a = m.sample("a", Normal::new(0.0, 1.0));
        let b = m.sample("b", Normal::new(a.square(), 0.3));
        m.rows(|row| row.observe("y", Normal::new(b, 3.0)));
    });
    let spread = Model::new(|m| {
        let scale = m.sample("scale", HalfNormal::new(2.0));
        m.rows(|row| row.observe("y", Normal::new(0.0, scale)));
    });
    let tight = Model::new(|m| {
        let a = m.sample("a", Normal::new(0.0, 3.0));
        let b = m.sample("b", Normal::new(0.0, 3.0));
        m.rows(|row| row.observe("y", Normal::new(a + b, 1.0)));
    });
    let grid = || Truth::Grid(-12.0, 12.0);
    vec![
        model(
            "a banana",
            "curved",
            vec![1.0],
            Truth::Grid(-6.0, 12.0),
            &banana,
        ),
        model(
            "a spread of three",
            "skewed",
            vec![0.4, -1.1, 0.7],
            grid(),
            &spread,
        ),
        model("a ridge", "collinear", vec![0.5; 100], grid(), &tight),
    ]
}

/// All of them.
pub fn problems() -> Vec<Problem> {
    let mut all = glms();
    all.extend(glms_with_shapes());
    all.extend(awkward());
    all.extend(hierarchies());
    all.extend(funnels());
    all.extend(several_modes());
    all.extend(tails_and_limits());
    all.extend(odd_shapes());
    all.extend(large_problems(100_000));
    all
}
