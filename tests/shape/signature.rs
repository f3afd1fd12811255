//! No function takes too many values, not even in tuples.

use crate::none;
use crate::source::sources;

/// The largest number of values that a function takes, those of tuples included.
const MOST_PARAMETERS: usize = 5;

/// The parameters of every function of a text, with the function's name.
fn signatures(text: &str) -> Vec<(String, Vec<String>)> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let before = code[..at].chars().next_back();
        if before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
            continue;
        }
        let rest = &code[at + 3..];
        let letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        let name: String = rest.chars().take_while(|c| letter(*c)).collect();
        if let Some(parameters) = parameters(&rest[name.len()..]) {
            found.push((name, parameters));
        }
    }
    found
}

/// The comma-separated parts of the first parentheses after generics.
fn parameters(rest: &str) -> Option<Vec<String>> {
    let (mut angle, mut depth) = (0_i32, 0_i32);
    let (mut parts, mut part, mut last) = (Vec::new(), String::new(), ' ');
    for letter in rest.chars() {
        match letter {
            '<' => angle += 1,
            '>' if last != '-' && last != '=' => angle -= 1,
            '(' | '[' | '{' if depth > 0 || (letter == '(' && angle == 0) => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            '{' | ';' if depth == 0 => return None,
            _ => {}
        }
        last = letter;
        match (letter, depth) {
            ('(', 1) if part.is_empty() && parts.is_empty() && angle == 0 => part.push(' '),
            (')', 0) if !part.is_empty() => {
                parts.push(part.trim().to_string());
                parts.retain(|part| !part.is_empty());
                return Some(parts);
            }
            (',', 1) if angle == 0 => parts.push(std::mem::take(&mut part).trim().to_string()),
            (_, 1..) => part.push(letter),
            _ => {}
        }
    }
    None
}

/// The number of values of a parameter. Those of a tuple count one by one, unless the tuple is a
/// point or a size: numbers of one type.
fn values(parameter: &str) -> usize {
    let kind = match parameter.rsplit_once("): ") {
        Some((pattern, kind)) if pattern.starts_with('(') => kind,
        _ => parameter.split_once(": ").map_or("", |(_, kind)| kind),
    };
    let kind = kind.trim_start_matches('&').trim_start_matches("mut ");
    let parts = kind.starts_with('(').then(|| parameters(kind)).flatten();
    match parts {
        Some(parts) if parts.iter().all(|part| part == "usize" || part == "f64") => 1,
        Some(parts) => parts.len(),
        None => 1,
    }
}

#[test]
fn no_tuple_evades_the_limit_of_parameters() {
    let mut found = Vec::new();
    for file in sources("rs").filter(|file| file.is_shipped()) {
        for (name, parameters) in signatures(&file.without_tests()) {
            let count: usize = parameters.iter().map(|part| values(part)).sum();
            if count > MOST_PARAMETERS && parameters.len() < count {
                found.push(format!("{}: fn {name} takes {count} values", file.path));
            }
        }
    }
    none("functions that hide parameters in tuples", &found);
}

#[test]
fn values_in_tuples_are_counted() {
    let text = "fn a<T: Fn(u8) -> (u8, u8)>(x: T, (b, c): (u8, Vec<(u8, u8)>)) {}
        pub fn plain(&self, pairs: &[(u8, u8)], (x, y): (f64, f64)) -> (u8, u8) {}
        fn typed(
            pair: &mut (u8, [u8; 3], u8),
        ) {}";
    let counts: Vec<usize> = signatures(text)
        .iter()
        .map(|(_, parameters)| parameters.iter().map(|part| values(part)).sum())
        .collect();
    assert_eq!(counts, [3, 3, 3]);
}
