//! The file of draws can be opened by the programs that it is written for.

use std::process::Command;

use lehr_report::{Draws, InferenceData};

use crate::demo::{Noise, draws};

/// Opens the file with both engines, compares a value and a label, and prints a summary.
const OPENS: &str = r#"
import sys, warnings
warnings.simplefilter("ignore")
import arviz as az
for engine in ("netcdf4", "h5netcdf"):
    data = az.from_netcdf(sys.argv[1], engine=engine)
    posterior = data["posterior"]
    assert posterior.sizes["chain"] == 4 and posterior.sizes["draw"] == 250, posterior.sizes
    assert list(posterior["service_level"].values) == ["yes"]
    assert abs(float(posterior["dose"].mean()) - 0.642) < 0.02
    assert posterior["a:b"].attrs["long_name"] == "a/b"
    assert posterior.attrs["inference_library"] == "lehr"
    table = az.summary(data)
    assert "service[yes]" in table.index and "sd(patient, dose)" in table.index
print("opened by", az.__version__)
"#;

fn with_a_slash(mut draws: Draws) -> Draws {
    draws.names[4] = "a/b".into();
    draws
}

#[test]
#[ignore = "needs python with arviz, netcdf4, h5netcdf and h5py; LEHR_PYTHON names it"]
fn arviz_opens_the_draws_with_both_engines() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.nc");
    let draws = with_a_slash(draws(&mut Noise::new(5), 1000));
    let data = InferenceData::from_draws(&draws).unwrap().in_chains(4);
    let data = data.with_attribute("inference_library", "lehr");
    data.write(&path).unwrap();
    let python = std::env::var("LEHR_PYTHON").unwrap_or_else(|_| "python3".into());
    let run = Command::new(python)
        .args(["-c", OPENS])
        .arg(&path)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    print!("{}", String::from_utf8_lossy(&run.stdout));
}
