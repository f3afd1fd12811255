//! Draws that the command wrote, read by `ArviZ`.

use std::fmt::Write;
use std::process::Command;

use crate::fixture::{Scratch, fitted};

/// The means that `ArviZ` finds, one `name mean` to a line.
const MEANS: &str = r#"
import sys, warnings
warnings.simplefilter("ignore")
import arviz as az
table = az.summary(az.from_netcdf(sys.argv[1]), kind="stats", round_to="none")
for name, mean in table["mean"].items():
    print(f"{name}\t{mean!r}")
"#;

/// The contents of a file about the rows and the fit.
const GROUPS: &str = r#"
import sys, warnings
warnings.simplefilter("ignore")
import arviz as az
for engine in ("netcdf4", "h5netcdf"):
    data = az.from_netcdf(sys.argv[1], engine=engine)
    assert data.observed_data["hit"].shape == (400,)
    assert data.posterior_predictive["hit"].shape == data.log_likelihood["hit"].shape
    assert data.log_likelihood["hit"].dims == ("chain", "draw", "row")
    assert "log_weight" in data.sample_stats
    product = data.posterior["color:shape"]
    assert product.dims[2:] == ("color:shape_level_0", "color:shape_level_1"), product.dims
    site = data.posterior["site"]
    assert site.dims[2:] == ("site_level", "site_term") and site.shape[2:] == (5, 2), site.shape
    for group in data.groups():
        assert data[group].attrs["verdict"] in sys.argv[2], data[group].attrs
assert az.loo(data).n_data_points == 400
"#;

#[test]
#[ignore = "needs python with arviz, netcdf4, h5netcdf and h5py; LEHR_PYTHON names it"]
fn arviz_finds_rows_interactions_and_the_verdict() {
    let scratch = Scratch::new();
    let mut text = String::new();
    for (row, line) in crate::fixture::csv(400, 1).lines().enumerate() {
        let shape = ["shape", "ball", "cube"][if row == 0 { 0 } else { 1 + row % 2 }];
        let _ = writeln!(text, "{line},{shape}");
    }
    scratch.write("train.csv", &text);
    let formula = "hit ~ x1 + color*shape + (1 + x1 | site)";
    let mut fit = vec!["fit", formula, "train.csv", "-o", "fit.lehr"];
    fit.extend(crate::fixture::QUICK);
    let verdict = scratch.judged(&fit)["verdict"].to_string();
    let draws = [
        "draws",
        "fit.lehr",
        "train.csv",
        "-o",
        "draws.nc",
        "--groups",
    ];
    scratch.expect(0, &[&draws[..], &["--accept-warnings"]].concat());
    let python = std::env::var("LEHR_PYTHON").unwrap_or_else(|_| "python3".into());
    let run = Command::new(python)
        .args(["-c", GROUPS])
        .arg(scratch.path("draws.nc"))
        .arg(verdict)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[test]
#[ignore = "needs python with arviz, netcdf4, h5netcdf and h5py; LEHR_PYTHON names it"]
fn arviz_finds_the_means_of_the_summary() {
    let scratch = Scratch::new();
    let fit = fitted().path("fit.lehr");
    let fit = fit.to_str().unwrap();
    scratch.expect(
        0,
        &[
            "draws",
            fit,
            "-o",
            "draws.nc",
            "--groups",
            "--accept-warnings",
        ],
    );
    scratch.expect(
        0,
        &[
            "draws",
            fit,
            "-o",
            "draws.csv",
            "--groups",
            "--accept-warnings",
        ],
    );
    let python = std::env::var("LEHR_PYTHON").unwrap_or_else(|_| "python3".into());
    let run = Command::new(python)
        .args(["-c", MEANS])
        .arg(scratch.path("draws.nc"))
        .output()
        .unwrap();
    let (found, said) = (run.stdout, String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{said}");
    let found = String::from_utf8(found).unwrap();
    let mean_of = |name: &str| -> f64 {
        let line = found
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
        let line = line.unwrap_or_else(|| panic!("no {name:?} among\n{found}"));
        let digits = line.trim_start_matches("np.float64(").trim_end_matches(')');
        digits.parse().unwrap()
    };
    let csv = std::fs::read_to_string(scratch.path("draws.csv")).unwrap();
    let mut lines = csv.lines().map(|line| line.split(','));
    let names: Vec<&str> = lines.next().unwrap().collect();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.map(|cell| cell.parse().unwrap()).collect())
        .collect();
    for (place, name) in names.iter().enumerate() {
        let mean = rows.iter().map(|row| row[place]).sum::<f64>() / rows.len() as f64;
        assert!(
            (mean - mean_of(name)).abs() < 1e-9,
            "{name}: {mean}\n{found}"
        );
    }
    assert!(names.contains(&"site[s1]") && names.contains(&"color[red]"));
}

/// Leave-one-out values by `ArviZ`, compared with the file of `lehr loo`.
const LOO: &str = r#"
import csv, sys, warnings
warnings.simplefilter("ignore")
import arviz as az
found = az.loo(az.from_netcdf(sys.argv[1]), pointwise=True, reff=1.0)
rows = list(csv.DictReader(open(sys.argv[2])))
assert len(rows) == found.n_data_points
for row, elpd, k in zip(rows, found.loo_i.values, found.pareto_k.values):
    assert abs(float(row["elpd"]) - elpd) < 1e-9, (row, elpd)
    assert abs(float(row["k"]) - k) < 1e-9, (row, k)
"#;

#[test]
#[ignore = "needs python with arviz, netcdf4, h5netcdf and h5py; LEHR_PYTHON names it"]
fn arviz_leaves_out_rows_with_the_same_result() {
    let scratch = Scratch::new();
    scratch.write("train.csv", &crate::fixture::csv(300, 6));
    let fit = [
        "fit",
        "y ~ x1 + x2",
        "train.csv",
        "-o",
        "fit.lehr",
        "--method",
        "full-rank",
    ];
    assert_eq!(scratch.judged(&fit)["corrected"], false);
    scratch.expect(0, &["draws", "fit.lehr", "train.csv", "-o", "draws.nc"]);
    scratch.expect(
        0,
        &[
            "loo",
            "fit.lehr",
            "train.csv",
            "-o",
            "rows.csv",
            "--accept-warnings",
        ],
    );
    let python = std::env::var("LEHR_PYTHON").unwrap_or_else(|_| "python3".into());
    let run = Command::new(python)
        .args(["-c", LOO])
        .args([scratch.path("draws.nc"), scratch.path("rows.csv")])
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}
