//! The pages of `docs/commands`: the part above the mark is written by hand, the rest is generated
//! from the help of the command.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, Command, CommandFactory};

use crate::argument::Cli;

/// The end of the part written by hand.
const MARK: &str =
    "<!-- What follows is written by `make commands` from the help of the command. -->\n";
/// The options that all commands share, which the page of all commands lists once.
const COMMON: &str = "Options of every command";
/// The width of the text in characters.
const WIDTH: usize = 116;

fn page_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands")
}

/// The commands with their options, those of all commands included.
fn whole_command() -> Command {
    let mut whole = Cli::command();
    whole.build();
    whole
}

fn sub_commands(whole: &Command) -> impl Iterator<Item = &Command> {
    whole.get_subcommands().filter(|one| !one.is_hide_set())
}

/// The part below the mark.
fn generate_page(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(ToString::to_string).unwrap_or_default();
    let mut page = format!("\n```text\n{usage}\n```\n");
    for paragraph in about.trim().split("\n\n") {
        let _ = write!(page, "\n{}\n", fill_lines(paragraph, ""));
    }
    for (heading, arguments) in argument_sections(command) {
        let _ = write!(page, "\n## {heading}\n\n");
        for argument in arguments {
            let item = format!(
                "- {}: {}",
                write_argument(argument),
                argument_meaning(argument)
            );
            let _ = writeln!(page, "{}", fill_lines(&item, "  "));
        }
    }
    if let Some(after) = command.get_after_help() {
        page += &example_lines(&after.to_string());
    }
    page
}

/// The arguments by their headings, in the order of the help.
fn argument_sections(command: &Command) -> Vec<(String, Vec<&Arg>)> {
    let mut found: Vec<(String, Vec<&Arg>)> = Vec::new();
    let shown = command.get_arguments().filter(|one| !one.is_hide_set());
    for argument in shown {
        let heading = match argument.get_help_heading() {
            _ if argument.is_positional() => "Arguments",
            _ if argument.is_global_set() || is_help(argument) => COMMON,
            Some(heading) => heading,
            None => "Options",
        };
        match found.iter_mut().find(|(own, _)| own == heading) {
            Some((_, arguments)) => arguments.push(argument),
            None => found.push((heading.to_owned(), vec![argument])),
        }
    }
    let rank = |heading: &str| match heading {
        "Arguments" => 0,
        "Options" => 1,
        COMMON => 3,
        _ => 2,
    };
    found.sort_by_key(|(heading, _)| rank(heading));
    found
}

fn is_help(argument: &Arg) -> bool {
    ["help", "version"].contains(&argument.get_id().as_str())
}

/// `-o, --output FILE`.
fn write_argument(argument: &Arg) -> String {
    let takes = argument
        .get_num_args()
        .is_some_and(|count| count.takes_values());
    let names = argument.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(clap::builder::Str::as_str).collect();
    let value = if takes {
        names.join(" ")
    } else {
        String::new()
    };
    if argument.is_positional() {
        return format!("`{value}`");
    }
    let short = argument.get_short().map(|letter| format!("-{letter}"));
    let long = argument.get_long().map(|name| format!("--{name}"));
    let flags: Vec<String> = short.into_iter().chain(long).collect();
    let text = format!("{} {value}", flags.join(", "));
    format!("`{}`", text.trim_end())
}

/// The help of an argument, its values and its default, in one item.
fn argument_meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let mut text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let values = argument.get_possible_values();
    let takes = argument
        .get_num_args()
        .is_some_and(|count| count.takes_values());
    if takes && !values.is_empty() {
        let listed = values.iter().map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        });
        let _ = write!(text, ": {}", listed.collect::<Vec<_>>().join(", "));
    }
    let defaults = argument.get_default_values().iter();
    let defaults: Vec<String> = (defaults.filter_map(|value| value.to_str()))
        .map(|value| format!("`{value}`"))
        .collect();
    if takes && !defaults.is_empty() {
        let _ = write!(text, " [default: {}]", defaults.join(", "));
    }
    text
}

/// The text in lines of the width, those after the first indented.
fn fill_lines(text: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().unwrap();
        let width = line.chars().count() + 1 + word.chars().count();
        // A dash at the start of a line would begin an item of a list.
        if line.is_empty() {
            line.push_str(word);
        } else if width <= WIDTH || word == "-" {
            *line = format!("{line} {word}");
        } else {
            lines.push(format!("{indent}{word}"));
        }
    }
    lines.join("\n")
}

/// The text after the options of the help: examples as code, sentences as sentences.
fn example_lines(after: &str) -> String {
    let mut page = String::new();
    for part in after.split("\n\n") {
        match part.strip_prefix("Examples:\n") {
            None => {
                let _ = write!(page, "\n{}\n", fill_lines(part, ""));
            }
            Some(code) => {
                let lines: Vec<&str> = code.lines().map(str::trim).collect();
                let _ = write!(page, "\n## Examples\n\n```sh\n{}\n```\n", lines.join("\n"));
            }
        }
    }
    page
}

/// The page of a command as it is, and with its present help.
fn current_page(command: &Command) -> (PathBuf, String, String) {
    let path = page_folder().join(format!("{}.md", command.get_name()));
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let by_hand = match found.split_once(MARK) {
        Some((above, _)) => above.to_owned(),
        None => format!("# lehr {}\n\n", command.get_name()),
    };
    let expected = by_hand + MARK + &generate_page(command);
    (path, found, expected)
}

/// `make commands` writes the pages; otherwise they are compared.
#[test]
fn every_command_has_a_page_with_all_its_options() {
    let writes = std::env::var_os("LEHR_WRITE_PAGES").is_some();
    for command in sub_commands(&whole_command()) {
        let (path, found, expected) = current_page(command);
        if writes {
            std::fs::create_dir_all(page_folder()).unwrap();
            std::fs::write(&path, &expected).unwrap();
        } else {
            let name = command.get_name();
            assert!(
                found == expected,
                "docs/commands/{name}.md: run make commands"
            );
        }
    }
}

#[test]
fn no_page_is_of_a_command_that_is_gone_and_the_list_has_them_all() {
    let whole = whole_command();
    let names: Vec<&str> = sub_commands(&whole).map(Command::get_name).collect();
    let list = std::fs::read_to_string(page_folder().join("README.md")).unwrap_or_default();
    for name in &names {
        let entry = format!("[`{name}`]({name}.md)");
        assert!(
            list.contains(&entry),
            "docs/commands/README.md lacks {entry}"
        );
    }
    for entry in std::fs::read_dir(page_folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let stem = name.trim_end_matches(".md");
        assert!(stem == "README" || names.contains(&stem), "{name}");
    }
}

/// Each option on a page is an option of the command, and the help has no others.
#[test]
fn pages_list_what_clap_knows() {
    let whole = whole_command();
    let fit = whole.find_subcommand("fit").unwrap();
    let page = generate_page(fit);
    for argument in fit.get_arguments().filter(|one| !one.is_hide_set()) {
        assert!(page.contains(&write_argument(argument)), "{argument:?}");
    }
    assert!(page.contains("\n- `--prior-only`: "), "{page}");
    assert!(
        page.contains("lehr fit [OPTIONS] <FORMULA> <TABLE>..."),
        "{page}"
    );
}

#[test]
fn no_line_begins_with_a_dash_that_is_not_an_item() {
    let text = format!("- a{}", " word - word".repeat(40));
    let lines = fill_lines(&text, "  ");
    let mut after = lines.lines().skip(1);
    assert!(lines.lines().count() > 3, "{lines}");
    assert!(after.all(|line| line.starts_with("  word")), "{lines}");
    assert!(lines.lines().all(|line| line.chars().count() <= 120));
}
