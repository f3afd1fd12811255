//! Speed of the engine in printed tables, with the targets that it must reach.
//!
//! Names of tables may be given as arguments; otherwise all are printed.

mod annealed;
mod clock;
mod limit;
mod logistic;
mod memory;
mod product;
mod small;

const TABLES: [(&str, fn()); 7] = [
    ("logistic", logistic::table),
    ("surrogate", annealed::surrogate_table),
    ("full", annealed::full_data_table),
    ("product", product::table),
    ("memory", memory::table),
    ("small", small::table),
    ("limit", limit::table),
];

fn main() {
    // Cargo adds a flag of its own.
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    println!("Times in µs: the least, and the median, of many short rounds.\n");
    for (name, table) in TABLES {
        if asked.is_empty() || asked.iter().any(|a| a == name) {
            table();
        }
    }
}
