//! Help, completions, the man page and the table of methods.

use std::process::Stdio;

use crate::fixture::Scratch;

/// The commands that the help of the program lists.
fn commands(scratch: &Scratch) -> Vec<String> {
    let whole = scratch.expect(0, &["--help"]).stdout;
    let listed = whole
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1);
    let names = listed
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(ToOwned::to_owned);
    let names: Vec<String> = names.collect();
    assert!(names.contains(&"fit".into()) && names.contains(&"man".into()));
    names
}

#[test]
fn every_command_has_help_with_examples() {
    let scratch = Scratch::new();
    for command in commands(&scratch) {
        let help = scratch.expect(0, &[&command, "--help"]).stdout;
        assert!(help.contains("Examples:"), "{command}: {help}");
        assert!(help.contains("--json"), "{command}: {help}");
    }
}

#[test]
fn the_page_of_json_has_the_keys_of_every_command() {
    let scratch = Scratch::new();
    let page = scratch.expect(0, &["help", "json"]).stdout;
    let headings: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("## "))
        .collect();
    // The output of these two is for a shell and for man.
    for command in commands(&scratch)
        .iter()
        .filter(|name| !["completions", "man"].contains(&name.as_str()))
    {
        let named = format!("`lehr {command}`");
        let found = headings.iter().any(|heading| heading.contains(&named));
        assert!(found, "docs/json.md has no heading with {named}");
    }
}

#[test]
fn completions_and_manual_pages_are_written() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = scratch.expect(0, &["completions", shell]).stdout;
        assert!(text.contains("surrogate-rows"), "{shell}");
    }
    assert!(scratch.expect(0, &["man"]).stdout.contains(".TH lehr"));
    assert!(
        scratch
            .expect(0, &["man", "fit"])
            .stdout
            .contains("checkpoint")
    );
    let error = scratch.expect(2, &["man", "fitt"]).stderr;
    assert!(error.contains("no command \"fitt\""), "{error}");
}

#[test]
fn methods_are_listed_with_their_costs() {
    let scratch = Scratch::new();
    let text = scratch.expect(0, &["methods"]).stdout;
    assert!(
        text.contains("sl-dais") && text.contains("taylor"),
        "{text}"
    );
    let json = scratch.json(0, &["methods"]);
    for key in ["name", "aliases", "help", "cost", "when"] {
        assert!(json["methods"][0].get(key).is_some(), "{key}");
    }
}

#[test]
fn no_command_is_a_mistake_and_a_closed_pipe_is_none() {
    let scratch = Scratch::new();
    scratch.expect(2, &[]);
    scratch.expect(2, &["nonsense"]);
    let mut child = scratch
        .command(&["methods"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn pages_of_the_reference_are_printed() {
    let scratch = Scratch::new();
    let page = |topic| scratch.expect(0, &["help", topic]).stdout;
    assert!(page("formula").contains("response ~ terms"));
    assert!(page("priors").contains("horseshoe"));
    assert!(page("families").contains("negbinomial"));
    assert!(page("fit").contains("--method"));
    assert!(scratch.expect(0, &["help"]).stdout.contains("Commands:"));
    let error = scratch.expect(2, &["help", "formulas"]).stderr;
    assert!(error.contains("did you mean \"formula\"?"), "{error}");
}
