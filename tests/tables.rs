//! The tables of methods and starts in the documentation agree with the code.

use std::fs::read_to_string;

use lehr::METHODS;
use lehr::infer::method::MethodInfo;
use lehr::infer::start::STARTS;
use lehr::regression::Family;

/// The methods that people choose among, which the README names; docs/methods.md has all.
const MAIN_METHODS: [&str; 5] = ["auto", "full-rank", "sl-dais", "nuts", "collapse"];

fn assert_has_row(page: &str, method: &MethodInfo, cells: [&str; 2]) {
    let text = read_to_string(page).unwrap();
    let cells = cells.map(|cell| if cell.is_empty() { "–" } else { cell });
    let row = format!("| `{}` | {} |\n", method.name, cells.join(" | "));
    assert!(text.contains(&row), "{page} should say\n{row}");
}

#[test]
fn the_readme_lists_the_methods_that_people_choose_among() {
    for name in MAIN_METHODS {
        let method = METHODS.iter().find(|method| method.name == name).unwrap();
        assert_has_row("README.md", method, [method.help, method.when]);
    }
}

#[test]
fn the_page_of_methods_lists_all_methods_what_they_need_and_what_they_cost() {
    for method in METHODS {
        assert_has_row("docs/methods.md", method, [method.help, method.when]);
        assert_has_row("docs/methods.md", method, [method.needs, method.cost]);
    }
}

#[test]
fn the_page_of_methods_explains_every_start_that_is_chosen() {
    let text = read_to_string("docs/methods.md").unwrap();
    for start in STARTS
        .iter()
        .map(|new| new())
        .filter(|start| start.is_warm())
    {
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
