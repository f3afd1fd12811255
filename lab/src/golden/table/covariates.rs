//! The columns of rows other than responses.

use lehr_numeric::stream::Stream;

use super::noise::Noise;
use super::{Cells, names, numbers};

/// The columns of rows other than responses.
pub(super) struct Covariates {
    x1: Vec<f64>,
    x2: Vec<f64>,
    dose: Vec<f64>,
    pub(super) day: Vec<f64>,
    color: Vec<usize>,
    size: Vec<usize>,
    site: Vec<usize>,
    plot: Vec<usize>,
    teacher: Vec<usize>,
    /// The linear predictor of most responses.
    pub(super) predictor: Vec<f64>,
}

impl Covariates {
    pub(super) fn new(noise: &mut Noise) -> Covariates {
        const SITES: u64 = 12;
        const TEACHERS: u64 = 9;
        let (x1, x2) = (noise.normal(), noise.normal());
        let (dose, day) = (noise.uniform(0.1, 4.0), noise.uniform(0.0, 10.0));
        let (color, size, plot) = (noise.below(3), noise.below(4), noise.below(2));
        let (site, teacher) = (noise.below(SITES), noise.below(TEACHERS));
        let mut effects = Stream::new(3, "golden effects", 0);
        let mut effect = |_| effects.normal();
        let by_site: Vec<f64> = (0..2 * SITES).map(&mut effect).collect();
        let by_teacher: Vec<f64> = (0..TEACHERS).map(&mut effect).collect();
        let predictor = (0..noise.rows).map(|k| {
            let groups = 0.6 * by_site[2 * site[k]] + 0.3 * by_teacher[teacher[k]];
            let slope = 0.6 + 0.25 * by_site[2 * site[k] + 1];
            0.2 + slope * x1[k] - 0.4 * x2[k]
                + 0.2 * color[k] as f64
                + 0.15 * size[k] as f64
                + groups
        });
        Covariates {
            predictor: predictor.collect(),
            x1,
            x2,
            dose,
            day,
            color,
            size,
            site,
            plot,
            teacher,
        }
    }

    /// The columns.
    pub(super) fn cells(&self, noise: &mut Noise) -> Cells {
        let z: Vec<f64> = (self.x1.iter().zip(noise.normal()))
            .map(|(x, noise)| 0.5 * x + noise)
            .collect();
        let month = noise
            .below(12)
            .iter()
            .map(|month| (month + 1).to_string())
            .collect();
        let step = noise.below(5).iter().map(ToString::to_string).collect();
        let missing = noise.uniform(0.0, 1.0);
        let lost = |share: f64| -> Vec<String> {
            let cell = |(value, uniform): (&f64, &f64)| {
                if *uniform < share {
                    String::new()
                } else {
                    value.to_string()
                }
            };
            z.iter().zip(&missing).map(cell).collect()
        };
        vec![
            ("x1", numbers(&self.x1)),
            ("x2", numbers(&self.x2)),
            ("z", numbers(&z)),
            ("gap", lost(0.1)),
            ("lost", lost(0.05)),
            ("dose", numbers(&self.dose)),
            ("day", numbers(&self.day)),
            ("month", month),
            ("step", step),
            ("lon", numbers(&noise.uniform(-2.0, 2.0))),
            ("lat", numbers(&noise.uniform(-1.0, 1.0))),
            ("weight", numbers(&noise.uniform(0.5, 1.5))),
            ("se", numbers(&noise.uniform(0.2, 0.5))),
            ("color", names(&self.color, &["red", "green", "blue"])),
            (
                "size",
                names(&self.size, &["small", "mid", "large", "huge"]),
            ),
            (
                "site",
                self.site.iter().map(|site| format!("s{site}")).collect(),
            ),
            (
                "plot",
                self.plot.iter().map(|plot| format!("p{plot}")).collect(),
            ),
            (
                "teacher",
                self.teacher.iter().map(|one| format!("t{one}")).collect(),
            ),
        ]
    }
}
