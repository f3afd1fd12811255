//! Every relative link in a Markdown file leads to a file, and its fragment to a heading there.

use std::collections::HashSet;
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// The Markdown files of the repository, without build output, hidden folders and environments.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_foreign = name.starts_with('.') || name == "target";
        match path.extension() {
            _ if is_foreign => {}
            _ if path.is_dir() => pages(&path, found),
            Some(extension) if extension == "md" => found.push(path),
            _ => {}
        }
    }
}

/// The targets of `[text](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1);
    targets.filter_map(|rest| rest.split([')', ' ']).next())
}

/// The anchors that GitHub makes of a page's headings.
fn anchors(page: &Path) -> HashSet<String> {
    let text = read_to_string(page).unwrap();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#').trim()))
        .collect()
}

fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let lower = heading.to_lowercase();
    lower
        .chars()
        .filter(kept)
        .collect::<String>()
        .replace(' ', "-")
}

/// The fault of a link of a page, if any.
fn broken(page: &Path, link: &str) -> Option<String> {
    if link.contains("://") {
        return None;
    }
    let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => page.to_owned(),
        _ => page.parent().unwrap().join(file),
    };
    let is_lost = !target.exists();
    let is_adrift = || !fragment.is_empty() && !anchors(&target).contains(fragment);
    (is_lost || is_adrift()).then(|| format!("{}: {link}", page.display()))
}

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let mut found = Vec::new();
    pages(Path::new(env!("CARGO_MANIFEST_DIR")), &mut found);
    let mut wrong = Vec::new();
    for page in &found {
        let text = read_to_string(page).unwrap();
        wrong.extend(links(&text).filter_map(|link| broken(page, link)));
    }
    assert!(found.len() > 5, "{found:?}");
    assert!(wrong.is_empty(), "links to nowhere:\n{}", wrong.join("\n"));
}

#[test]
fn anchors_are_those_of_git_hub() {
    assert_eq!(
        anchor("The best Gaussian, by quadrature"),
        "the-best-gaussian-by-quadrature"
    );
    assert_eq!(
        anchor("`lehr fit`, `lehr summary`"),
        "lehr-fit-lehr-summary"
    );
}
