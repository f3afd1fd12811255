//! Small models that together use every distribution and every support.

use lehr_density::Support;
use lehr_model::distribution::{
    Bernoulli, Beta, Binomial, Categorical, Cauchy, Dirichlet, Distribution, Exponential, Gamma,
    HalfCauchy, HalfNormal, HalfStudentT, Horseshoe, InverseGamma, Laplace, LkjCholesky, LogNormal,
    MultivariateNormal, NegativeBinomial, Normal, OrderedLogistic, Poisson, StudentT, Uniform,
    ZeroInflated,
};
use lehr_model::{Bound, Model};
use lehr_table::Table;

use crate::normals;

const ROWS: usize = 7;

/// A table with a column of every kind.
fn table() -> Table {
    let x = normals(2 * ROWS, 1);
    let real = normals(ROWS, 2);
    let levels = |count: usize| (0..count).map(|k| format!("level {k}")).collect();
    let of_real = |f: fn(f64) -> f64| real.iter().map(|r| f(*r)).collect::<Vec<f64>>();
    let codes = || {
        (0..ROWS as u32)
            .map(|n| (n * n + 1) % 3)
            .collect::<Vec<u32>>()
    };
    Table::new()
        .with_matrix("x", ROWS, 2, x)
        .and_then(|t| t.with_number("real", real.clone()))
        .and_then(|t| t.with_number("positive", of_real(f64::exp)))
        .and_then(|t| t.with_number("share", of_real(|r| 1.0 / (1.0 + r.exp()))))
        .and_then(|t| t.with_number("label", of_real(|r| f64::from(r > 0.0))))
        .and_then(|t| t.with_number("count", of_real(|r| (2.0 + 2.0 * r).max(0.0).round())))
        .and_then(|t| t.with_number("trials", vec![9.0; ROWS]))
        .and_then(|t| t.with_number("weight", of_real(|r| 1.0 + r.abs())))
        .and_then(|t| t.with_number("offset", of_real(|r| 0.3 * r)))
        .and_then(|t| t.with_category("group", codes(), levels(3)))
        .unwrap()
}

/// A name and the model bound to the table.
pub(crate) struct Small {
    pub(crate) name: &'static str,
    pub(crate) density: Bound,
}

/// The models, each of at most a dozen latents.
pub(crate) fn small_models() -> Vec<Small> {
    let models: [(&'static str, Model); 13] = [
        ("normal", normal()),
        ("student", student()),
        ("heavy", heavy()),
        ("gamma", gamma()),
        ("beta", beta()),
        ("uniform", uniform()),
        ("categorical", categorical()),
        ("correlated", correlated()),
        ("binary", binary()),
        ("poisson", poisson()),
        ("negative binomial", negative_binomial()),
        ("ordered", ordered()),
        ("horseshoe", horseshoe()),
    ];
    let bind = |(name, model): (&'static str, Model)| Small {
        name,
        density: match model.bind(&table()) {
            Ok(density) => density,
            Err(error) => panic!("{name}: {error}"),
        },
    };
    models.into_iter().map(bind).collect()
}

fn normal() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.2, 1.1).expand([2]));
        let scale = m.sample("scale", LogNormal::new(-0.2, 0.6));
        let spread = m.sample("spread", HalfNormal::new(0.9));
        let effect = m.group_effect("effect", m.levels("group"), spread);
        m.rows(|row| {
            row.weight("weight");
            let predictor = row.matrix("x").dot(weight) + effect.at(row.index("group"));
            row.observe("real", Normal::new(predictor + row.offset("offset"), scale));
        });
    })
}

fn student() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", StudentT::new(4.0, 0.0, 1.2).expand([2]));
        let scale = m.sample("scale", HalfStudentT::new(5.0, 0.8));
        let df = m.sample("df", Gamma::new(3.0, 0.7));
        m.rows(|row| {
            let predictor = row.matrix("x").dot(weight);
            row.observe("real", StudentT::new(df, predictor, scale));
        });
    })
}

fn heavy() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Cauchy::new(0.1, 0.9).expand([2]));
        let level = m.sample("level", Laplace::new(0.31, 0.7));
        let scale = m.sample("scale", HalfCauchy::new(0.8));
        m.rows(|row| {
            let predictor = row.matrix("x").dot(weight) + level;
            row.observe("real", Laplace::new(predictor, scale));
        });
    })
}

fn gamma() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        let shape = m.sample("shape", InverseGamma::new(3.0, 4.0));
        let rate = m.sample("rate", Exponential::new(1.3));
        m.rows(|row| {
            let predictor = row.matrix("x").dot(weight);
            row.observe("positive", Gamma::with_log_mean(predictor, shape));
            row.observe("weight", Exponential::new(rate));
        });
    })
}

fn beta() -> Model {
    Model::new(|m| {
        let level = m.sample("level", Beta::new(2.0, 1.5));
        let slope = m.sample("slope", Normal::new(0.0, 0.7).expand([2]));
        let precision = m.param("precision", 4.0, Support::Lower(1.0));
        m.rows(|row| {
            let predictor = row.matrix("x").dot(slope) + level;
            row.observe("share", Beta::with_logit_mean(predictor, precision));
        });
    })
}

fn uniform() -> Model {
    Model::new(|m| {
        let level = m.sample("level", Uniform::new(-2.0, 3.0).expand([2]));
        let slope = m.param("slope", [0.3, -0.4], Support::Real);
        let scale = m.param("scale", 0.8, Support::Interval(0.1, 2.5));
        let lift = m.param("lift", -0.2, Support::Upper(0.5));
        m.rows(|row| {
            let predictor = row.matrix("x").dot(slope + level) * lift;
            row.observe("positive", LogNormal::new(predictor, scale));
        });
    })
}

fn categorical() -> Model {
    Model::new(|m| {
        let share = m.sample("share", Dirichlet::new([1.5, 2.0, 0.8]));
        let tilt = m.param("tilt", 0.3, Support::UnitInterval);
        let base = m.param("base", [0.2, 0.5, 0.3], Support::Simplex(3));
        m.rows(|row| {
            let logits = share.ln() * tilt + base.ln();
            row.observe("group", Categorical::with_logits(logits));
            let level = share.ln().at(row.index("group"));
            row.observe("real", Normal::new(level, 0.7));
        });
    })
}

fn correlated() -> Model {
    Model::new(|m| {
        let factor = m.sample("factor", LkjCholesky::new(3, 1.7));
        let zeros = m.graph().full([3], 0.0);
        let effect = m.sample("effect", MultivariateNormal::new(zeros, factor));
        let spread = m.param("spread", [0.9, 0.8], Support::Positive);
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        m.rows(|row| {
            let slopes = spread * weight;
            let predictor = row.matrix("x").dot(slopes) + effect.at(row.index("group"));
            row.observe("real", Normal::new(predictor, 0.8));
        });
    })
}

fn binary() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        let chance = m.sample("chance", Beta::new(1.5, 2.5));
        let scale = m.param("scale", 1.3, Support::Positive);
        m.rows(|row| {
            let predictor = row.matrix("x").dot(weight) * scale;
            row.observe("label", Bernoulli::with_logit(predictor));
            row.observe(
                "count",
                Binomial::with_logit(row.number("trials"), predictor),
            );
        });
        m.factor("pull", -0.3 * chance.square());
        m.deterministic("odds", chance / (1.0 - chance));
    })
}

fn poisson() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.3, 0.8).expand([2]));
        let gate = m.sample("gate", Normal::new(-1.0, 0.6));
        m.rows(|row| {
            let predictor = row.matrix("x").dot(weight);
            row.observe("trials", Poisson::with_log_rate(predictor + 2.0));
            let counts = Poisson::with_log_rate(predictor + row.offset("offset"));
            row.observe("count", ZeroInflated::with_gate_logit(counts, gate));
        });
    })
}

fn negative_binomial() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.3, 0.8).expand([2]));
        let dispersion = m.sample("dispersion", Gamma::new(2.0, 1.0));
        let gate = m.sample("gate", Normal::new(-1.0, 0.6));
        m.rows(|row| {
            let predictor = row.matrix("x").dot(weight);
            let all = NegativeBinomial::with_log_mean(predictor + 2.0, dispersion);
            row.observe("trials", all);
            let some = NegativeBinomial::with_log_mean(predictor, dispersion);
            row.observe("count", ZeroInflated::with_gate_logit(some, gate));
        });
    })
}

fn ordered() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        let cuts = m.param("cuts", [-0.4, 0.7], Support::Ordered(2));
        m.rows(|row| {
            let predictor = row.matrix("x").dot(weight);
            row.observe("group", OrderedLogistic::new(predictor, cuts));
        });
    })
}

fn horseshoe() -> Model {
    Model::new(|m| {
        let prior = Horseshoe::new([2], 0.4).with_slab(1.5);
        let direction = m.sample("direction", prior.direction());
        let local = m.sample("local", prior.local());
        let global = m.sample("global", prior.global());
        let weight = prior.coefficients(direction, local, global);
        m.rows(|row| {
            let chance = row.matrix("x").dot(weight).sigmoid();
            row.observe("label", Bernoulli::with_probability(chance));
        });
    })
}
