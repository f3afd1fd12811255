//! The tables of methods and starts in the documentation agree with the code.

use std::fs::read_to_string;

use lehr::METHODS;
use lehr::infer::method::MethodInfo;
use lehr::infer::start::STARTS;
use lehr::regression::Family;

fn assert_has_table(page: &str, row: impl Fn(&MethodInfo) -> [&str; 3]) {
    let text = read_to_string(page).unwrap();
    let rows = METHODS.iter().map(|method| {
        let cells = row(method).map(|cell| if cell.is_empty() { "–" } else { cell });
        format!("| `{}` | {} |\n", method.name, cells.join(" | "))
    });
    let expected: String = rows.collect();
    assert!(text.contains(&expected), "{page} should say\n{expected}");
}

#[test]
fn the_readme_lists_the_methods() {
    assert_has_table("README.md", |row| [row.needs, row.cost, row.when]);
}

#[test]
fn the_page_of_methods_lists_the_methods() {
    assert_has_table("docs/methods.md", |row| [row.help, row.cost, row.when]);
}

#[test]
fn the_page_of_methods_explains_every_start_that_is_chosen() {
    let text = read_to_string("docs/methods.md").unwrap();
    for start in STARTS.iter().filter(|start| start.is_warm()) {
        let entry = format!("**`{}`**", start.name());
        assert!(text.contains(&entry), "{entry}");
    }
}

#[test]
fn the_page_of_families_lists_the_families_with_their_links_and_parameters() {
    let text = read_to_string("docs/families.md").unwrap();
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert_eq!(rows.len(), Family::ALL.len());
    for (family, row) in Family::ALL.iter().zip(rows) {
        let cells: Vec<&str> = row.split(" | ").collect();
        assert_eq!(cells[0], format!("| `{family}`"));
        assert_eq!(cells[2], family.link().name(), "{row}");
        for parameter in family.parameters() {
            assert!(cells[3].contains(&format!("`{parameter}`")), "{row}");
        }
    }
}

#[test]
fn the_page_of_formulas_names_every_function() {
    let text = read_to_string("docs/formula.md").unwrap();
    for name in lehr::formula::function_names() {
        let written = [
            format!("`{name}("),
            format!("`{name}`"),
            format!("| {name}("),
        ];
        let named = written.iter().any(|form| text.contains(form));
        assert!(named, "docs/formula.md does not name {name}");
    }
}

#[test]
fn the_page_of_priors_shows_every_distribution() {
    let text = read_to_string("docs/priors.md").unwrap();
    for usage in lehr::regression::prior_distributions() {
        let written = format!("`{usage}`");
        assert!(
            text.contains(&written),
            "docs/priors.md does not show {usage}"
        );
    }
}

#[test]
fn the_page_of_formulas_names_every_contrast() {
    let text = read_to_string("docs/formula.md").unwrap();
    for contrast in lehr::formula::Contrast::ALL {
        assert!(text.contains(&format!("contr.{}", contrast.name())));
    }
}
