//! Files with mistakes that people make. Every one is read as intended or refused with a message,
//! through fit, predict and report. No command panics, no file is lost, and no wrong value is
//! accepted without a message.
//!
//! `make worst` prints the transcript.

use std::fmt::Write;

use crate::fixture::{Ended, Noise, QUICK, Scratch};

const ROWS: usize = 120;

/// The expected result of a file.
enum End {
    /// It is refused with this message.
    Refused(&'static str),
    /// It is fitted, and this message is printed.
    Fitted(&'static str),
}

/// A file with a mistake.
struct Case {
    /// The mistake.
    mistake: &'static str,
    bytes: Vec<u8>,
    formula: &'static str,
    more: &'static [&'static str],
    end: End,
}

/// A header and rows; each row is a function of its number and of two normal numbers.
fn table(head: &str, mut row: impl FnMut(usize, f64, f64) -> String) -> String {
    let mut noise = Noise(41);
    let mut text = format!("{head}\n");
    for k in 0..ROWS {
        let (x, e) = (noise.normal(), noise.normal());
        let _ = writeln!(text, "{}", row(k, x, e));
    }
    text
}

/// y = 1 + x + noise, and three groups.
fn usual(k: usize, x: f64, e: f64) -> String {
    let group = ["a", "b", "c"][k % 3];
    format!("{:.3},{x:.3},{group}", 1.0 + x + 0.5 * e)
}

fn case(mistake: &'static str, bytes: impl Into<Vec<u8>>, end: End) -> Case {
    Case {
        mistake,
        bytes: bytes.into(),
        formula: "y ~ x",
        more: &[],
        end,
    }
}

/// Text in Latin-1, the encoding of old spreadsheets.
fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|sign| sign as u8).collect()
}

fn utf16(text: &str) -> Vec<u8> {
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    [0xff, 0xfe].into_iter().chain(units).collect()
}

/// Files whose format is not that of their names.
fn mistaken_files() -> Vec<Case> {
    let plain = table("y,x,g", usual);
    vec![
        case(
            "a spreadsheet renamed to csv",
            *b"PK\x03\x04\x14\0\x06\0",
            End::Refused("save the sheet as csv"),
        ),
        case(
            "a packed file renamed to csv",
            *b"\x1f\x8b\x08\0\0\0\0\0",
            End::Refused("end the name of the file in .gz"),
        ),
        case(
            "Parquet renamed to csv",
            *b"PAR1\x15\x04\x15",
            End::Refused("found Parquet data"),
        ),
        case(
            "a sign-in page saved as csv",
            "<!DOCTYPE html>\n<html><body>Please, sign in</body></html>\n",
            End::Refused("found a page in HTML"),
        ),
        case(
            "UTF-16 from a spreadsheet",
            utf16(&plain),
            End::Refused("found UTF-16"),
        ),
        Case {
            formula: "y ~ x + stadt",
            ..case(
                "Latin-1 umlauts",
                latin(&table("y,x,stadt", |k, x, e| {
                    format!("{:.3},{x:.3},{}", x + e, ["Köln", "Ulm"][k % 2])
                })),
                End::Refused("expected UTF-8 text"),
            )
        },
        case("an empty file", "", End::Refused("found an empty file")),
        case(
            "a header and no rows",
            "y,x\n",
            End::Refused("expected at least one row"),
        ),
    ]
}

/// Text whose structure is broken.
fn broken_structure() -> Vec<Case> {
    let plain = table("y,x,g", usual);
    vec![
        case(
            "a quote that is never closed",
            plain.replacen(",b\n", ",\"b\n", 1),
            End::Refused("expected a closing quote"),
        ),
        case(
            "no header",
            plain.split_once('\n').unwrap().1,
            End::Refused("--no-header reads it as such"),
        ),
        case(
            "a title above the header",
            format!("Sales report,,\n{plain}"),
            End::Refused("the first line looks like a title"),
        ),
        case(
            "a total below the rows",
            format!("{plain}Total,,\n"),
            End::Refused("hint: delete the line, which sums up other lines"),
        ),
        case(
            "two columns of one name",
            plain.replacen("y,x,g", "y,x,x", 1),
            End::Refused("both called \"x\""),
        ),
        case(
            "a delimiter at the end of each row",
            plain.replace("a\n", "a,\n"),
            End::Refused("no row may end in one"),
        ),
        case(
            "a mark of Windows and its line ends",
            format!("\u{feff}{}", plain.replace('\n', "\r\n")),
            End::Fitted("120 rows"),
        ),
        case(
            "blanks around names and numbers",
            plain.replacen("y,x,g", " y , x ,g", 1).replace(',', " , "),
            End::Fitted("120 rows"),
        ),
    ]
}

/// Valid text with values that were probably not intended.
fn strange_values() -> Vec<Case> {
    let number = |row: fn(usize, f64, f64) -> String| table("y,x", row);
    vec![
        case(
            "dashes for missing values",
            number(|k, x, e| {
                format!(
                    "{:.3},{}",
                    x + e,
                    if k % 10 == 3 {
                        "-".into()
                    } else {
                        format!("{x:.3}")
                    }
                )
            }),
            End::Refused("--missing-text -"),
        ),
        case(
            "an infinite response",
            number(|k, x, e| {
                format!(
                    "{},{x:.3}",
                    if k == 5 {
                        "inf".into()
                    } else {
                        format!("{:.3}", x + e)
                    }
                )
            }),
            End::Refused("found 1 infinite, the first in row 6"),
        ),
        case(
            "-999 for missing values",
            number(|k, x, e| {
                let shown = if k % 10 == 3 { -999.0 } else { x };
                format!("{:.3},{shown:.3}", x + e)
            }),
            End::Refused("found -999 in 12 rows, where all others lie between"),
        ),
        case(
            "a response that never changes",
            number(|_, x, _| format!("1.5,{x:.3}")),
            End::Refused("expected values that differ"),
        ),
        case(
            "counts without a family",
            number(|_, x, e| format!("{},{x:.3}", (3.0 + x + e).max(0.0) as u32)),
            End::Refused("--family poisson"),
        ),
    ]
}

/// Columns of a type that the model does not expect.
fn strange_columns() -> Vec<Case> {
    let number = |row: fn(usize, f64, f64) -> String| table("y,x", row);
    vec![
        Case {
            more: &["--family", "logistic"],
            ..case(
                "classes written as 1 and 2",
                number(|_, x, e| format!("{},{x:.3}", 1 + u8::from(x + e > 0.0))),
                End::Refused("expected 0 or 1 for family bernoulli, found 2"),
            )
        },
        Case {
            more: &["--family", "logistic"],
            ..case(
                "classes written in several ways",
                number(|k, x, e| {
                    let names = if x + e > 0.0 {
                        ["yes", "Yes"]
                    } else {
                        ["no", "No"]
                    };
                    format!("{},{x:.3}", names[k % 2])
                }),
                End::Refused("two levels for family bernoulli, found 4"),
            )
        },
        Case {
            formula: "y ~ x + g",
            ..case(
                "levels written in several ways",
                table("y,x,g", |k, x, e| {
                    format!("{:.3},{x:.3},{}", x + e, ["Berlin", "berlin", "Ulm"][k % 3])
                }),
                End::Refused("found both \"Berlin\" and \"berlin\""),
            )
        },
        case(
            "numbers beyond all sense",
            number(|_, x, e| format!("{:.3},{:.3e}", x + e, 1e200 * x)),
            End::Refused("give the column in another unit"),
        ),
        Case {
            formula: "y ~ .",
            ..case(
                "a column that never changes",
                table("y,x,one", |_, x, e| format!("{:.3},{x:.3},1", x + e)),
                End::Fitted("one: left out, it is the same in every row"),
            )
        },
    ]
}

/// Runs a command and adds it to the transcript.
fn told(scratch: &Scratch, arguments: &[&str]) -> Ended {
    let ended = scratch.run(arguments);
    println!(
        "$ lehr {}\n{}{}",
        arguments.join(" "),
        ended.stderr,
        ended.stdout
    );
    ended
}

/// Fails if a number of a table is missing or infinite.
fn sound(scored: &str, case: &Case) {
    let is_bad = |cell: &str| matches!(cell, "" | "inf" | "-inf" | "NaN");
    let bad = scored.lines().find(|line| line.split(',').any(is_bad));
    assert!(bad.is_none(), "{}: {bad:?}", case.mistake);
}

fn run(case: &Case) {
    println!("--- {}", case.mistake);
    let scratch = Scratch::new();
    std::fs::write(scratch.path("data.csv"), &case.bytes).unwrap();
    let fit = ["fit", case.formula, "data.csv", "-o", "fit.lehr"];
    let fit: Vec<&str> = fit.iter().chain(&QUICK).chain(case.more).copied().collect();
    let ended = told(&scratch, &fit);
    let said = format!("{}{}", ended.stderr, ended.stdout);
    match case.end {
        End::Refused(words) => {
            assert_eq!(ended.code, Some(2), "{}: {said}", case.mistake);
            assert!(ended.stderr.contains(words), "{}: {said}", case.mistake);
            assert!(!scratch.path("fit.lehr").exists(), "{}", case.mistake);
        }
        End::Fitted(words) => {
            assert!(
                matches!(ended.code, Some(0 | 1)),
                "{}: {said}",
                case.mistake
            );
            assert!(said.contains(words), "{}: {said}", case.mistake);
            let predict = [
                "predict",
                "fit.lehr",
                "data.csv",
                "-o",
                "scored.csv",
                "--only",
                "--accept-warnings",
            ];
            assert_eq!(told(&scratch, &predict).code, Some(0), "{}", case.mistake);
            let scored = std::fs::read_to_string(scratch.path("scored.csv")).unwrap();
            assert_eq!(scored.lines().count(), ROWS + 1, "{}", case.mistake);
            sound(&scored, case);
            let report = told(&scratch, &["report", "fit.lehr", "-o", "page.html"]);
            assert_eq!(report.code, Some(0), "{}", case.mistake);
        }
    }
    let after = std::fs::read(scratch.path("data.csv")).unwrap();
    assert!(
        after == case.bytes,
        "{}: the table was changed",
        case.mistake
    );
}

#[test]
fn files_that_are_not_what_their_name_says_are_told_apart() {
    mistaken_files().iter().for_each(run);
}

#[test]
fn files_whose_structure_is_broken_are_told_with_their_line() {
    broken_structure().iter().for_each(run);
}

#[test]
fn values_that_were_not_meant_are_told_or_refused() {
    strange_values().iter().for_each(run);
    strange_columns().iter().for_each(run);
}

#[test]
fn there_are_twenty_of_them() {
    let all = [
        mistaken_files(),
        broken_structure(),
        strange_values(),
        strange_columns(),
    ];
    assert!(all.iter().map(Vec::len).sum::<usize>() >= 20);
}
