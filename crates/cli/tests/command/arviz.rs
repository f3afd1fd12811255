//! Draws that the command wrote, opened where they are meant to be opened.

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
