//! Amounts of memory as users type them.

use std::str::FromStr;

/// A number of bytes, typed as `512MB`, `1GiB` or `0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(
    /// The bytes.
    pub u64,
);

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Memory, String> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = text.split_at(end.unwrap_or(text.len()));
        let bytes = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1.0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            "t" | "tb" => 1e12,
            "kib" => 1024.0,
            "mib" => 1_048_576.0,
            "gib" => 1_073_741_824.0,
            "tib" => 1_099_511_627_776.0,
            _ => return Err("expected an amount such as 512MB or 1GiB".into()),
        };
        match number.parse::<f64>() {
            Ok(count) => Ok(Memory((count * bytes) as u64)),
            Err(_) => Err("expected an amount such as 512MB or 1GiB".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_units() {
        for (text, bytes) in [
            ("0", 0),
            ("512MB", 512_000_000),
            ("1GiB", 1 << 30),
            ("1.5 k", 1500),
        ] {
            assert_eq!(text.parse(), Ok(Memory(bytes)), "{text}");
        }
        for text in ["", "MB", "12 apples", "-1GB", "1..2MB"] {
            assert!(text.parse::<Memory>().is_err(), "{text}");
        }
    }
}
