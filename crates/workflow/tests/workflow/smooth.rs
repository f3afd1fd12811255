//! Smooth functions in formulas: their contribution to each row, their error messages, their
//! estimates.

use lehr_density::Density;
use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};
use lehr_infer::fit::Fit;
use lehr_infer::method::FullRank;
use lehr_learn::NewLevels;
use lehr_model::gp::{BasisAxis, GpBasis, Kernel};
use lehr_regression::{Family, Regression};
use lehr_report::{FunctionCurve, FunctionShape};
use lehr_table::Table;
use lehr_workflow::{SavedFit, regress};

use crate::{category, coefficients, densities, near, normal, number, point, refusal, regression};

const ROWS: usize = 60;

fn days() -> Vec<f64> {
    (0..ROWS)
        .map(|row| 10.0 + 30.0 * (0.618_034 * row as f64).fract())
        .collect()
}

fn dose() -> Vec<f64> {
    (0..ROWS)
        .map(|row| f64::from(row as u32 % 5) - 1.0)
        .collect()
}

fn sites() -> Vec<&'static str> {
    (0..ROWS).map(|row| ["north", "south"][row % 2]).collect()
}

fn table() -> Table {
    let days = days();
    let y: Vec<f64> = (days.iter().enumerate())
        .map(|(row, day)| 3.0 + (day / 4.0).sin() + 0.2 * (row as f64 * 2.4).cos())
        .collect();
    let table = number(Table::new(), "day", &days);
    let table = number(table, "dose", &dose());
    let table = number(table, "y", &y);
    let table = number(table, "one", &[1.0; ROWS]);
    let flat = vec![0.0; ROWS];
    category(number(table, "zero", &flat), "site", &sites())
}

/// The functions of the usual basis over the days, and, for a scale and a lengthscale in units of
/// the model, the factors between weights and coefficients: a^{1−w} ā^w with w = Iā²/(1 + Iā²), I
/// the rows' information.
fn parts(label: &str, levels: f64, [scale, lengthscale]: [f64; 2]) -> (Vec<f64>, Vec<f64>) {
    let axis = axis();
    let basis = GpBasis::new(Kernel::Rbf, vec![axis]);
    let graph = Graph::new();
    let amplitudes = |scale: f64, lengthscale: f64| {
        let own = graph.constant([1], &[lengthscale]);
        let found = basis.amplitudes(graph.scalar(scale), own);
        evaluate(&[found], &InputValues::new(), 1).remove(0)
    };
    let mut features = basis.features(&[days()]);
    // With an intercept, a function that is not multiplied has mean 0 over the rows.
    if !label.contains("by") {
        let width = basis.width();
        for j in 0..width {
            let mean = (0..ROWS).map(|row| features[row * width + j]).sum::<f64>() / ROWS as f64;
            for row in 0..ROWS {
                features[row * width + j] -= mean;
            }
        }
    }
    let width = basis.width();
    let square = |j: usize| -> f64 {
        let own = (0..ROWS).map(|row| features[row * width + j].powi(2));
        own.sum()
    };
    let references = amplitudes(0.7, 0.2_f64.sqrt());
    let pairs = amplitudes(scale, lengthscale).into_iter().zip(references);
    let factors = pairs.enumerate().map(|(j, (a, reference))| {
        let ratio = 4.0 / levels * square(j) * reference * reference;
        let share = ratio / (1.0 + ratio);
        a.powf(1.0 - share) * reference.powf(share)
    });
    let factors: Vec<f64> = factors.collect();
    (features, factors)
}

fn axis() -> BasisAxis {
    let (low, high) = days().iter().fold((99.0_f64, 0.0_f64), |(low, high), day| {
        (low.min(*day), high.max(*day))
    });
    BasisAxis::on_interval(Kernel::Rbf, [low, high], [0.2, 1.0])
}

/// The rows' densities by hand. `own` gives the factor and the level of each row's function.
fn check(formula: &str, label: &str, levels: f64, own: impl Fn(usize) -> (f64, usize)) {
    let table = table();
    let regression = regression(formula, Family::Gaussian, &table);
    let density = regression.bind(&table).unwrap();
    let z = point(density.latents().size());
    let named = coefficients(&regression, &density, &z);
    let sites = density.latents().constrain_values(&z);
    let site = |end: &str| {
        let name = format!("{label}.{end}");
        &sites.iter().find(|site| site.name == name).unwrap().values
    };
    let (weights, scale) = (site("weight"), site("scale")[0]);
    let (features, factors) = parts(label, levels, [scale, site("lengthscale")[0]]);
    near(
        named[&format!("{label}.lengthscale")],
        site("lengthscale")[0] * axis().unit,
    );
    let width = factors.len();
    assert_eq!(width, 34);
    let (_, rows) = densities(&density, &z);
    let y = table.number("y").unwrap();
    for (row, found) in rows.iter().enumerate() {
        let (factor, level) = own(row);
        let f: f64 = (0..width)
            .map(|j| features[row * width + j] * factors[j] * weights[level * width + j])
            .sum();
        let unit = named[&format!("{label}.scale")] / scale;
        let mean = named["Intercept"] + unit * factor * f;
        // The basis is sized by quantiles that are accurate to 0.1 %.
        let known = normal(y[row], mean, named["sigma"]);
        assert!(
            (found - known).abs() < 1e-3 * known.abs().max(1.0),
            "{found} {known}"
        );
    }
}

#[test]
fn a_function_adds_its_basis_weighted_by_its_spectrum() {
    check("y ~ gp(day)", "gp(day)", 1.0, |_| (1.0, 0));
    let dose = dose();
    check("y ~ gp(day, by = dose)", "gp(day, by = dose)", 1.0, |row| {
        (dose[row], 0)
    });
    check("y ~ gp(day, by = site)", "gp(day, by = site)", 2.0, |row| {
        (1.0, row % 2)
    });
}

#[test]
fn functions_stand_beside_everything_else() {
    let table = table();
    let formula =
        "site ~ dose + gp(day, period = 7, kernel = matern32) + gp(day, dose, k = 50) + (1 | zero)";
    let regression = regression(formula, Family::Bernoulli, &table);
    let density = regression.bind(&table).unwrap();
    let sizes: Vec<(String, usize)> = (density.latents().sites().iter())
        .map(|site| (site.name.clone(), site.dims.iter().product()))
        .filter(|(name, _)| name.starts_with("gp"))
        .collect();
    let expected = [
        ("gp(day, period = 7).scale", 1),
        ("gp(day, period = 7).lengthscale", 1),
        ("gp(day, period = 7).weight", 46),
        ("gp(day, dose).scale", 1),
        ("gp(day, dose).lengthscale", 2),
        ("gp(day, dose).weight", 49),
    ];
    assert_eq!(sizes, expected.map(|(name, size)| (name.to_owned(), size)));
    let named = coefficients(&regression, &density, &point(density.latents().size()));
    assert!(named.contains_key("gp(day, dose).lengthscale[day]"));
    assert_eq!(regression.predictor_columns(), ["dose", "day", "zero"]);
}

#[test]
fn mistakes_say_what_to_do() {
    let told = |formula: &str| refusal(formula, Family::Gaussian, &table());
    assert_eq!(
        told("y ~ gp(one)"),
        "gp(one): expected values of one that differ, found 1 in every row\n  \
         hint: leave the function out: a constant is what the intercept is for"
    );
    assert_eq!(
        told("y ~ gp(day, k = 61)"),
        "gp(day): expected k up to 60, the number of distinct places, found 61\n  \
         hint: write k = 60 or less, or leave k out"
    );
    assert_eq!(
        told("y ~ gp(day, by = zero)"),
        "gp(day, by = zero): expected values of by other than 0, found none\n  hint: leave by out"
    );
    let few = number(table(), "few", &[[1.0, 2.0, 3.0]; ROWS / 3].concat());
    assert_eq!(
        refusal("y ~ gp(few)", Family::Gaussian, &few),
        "gp(few): expected at least 4 distinct values of few, found 3\n  hint: write C(few) for an effect of each value"
    );
    let mut gap = days();
    gap[4] = f64::NAN;
    let gap = number(table(), "gap", &gap);
    assert_eq!(
        refusal("y ~ gp(gap)", Family::Gaussian, &gap),
        "column \"gap\": expected a value in every row, found 1 missing, the first in row 5\n  \
         hint: leave such rows out with --missing drop"
    );
}

#[test]
fn priors_by_name_size_the_basis() {
    let table = table();
    let made = |prior: &str| {
        let made = Regression::new("y ~ gp(day)", Family::Gaussian, &[prior.into()], &table);
        let density = made.unwrap().bind(&table).unwrap();
        density.latents().size()
    };
    // In half ranges from about 0.5 to 1 and from 0.1 to 1.
    let (long, short) = (
        made("gp(day).lengthscale ~ uniform(7, 15)"),
        made("gp(day).lengthscale ~ uniform(1.5, 15)"),
    );
    assert!(long < 34 && short > 34, "{long} {short}");
    let wrong = Regression::new(
        "y ~ gp(day)",
        Family::Gaussian,
        &["gp(day).lenghtscale ~ exponential(1)".into()],
        &table,
    );
    assert!(wrong.is_err());
    let wide = Regression::new(
        "y ~ gp(day)",
        Family::Gaussian,
        &["gp(day).lengthscale ~ half_cauchy(1e-3)".into()],
        &table,
    );
    let told = wide.unwrap_err().to_string();
    assert!(told.contains("without short lengthscales"), "{told}");
    let defaults = regression("y ~ gp(day)", Family::Gaussian, &table).priors();
    let shown: Vec<&str> = defaults.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        shown,
        ["Intercept", "gp(day).scale", "gp(day).lengthscale", "sigma"]
    );
}

#[test]
fn rows_beyond_the_walls_are_refused_and_those_before_them_counted() {
    let regression = regression("y ~ gp(day)", Family::Gaussian, &table());
    let at =
        |days: &[f64]| regression.bind_new(&number(Table::new(), "day", days), NewLevels::Sample);
    assert!(at(&[12.0, 39.0]).unwrap().outside().is_empty());
    let outside = at(&[12.0, 41.0, 50.0]).unwrap();
    assert_eq!(
        (
            outside.outside()[0].function.as_str(),
            outside.outside()[0].rows
        ),
        ("gp(day)", 2)
    );
    let told = at(&[12.0, 90.0]).unwrap_err().to_string();
    assert!(
        told.starts_with("gp(day), row 2: expected day from -17"),
        "{told}"
    );
}

/// Waves of a twentieth of the range; the shortest lengthscale of 34 functions is a tenth of it.
#[test]
fn lengthscales_at_the_edge_of_the_basis_name_the_k_to_ask_for() {
    let rows = 600;
    let x: Vec<f64> = (0..rows)
        .map(|row| 10.0 * (0.618_034 * f64::from(row)).fract())
        .collect();
    let wave = |x: &f64| (9.0 * x).sin() + 0.02 * (31.0 * x).cos();
    let y: Vec<f64> = x.iter().map(wave).collect();
    let table = number(number(Table::new(), "x", &x), "y", &y);
    let fit = Fit::new(FullRank::default()).seed(3);
    let fit = fit.set("iterations", "3000").unwrap();
    let fit = regress("y ~ gp(x)", &table).unwrap().with(fit);
    let fit = fit.fit().unwrap();
    let notes = fit.report().notes;
    let note = notes.iter().find(|note| note.contains("too coarse"));
    let note = note.unwrap_or_else(|| panic!("{notes:?}"));
    assert!(note.starts_with("gp(x).lengthscale: "), "{note}");
    let k: f64 = note.rsplit_once("ask for k = ").unwrap().1.parse().unwrap();
    assert!(k > 34.0, "{note}");
}

#[test]
fn a_fit_finds_the_function_and_survives_its_file() {
    let rows = 400;
    let place = |row: usize| 10.0 * (0.618_034 * row as f64).fract();
    let truth = |x: f64| (1.3 * x).sin() + 0.1 * x;
    let noise = |row: usize| 0.3 * ((row * row % 101) as f64 / 29.3 - 1.73);
    let x: Vec<f64> = (0..rows).map(place).collect();
    let y: Vec<f64> = (0..rows).map(|row| truth(x[row]) + noise(row)).collect();
    let table = number(number(Table::new(), "x", &x), "y", &y);
    let fit = Fit::new(FullRank::default()).seed(3);
    let fit = fit.set("iterations", "5000").unwrap();
    let fit = regress("y ~ gp(x)", &table)
        .unwrap()
        .with(fit)
        .fit()
        .unwrap();
    let report = fit.report();
    let FunctionShape::Curve(FunctionCurve {
        x, mean, low, high, ..
    }) = &report.functions[0].shape
    else {
        panic!("a function of one column is a curve");
    };
    let average: f64 = (0..rows).map(|row| truth(place(row))).sum::<f64>() / rows as f64;
    let inside = (0..x.len()).filter(|k| {
        let known = truth(x[*k]) - average;
        assert!((mean[*k] - known).abs() < 0.2, "{known} {}", mean[*k]);
        low[*k] < known && known < high[*k]
    });
    assert!(inside.count() * 10 > 7 * x.len());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.lehr");
    fit.save(&path).unwrap();
    let loaded = SavedFit::load(&path).unwrap();
    let means = |fit: &SavedFit| fit.predict(&table).unwrap().means().unwrap();
    assert_eq!(means(&fit), means(&loaded));
    assert_eq!(loaded.report().functions, report.functions);
}
