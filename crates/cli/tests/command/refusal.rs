//! Commands that are refused: each mistake with its message, exit code 2, nothing on stdout, no
//! file changed.

use crate::fixture::{Scratch, csv, files, fitted};

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(60, 10));
    scratch
}

/// The message of a command that could not run.
fn refused(scratch: &Scratch, arguments: &[&str]) -> String {
    let before = files(&scratch.path(""));
    let ended = scratch.expect(2, arguments);
    assert_eq!(ended.stdout, "", "{arguments:?}");
    assert_eq!(files(&scratch.path("")), before, "{arguments:?}");
    ended.stderr
}

/// Refused fits of `train.csv`: the arguments that are changed, and a part of the message.
fn refused_fits(cases: &[(&[&str], &str)]) {
    let scratch = scratch();
    for (arguments, expected) in cases {
        let arguments: Vec<&str> = ["fit"].iter().chain(*arguments).copied().collect();
        let error = refused(&scratch, &arguments);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn mistakes_in_the_formula_are_pointed_at() {
    refused_fits(&[
        (&["y ~ hieght", "train.csv"], "no column \"hieght\""),
        (
            &["y ~ x1 + (1 | stie)", "train.csv"],
            "formula:1:15: no column \"stie\" in the table\n  \
             y ~ x1 + (1 | stie)\n                \
             ^^^^  did you mean \"site\"?",
        ),
        (
            &["y ~ x11", "train.csv"],
            "y ~ x11\n      ^^^  did you mean \"x1\"?",
        ),
        (&["y ~ (x1", "train.csv"], "y ~ (x1\n      ^"),
        (
            &["y ~ lgo(x1)", "train.csv"],
            "y ~ lgo(x1)\n      ^^^  did you mean \"log\"?",
        ),
        (&["y ~ x1 +", "train.csv"], "a term is expected after +"),
        (&["y x1", "train.csv"], "a formula needs a ~"),
        (&["", "train.csv"], "the formula is empty"),
        (&["nope ~ x1", "train.csv"], "no column \"nope\""),
    ]);
}

#[test]
fn mistakes_in_the_model_are_named_with_the_nearest_name() {
    refused_fits(&[
        (
            &["y ~ x1", "train.csv", "--family", "gausian"],
            "did you mean \"gaussian\"?",
        ),
        (
            &["y ~ x1", "train.csv", "--prior", "x3 ~ normal(0, 1)"],
            "no parameter \"x3\" in the model\n  x3 ~ normal(0, 1)\n  ^^  did you mean \"x1\"?",
        ),
        (
            &[
                "y ~ x1 + (1 | site)",
                "train.csv",
                "--prior",
                "sd(stie) ~ half_normal(1)",
            ],
            "did you mean \"sd(site)\"?",
        ),
        (
            &["y ~ x1", "train.csv", "--prior", "nothing ~ normal(0, 1)"],
            "the model has Intercept, x1, ",
        ),
        (
            &[
                "y ~ x1 + (1 | site)",
                "train.csv",
                "--prior",
                "sd(site) ~ normal(0, 1)",
            ],
            "expects a distribution of positive numbers, found normal",
        ),
        (
            &["y ~ x1", "train.csv", "--prior", "x1 ~ norml(0, 1)"],
            "normal",
        ),
        (
            &["y ~ x1", "train.csv", "--prior", "x1"],
            "a prior needs a ~",
        ),
        (
            &["y ~ x1", "train.csv", "--family", "bernoulli"],
            "column \"y\"",
        ),
        (
            &["color ~ x1", "train.csv", "--family", "gaussian"],
            "color",
        ),
    ]);
}

#[test]
fn values_that_a_setting_cannot_have_are_told_before_anything_is_read() {
    for (setting, value, words) in [
        ("--iterations", "many", "expected auto or a number"),
        ("--iterations", "0", "expected auto or a number"),
        ("--batch", "0", "a batch of 0 rows"),
        ("--batch", "1000", "but the table has 60"),
        ("--lanes", "0", "at least one draw per step"),
        ("--surrogate", "random", "expected one of rand"),
    ] {
        let fit = ["y ~ x1", "train.csv", "--method", "sl-dais", setting, value];
        refused_fits(&[(&fit, words)]);
    }
}

#[test]
fn settings_that_cannot_work_are_told_before_anything_is_read() {
    refused_fits(&[
        (
            &["y ~ x1", "train.csv", "--method", "sldais"],
            "expected one of auto, mean-field",
        ),
        (
            &["y ~ x1", "train.csv", "--budget", "soon"],
            "--budget: expected a number of seconds, found \"soon\"",
        ),
        (
            &["y ~ x1", "train.csv", "--lanes", "4"],
            "auto: the method has no setting lanes",
        ),
        (
            &["y ~ x1", "train.csv", "--draws", "5"],
            "fewer than the 25",
        ),
        (
            &[
                "y ~ x1",
                "train.csv",
                "--method",
                "mf",
                "--chain-steps",
                "3",
            ],
            "mean-field: the method has no setting chain-steps\n  \
             hint: dais, ns-dais, ns2-dais, sl-dais and semi-dais have it",
        ),
        (
            &["y ~ x1", "train.csv", "--threads", "0"],
            "at least one thread",
        ),
        (
            &["y ~ x1", "train.csv", "--delimiter", "ab"],
            "expected one character or tab",
        ),
        (
            &["y ~ x1", "train.csv", "-o", "no/such/folder/fit.lehr"],
            "there is no folder no/such/folder",
        ),
        (&["y ~ x1", "train.csv", "-o", "."], "found a folder"),
    ]);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let scratch = scratch();
    scratch.write("notes.txt", "hello");
    scratch.write("broken.parquet", "PAR1 not really");
    for (name, expected) in [
        ("none.csv", "none.csv"),
        ("none-*.csv", "none-*.csv"),
        ("notes.txt", "no column \"y\""),
        ("broken.parquet", "broken.parquet"),
    ] {
        let error = refused(&scratch, &["fit", "y ~ x1", name]);
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn a_file_that_is_no_fit_is_refused_by_every_reader() {
    let scratch = scratch();
    let bytes = std::fs::read(fitted().path("fit.lehr")).unwrap();
    let mut damaged = bytes.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    std::fs::write(scratch.path("damaged.lehr"), damaged).unwrap();
    std::fs::write(scratch.path("short.lehr"), &bytes[..bytes.len() / 3]).unwrap();
    std::fs::write(scratch.path("stub.lehr"), &bytes[..20]).unwrap();
    let put = |name: &str, at: usize, piece: &[u8]| {
        let mut bytes = bytes.clone();
        bytes.splice(
            at..(at + piece.len()).min(bytes.len()),
            piece.iter().copied(),
        );
        std::fs::write(scratch.path(name), bytes).unwrap();
    };
    put("long.lehr", bytes.len(), b"!");
    put("swapped.lehr", 12, b"checkpnt");
    put("older.lehr", 8, &[0]);
    put("newer.lehr", 8, &[200]);
    scratch.write("empty.lehr", "");
    for (name, expected) in [
        ("damaged.lehr", "fail their checksum"),
        ("short.lehr", "the rest is cut off"),
        ("long.lehr", "found more"),
        (
            "stub.lehr",
            "expected a saved fit, found the first 20 bytes of one",
        ),
        (
            "swapped.lehr",
            "expected a saved fit, found a file marked \"checkpnt\"",
        ),
        ("older.lehr", "expected version 10, found version 0"),
        ("newer.lehr", "written by a newer lehr"),
        ("empty.lehr", "expected a saved fit, found an empty file"),
        (
            "train.csv",
            "expected a saved fit, found another kind of file",
        ),
        ("none.lehr", "none.lehr"),
    ] {
        let readers: [&[&str]; 6] = [
            &["summary", name],
            &["draws", name, "-o", "x.csv"],
            &["predict", name, "train.csv", "-o", "x.csv"],
            &["evaluate", name, "train.csv"],
            &["report", name, "-o", "x.html"],
            &["check", name],
        ];
        for reader in readers {
            let error = refused(&scratch, reader);
            assert!(error.contains(expected), "{reader:?}: {error}");
        }
    }
}

#[test]
fn evaluation_without_the_response_is_refused() {
    let scratch = scratch();
    scratch.write("new.csv", "x1,color,site\n0.1,red,s1\n");
    let fit = fitted().path("fit.lehr");
    let error = refused(&scratch, &["evaluate", fit.to_str().unwrap(), "new.csv"]);
    assert!(error.contains("hit"), "{error}");
}

#[test]
fn text_that_looks_like_numbers_is_asked_about_before_any_work() {
    let scratch = Scratch::new();
    let rows: Vec<String> = (0..40).map(|k| format!("{},$1.{k}", k % 5)).collect();
    let table = format!("y,price\n{}\n", rows.join("\n"));
    scratch.write("prices.csv", &table);
    let error = refused(
        &scratch,
        &["fit", "y ~ price", "prices.csv", "-o", "p.lehr"],
    );
    assert!(
        error.contains("found text that looks like numbers, such as \"$1.0\""),
        "{error}"
    );
}

#[test]
fn vector_instructions_that_the_machine_lacks_are_refused() {
    let scratch = scratch();
    let mut command = scratch.command(&["fit", "y ~ x1", "train.csv"]);
    let ended = command.env("LEHR_SIMD", "avx1024").output().unwrap();
    let words = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{words}");
    assert!(
        words.contains("LEHR_SIMD: expected one of scalar,"),
        "{words}"
    );
    assert!(!words.contains("should not have happened"), "{words}");
}
