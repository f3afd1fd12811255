//! The published numbers (Jankowiak & Phan 2022), for comparison.

use lehr_infer::surrogate::SurrogateKind;

use crate::paper::dataset::Dataset;

/// A published number and its published error, where it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The number.
    pub value: f64,
    /// Its error.
    pub error: Option<f64>,
}

const SIZES: [usize; 3] = [64, 256, 1024];

/// Table 6: gains of SL-DAIS over mean field in nats, K = 8, by surrogate and N_surr.
pub fn surrogate_gain(dataset: Dataset, kind: SurrogateKind, rows: usize) -> Option<Figure> {
    let place = SIZES.iter().position(|&size| size == rows)?;
    let table = match dataset {
        Dataset::Higgs => HIGGS.as_slice(),
        Dataset::Susy => SUSY.as_slice(),
        _ => return None,
    };
    let (_, entries) = table.iter().find(|(name, _)| *name == kind.name())?;
    let (value, error) = entries[place];
    Some(Figure {
        value,
        error: Some(error),
    })
}

type Gains = (&'static str, [(f64, f64); 3]);

const HIGGS: [Gains; 8] = [
    ("rand", [(211.1, 1.1), (214.2, 1.3), (222.4, 1.1)]),
    ("rand±", [(214.3, 1.0), (217.0, 1.5), (217.8, 1.5)]),
    ("cs-init", [(209.6, 1.2), (213.8, 1.1), (218.5, 1.8)]),
    ("cs-init±", [(213.5, 0.9), (214.5, 1.4), (219.0, 1.7)]),
    ("cs-fix", [(83.0, 12.3), (136.6, 12.6), (192.7, 5.5)]),
    ("km-init±", [(184.0, 2.5), (187.4, 3.0), (182.4, 2.8)]),
    ("km-fix±", [(218.3, 1.3), (217.7, 1.4), (217.4, 1.8)]),
    ("nn", [(16.8, 0.9), (16.8, 0.9), (16.8, 0.9)]),
];

const SUSY: [Gains; 8] = [
    ("rand", [(627.5, 2.1), (638.9, 9.7), (637.2, 2.2)]),
    ("rand±", [(635.0, 3.0), (637.9, 4.0), (632.2, 3.8)]),
    ("cs-init", [(625.9, 2.2), (645.3, 2.7), (633.7, 3.8)]),
    ("cs-init±", [(633.2, 3.7), (634.8, 5.5), (637.4, 3.6)]),
    ("cs-fix", [(501.0, 36.2), (538.5, 14.2), (555.5, 15.8)]),
    ("km-init±", [(222.3, 24.0), (188.3, 11.4), (169.7, 13.9)]),
    ("km-fix±", [(635.5, 3.1), (633.9, 2.6), (632.1, 2.5)]),
    ("nn", [(2.6, 1.4), (2.6, 1.4), (2.6, 1.4)]),
];

/// A method of Table 7: ranks by bound, test log likelihood and accuracy among seven methods over
/// five tables, and milliseconds per step on 24 cores (Table 2).
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// The method, as in [`crate::paper::job::Job::label`] but without K.
    pub method: &'static str,
    /// Mean rank by bound, test log likelihood and accuracy.
    pub ranks: [f64; 3],
    /// Milliseconds per step.
    pub milliseconds: f64,
}

/// Tables 2 and 7.
pub const RANKED: [Ranked; 7] = [
    ranked("MF", [6.60, 6.16, 5.48], 38.8),
    ranked("MVN", [5.36, 5.88, 5.24], 58.1),
    ranked("Flow", [2.08, 2.16, 1.96], 3420.3),
    ranked("NS-DAIS-MF", [5.00, 4.60, 4.52], 113.1),
    ranked("SL-DAIS-MF", [2.60, 2.44, 3.40], 83.1),
    ranked("NS-DAIS-MVN", [4.16, 4.36, 4.12], 152.1),
    ranked("SL-DAIS-MVN", [2.20, 2.40, 3.28], 131.6),
];

const fn ranked(method: &'static str, ranks: [f64; 3], milliseconds: f64) -> Ranked {
    Ranked {
        method,
        ranks,
        milliseconds,
    }
}

/// The row of a method, whatever its K.
pub fn ranks_of(label: &str) -> Option<&'static Ranked> {
    let name = label.split(' ').next()?;
    RANKED.iter().find(|row| row.method == name)
}

/// Gains of SL-DAIS over MVN on a Gaussian process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessGain {
    /// Of the bound, in nats.
    pub bound: Figure,
    /// Of the log likelihood of a test row, with its error, as printed.
    pub forecast: &'static str,
}

/// Table 3, by M.
pub fn robust_process(points: usize) -> Option<ProcessGain> {
    match points {
        64 => Some(process_gain(127.3, 26.6, "0.014 ± 0.003")),
        128 => Some(process_gain(187.1, 26.6, "0.015 ± 0.003")),
        256 => Some(process_gain(529.5, 17.3, "0.039 ± 0.006")),
        _ => None,
    }
}

/// Table 4, M = 128. The gains on test rows are from comments in the paper's source.
pub fn outcome_process(dataset: Dataset) -> ProcessGain {
    match dataset {
        Dataset::Susy => process_gain(34.0, 2.2, "0.0004 ± 0.0001"),
        Dataset::Higgs => process_gain(225.5, 7.3, "0.0003 ± 0.0002"),
        Dataset::MiniBoone => process_gain(163.9, 5.4, "0.0024 ± 0.0002"),
        Dataset::CovTypeFir => process_gain(471.7, 42.2, "0.0085 ± 0.0010"),
        Dataset::CovTypePine => process_gain(616.6, 71.8, "0.0112 ± 0.0014"),
    }
}

const fn process_gain(value: f64, error: f64, forecast: &'static str) -> ProcessGain {
    ProcessGain {
        bound: Figure {
            value,
            error: Some(error),
        },
        forecast,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_what_they_are_of() {
        let gain = |kind, rows| surrogate_gain(Dataset::Susy, kind, rows).map(|f| f.value);
        assert_eq!(gain(SurrogateKind::RANDOM, 256), Some(638.9));
        assert_eq!(gain(SurrogateKind::NETWORK, 64), Some(2.6));
        assert_eq!(gain(SurrogateKind::TAYLOR, 64), None);
        assert_eq!(gain(SurrogateKind::RANDOM, 100), None);
        assert_eq!(
            ranks_of("SL-DAIS-MF 8").map(|row| row.milliseconds),
            Some(83.1)
        );
        assert!(ranks_of("DAIS-MF 2").is_none());
    }

    #[test]
    fn ranks_among_seven_add_up() {
        for place in 0..3 {
            let sum: f64 = RANKED.iter().map(|row| row.ranks[place]).sum();
            assert!((sum - 28.0).abs() < 0.1, "{sum}");
        }
    }
}
