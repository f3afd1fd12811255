//! The recorded numbers and texts of cases: one line each, with the bits of every number.

use std::collections::HashSet;
use std::fmt::{self, Write};

use anyhow::{Context, Result, ensure};

/// The version of the lines' format, which is raised when the format changes.
const FORM: u32 = 1;

/// Longer vectors are recorded by a hash and both ends.
const SHORT: usize = 16;

/// The number of entries of a long vector that are recorded at each end.
const END: usize = 3;

/// The results of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The vector instructions that it was made with.
    pub instructions: String,
    /// The lines in order.
    pub lines: Vec<Recorded>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// `case/step/quantity`, unique within a transcript.
    pub name: String,
    /// The bits and the decimals, or a text in quotes.
    pub value: String,
}

impl Transcript {
    /// A transcript without lines, of a run with these vector instructions.
    pub fn new(instructions: &str) -> Transcript {
        Transcript {
            instructions: instructions.to_owned(),
            lines: Vec::new(),
        }
    }

    /// Parses the output of a transcript's `Display`.
    ///
    /// # Errors
    /// If it is not a transcript, or has another format version.
    pub fn parse(text: &str) -> Result<Transcript> {
        let (head, body) = text.split_once('\n').unwrap_or((text, ""));
        let instructions = head.strip_prefix(&head_before());
        let instructions = instructions.with_context(|| {
            format!(
                "expected a transcript that begins with {:?}, found {head:?}\n  \
                 hint: make it anew by lehr-lab golden -o FILE",
                head_before()
            )
        })?;
        let line = |line: &str| -> Result<Recorded> {
            let (name, value) = line
                .split_once("  ")
                .with_context(|| format!("expected a name and a value, found {line:?}"))?;
            Ok(Recorded {
                name: name.to_owned(),
                value: value.to_owned(),
            })
        };
        Ok(Transcript {
            instructions: instructions.to_owned(),
            lines: body.lines().map(line).collect::<Result<_>>()?,
        })
    }

    /// Records one number.
    pub fn number(&mut self, name: &str, value: f64) {
        self.numbers(name, &[value]);
    }

    /// Records a vector: all of a short one, a hash and the ends of a long one.
    pub fn numbers(&mut self, name: &str, values: &[f64]) {
        let mut line = String::new();
        let shown = if values.len() > SHORT {
            let bits = values.iter().map(|value| value.to_bits());
            let _ = write!(line, "{} numbers #{:016x} ", values.len(), hash(bits));
            [&values[..END], &values[values.len() - END..]].concat()
        } else {
            values.to_vec()
        };
        let bits: Vec<String> = (shown.iter())
            .map(|value| format!("{:016x}", value.to_bits()))
            .collect();
        let decimals: Vec<String> = shown.iter().copied().map(decimal).collect();
        let _ = write!(line, "{}  {}", bits.join(" "), decimals.join(" "));
        self.push(name, line);
    }

    /// Records a text.
    pub fn text(&mut self, name: &str, text: &str) {
        self.push(name, format!("{text:?}"));
    }

    /// Records a list of texts: all of a short one, a hash and the ends of a long one.
    pub fn texts(&mut self, name: &str, texts: &[String]) {
        if texts.len() <= SHORT {
            return self.push(name, format!("{texts:?}"));
        }
        let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
        let hash = hash(bytes.map(u64::from));
        let ends = [&texts[..END], &texts[texts.len() - END..]].concat();
        self.push(name, format!("{} texts #{hash:016x} {ends:?}", texts.len()));
    }

    /// Adds the lines of another transcript.
    ///
    /// # Errors
    /// If two lines have the same name.
    pub fn extend(&mut self, other: Transcript) -> Result<()> {
        let mut names: HashSet<&str> = self.lines.iter().map(|line| &*line.name).collect();
        for line in &other.lines {
            ensure!(
                names.insert(&line.name),
                "{}: two lines have this name",
                line.name
            );
        }
        self.lines.extend(other.lines);
        Ok(())
    }

    fn push(&mut self, name: &str, value: String) {
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        self.lines.push(Recorded { name, value });
    }
}

/// The first line, and then a line for each quantity.
impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}{}", head_before(), self.instructions)?;
        for Recorded { name, value } in &self.lines {
            writeln!(f, "{name}  {value}")?;
        }
        Ok(())
    }
}

/// The first line, up to the vector instructions.
fn head_before() -> String {
    format!("# lehr-lab golden, form {FORM}, vector instructions ")
}

/// A hash of whole numbers in their order. High bits move down at each step: in a product alone,
/// two changes of sign would cancel.
fn hash(numbers: impl Iterator<Item = u64>) -> u64 {
    let step = |hash: u64, number: u64| {
        let product = (hash ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ (product >> 32)
    };
    numbers.fold(0xcbf2_9ce4_8422_2325, step)
}

/// A number with seven digits, for people.
fn decimal(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.6e}");
    }
    let before = size.log10().floor() as i32;
    format!("{value:.*}", (6 - before).max(0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut made = Transcript::new("avx2");
        made.number("a/fit/elbo", -1.5);
        made.numbers("a/draws/x", &(0..40).map(f64::from).collect::<Vec<_>>());
        made.numbers("a/fit/none", &[]);
        made.text("a/fit/sentence", "two\nlines  and \"quotes\"");
        made.texts("a/fit/names", &["one".into(), "two".into()]);
        assert_eq!(Transcript::parse(&made.to_string()).unwrap(), made);
        assert!(
            made.to_string()
                .contains("a/fit/elbo  bff8000000000000  -1.500000\n")
        );
    }

    #[test]
    fn one_bit_of_a_long_vector_changes_its_line() {
        let value = |moved: f64| {
            let mut values: Vec<f64> = (0..40).map(f64::from).collect();
            values[20] += moved;
            let mut made = Transcript::new("avx2");
            made.numbers("x", &values);
            made.lines.remove(0).value
        };
        assert_eq!(value(0.0), value(0.0));
        assert_ne!(value(0.0), value(20.0 * f64::EPSILON));
    }

    #[test]
    fn two_changes_of_sign_do_not_cancel() {
        let bits = |values: [f64; 3]| hash(values.map(f64::to_bits).into_iter());
        assert_ne!(bits([1.0, 2.0, 3.0]), bits([-1.0, -2.0, 3.0]));
        assert_ne!(bits([1.0, 2.0, 3.0]), bits([2.0, 1.0, 3.0]));
    }

    #[test]
    fn other_files_and_two_lines_of_one_name_are_refused() {
        let error = Transcript::parse("x,y\n1,2\n").unwrap_err().to_string();
        assert!(error.contains("expected a transcript"), "{error}");
        let mut made = Transcript::new("avx2");
        made.number("x", 1.0);
        let error = made.extend(made.clone()).unwrap_err().to_string();
        assert_eq!(error, "x: two lines have this name");
    }
}
