//! The output of commands as lines of a transcript: JSON values and tables of comma-separated text.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::transcript::Transcript;

/// Keys whose values depend on the clock or on the day.
const CLOCK: [&str; 4] = ["seconds", "microseconds_per_iteration", "date", "version"];

/// Records a value and everything within it, except for values that depend on the clock. A list of
/// objects becomes one vector for each of their keys.
pub(super) fn record(transcript: &mut Transcript, name: &str, value: &Value) {
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter().filter(|(key, _)| !CLOCK.contains(&&***key)) {
                record(transcript, &format!("{name}.{key}"), value);
            }
        }
        Value::Array(values) => list(transcript, name, values),
        Value::Number(_) => transcript.number(name, number(value)),
        Value::String(text) => transcript.text(name, text),
        Value::Bool(_) | Value::Null => transcript.text(name, &value.to_string()),
    }
}

fn list(transcript: &mut Transcript, name: &str, values: &[Value]) {
    if values.iter().all(|one| one.is_number() || one.is_null()) {
        let numbers: Vec<f64> = values.iter().map(number).collect();
        transcript.numbers(name, &numbers);
    } else if let Some(texts) = values.iter().map(text).collect::<Option<Vec<String>>>() {
        transcript.texts(name, &texts);
    } else if let Some(objects) = values.iter().map(object).collect::<Option<Vec<_>>>() {
        for key in keys(&objects) {
            let of_key = |one: &&Map<String, Value>| one.get(key).cloned().unwrap_or_default();
            let column: Vec<Value> = objects.iter().map(of_key).collect();
            list(transcript, &format!("{name}.{key}"), &column);
        }
    } else {
        for (k, value) in values.iter().enumerate() {
            record(transcript, &format!("{name}[{k}]"), value);
        }
    }
}

/// The keys that some object has, without those of the clock.
fn keys<'o>(objects: &[&'o Map<String, Value>]) -> BTreeSet<&'o str> {
    let keys = objects.iter().flat_map(|one| one.keys());
    let keys = keys.map(String::as_str);
    keys.filter(|key| !CLOCK.contains(key)).collect()
}

/// A number; NaN for one that is not finite, which JSON has no number for.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// A text or a Boolean value; a missing text is empty.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null => Some(String::new()),
        _ => None,
    }
}

fn object(value: &Value) -> Option<&Map<String, Value>> {
    value.as_object()
}

/// Records every column of comma-separated text: as numbers if all cells are numbers or empty, else as texts.
pub(super) fn record_csv(transcript: &mut Transcript, name: &str, text: &str) {
    let mut rows = text.lines().map(cells);
    let head = rows.next().unwrap_or_default();
    let rows: Vec<Vec<String>> = rows.collect();
    for (k, column) in head.iter().enumerate() {
        let cells: Vec<String> = rows.iter().map(|row| row[k].clone()).collect();
        let name = format!("{name}.{column}");
        match cells
            .iter()
            .map(|cell| parsed(cell))
            .collect::<Option<Vec<f64>>>()
        {
            Some(numbers) => transcript.numbers(&name, &numbers),
            None => transcript.texts(&name, &cells),
        }
    }
}

fn parsed(cell: &str) -> Option<f64> {
    if cell.is_empty() {
        return Some(f64::NAN);
    }
    cell.parse().ok()
}

/// The cells of a record; quoted cells may contain commas.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("never empty").push(letter),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn recorded(value: &Value) -> Vec<String> {
        let mut made = Transcript::new("avx2");
        record(&mut made, "a/fit", value);
        let lines = made.lines.into_iter();
        lines
            .map(|line| format!("{} {}", line.name, line.value))
            .collect()
    }

    #[test]
    fn objects_in_a_list_are_columns_and_the_clock_is_left_out() {
        let value = json!({
            "elbo": {"mean": -2.0, "se": null, "seconds": 3.0},
            "coefficients": [{"name": "x", "mean": 1.0}, {"name": "z", "mean": 2.0, "group": "g"}],
            "converged": true,
            "version": "1",
        });
        let expected = [
            "a/fit.coefficients.group [\"\", \"g\"]",
            "a/fit.coefficients.mean 3ff0000000000000 4000000000000000  1.000000 2.000000",
            "a/fit.coefficients.name [\"x\", \"z\"]",
            "a/fit.converged \"true\"",
            "a/fit.elbo.mean c000000000000000  -2.000000",
            "a/fit.elbo.se \"null\"",
        ];
        let mut found = recorded(&value);
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn every_number_of_a_mixed_list_is_recorded() {
        let value = json!({"high_k": [[4, 0.5], [7, 0.25]], "mixed": [1, "two"]});
        assert_eq!(recorded(&value).len(), 4);
    }

    #[test]
    fn columns_of_a_table_are_numbers_or_texts() {
        let mut made = Transcript::new("avx2");
        record_csv(&mut made, "t", "x,\"a,b\",name\n1,,one\n2.5,3,two\n");
        let values: Vec<&str> = made.lines.iter().map(|line| &*line.name).collect();
        assert_eq!(values, ["t.x", "t.a,b", "t.name"]);
        assert!(made.lines[0].value.ends_with("1.000000 2.500000"));
        assert!(made.lines[1].value.ends_with("NaN 3.000000"));
        assert_eq!(made.lines[2].value, "[\"one\", \"two\"]");
    }
}
