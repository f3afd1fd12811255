//! Every table on tiny settings: it is made, its page is complete, and a second run repeats no fit.

use lehr_infer::observer::{Observer, Phase};
use lehr_lab::paper::{Answer, Dataset, Origin, Settings, Table, Watcher};
use lehr_report::Style;

/// Counts the fits that were computed.
#[derive(Default)]
struct Counter {
    fits: usize,
    cells: usize,
}

impl Observer for Counter {
    fn begin(&mut self, phase: Phase) {
        self.fits += usize::from(phase == Phase::TRAIN);
    }
}

impl Watcher for Counter {
    fn cell(&mut self, _: &str, done: usize, all: usize) {
        assert!(done < all, "cell {done} of {all}");
        self.cells += 1;
    }
}

fn tiny(folder: &std::path::Path) -> Settings {
    Settings {
        origin: Origin::StandIn { rows: 1100 },
        out: folder.to_owned(),
        iterations: 100,
        dais_iterations: 20,
        cap: 100,
        draws: 64,
        evidence_draws: 128,
        datasets: vec![Dataset::Susy],
        timing_seconds: 0.0,
        surrogate_rows: vec![64, 256],
        most_steps: 64,
        ..Settings::quick()
    }
}

/// Runs a table twice: the second run finds everything done and gives the same answer.
fn made(table: Table) -> Answer {
    let folder = tempfile::tempdir().unwrap();
    let settings = tiny(folder.path());
    let mut counter = Counter::default();
    let answer = table.run(&settings, &mut counter).unwrap();
    let page = std::fs::read_to_string(&answer.page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<svg") && !page.contains("http://"));
    let mut again = Counter::default();
    let second = table.run(&settings, &mut again).unwrap();
    assert_eq!(again.fits, 0, "a second run fits nothing");
    assert_eq!(again.cells, counter.cells);
    assert_eq!(second.text(&Style::PLAIN), answer.text(&Style::PLAIN));
    for section in &answer.sections {
        assert!(
            section
                .rows
                .iter()
                .all(|row| row.len() == section.head.len())
        );
    }
    answer
}

#[test]
fn surrogates_are_compared_beside_the_published_gains() {
    let answer = made(Table::Surrogates);
    let text = answer.text(&Style::PLAIN);
    assert!(
        text.contains("638.9 ± 9.7") && text.contains("MVN, converged"),
        "{text}"
    );
    assert!(text.contains("generated stand-ins"), "{text}");
}

#[test]
fn imbalance_has_every_ratio_and_method() {
    let answer = made(Table::Imbalance);
    assert_eq!(answer.sections[0].rows.len(), 5);
    assert_eq!(answer.cells.len(), 5 * 9);
}

#[test]
fn logistic_has_ranks_by_both_recipes() {
    let answer = made(Table::Logistic);
    let mean_field = &answer.sections[0].rows[0];
    assert_eq!(
        (mean_field[0].as_str(), mean_field[1].as_str()),
        ("MF", "6.60")
    );
    assert!(mean_field[2].parse::<f64>().unwrap() >= 1.0);
    assert!(mean_field[3].parse::<f64>().unwrap() <= 7.0);
}

#[test]
fn timing_has_a_positive_time_for_every_entry() {
    let answer = made(Table::Timing);
    for section in &answer.sections[1..] {
        for row in &section.rows {
            assert!(
                row[1..]
                    .iter()
                    .all(|entry| entry.parse::<f64>().unwrap() > 0.0)
            );
        }
    }
}

#[test]
fn convergence_agrees_with_sampling() {
    let answer = made(Table::Convergence);
    assert_eq!(answer.sections[0].rows.len(), 7 + 2);
    assert!(
        answer
            .findings
            .iter()
            .any(|line| line.contains("standard errors"))
    );
}

#[test]
#[ignore = "minutes: quadrature on all rows for every entry"]
fn chains_of_rows_are_below_the_oracle_and_quadrature_is_at_it() {
    let answer = made(Table::Local);
    assert_eq!(answer.sections.len(), 2);
    for section in &answer.sections {
        assert_eq!(section.rows.len(), 9);
        let bound = |place: usize| -> f64 {
            let words = &section.rows[place][2];
            words.split(' ').next().unwrap().parse().unwrap()
        };
        let (integrated, oracle) = (bound(6), bound(8));
        assert!((integrated - oracle).abs() < 1.0, "{integrated} {oracle}");
        for place in 0..6 {
            assert!(bound(place) < oracle + 1.0, "{:?}", section.rows[place]);
        }
    }
}
