//! The page of a fit by Markov chains.

use lehr_report::{ChainQuantity, ChainReport, ReportData, render_page};

fn quantity(name: &str, r_hat: f64) -> ChainQuantity {
    ChainQuantity {
        name: name.into(),
        r_hat,
        bulk: 1234.0,
        tail: 987.0,
        values: (0..400).map(|k| (f64::from(k) * 0.7).sin()).collect(),
    }
}

fn report(count: usize) -> ReportData {
    let quantities = [("calm", 1.001), ("wild", 1.2), ("lost", f64::NAN)];
    ReportData {
        title: "chains".into(),
        chains: Some(ChainReport {
            count,
            warm_up: 300,
            divergences: 1,
            energy_information: 0.93,
            energies: (0..400).map(|k| (f64::from(k) * 1.3).cos()).collect(),
            quantities: quantities.map(|(name, r_hat)| quantity(name, r_hat)).into(),
        }),
        ..ReportData::default()
    }
}

#[test]
fn chains_have_a_table_with_the_worst_first_and_a_line_for_each_chain() {
    let text = render_page(&report(4));
    let section = &text[text.find("id=\"chains\"").unwrap()..];
    assert!(section.contains("4 chains of 100 draws each, after 300 that were not kept"));
    assert!(section.contains("1 trajectory diverged") && section.contains("E-BFMI 0.93"));
    let row = |name: &str| section.find(&format!(">{name}</th>")).unwrap();
    assert!(row("lost") < row("wild") && row("wild") < row("calm"));
    // Three traces and three rank plots, with a line for each chain.
    assert_eq!(section.matches("curve thin hue").count(), 2 * 3 * 4);
    assert!(!text.contains("NaN,") && !text.contains(",NaN"));
}

#[test]
fn pages_of_other_methods_have_no_such_section() {
    assert!(!render_page(&ReportData::default()).contains("id=\"chains\""));
}
