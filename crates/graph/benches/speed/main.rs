//! Speed of the engine, printed as tables: what was asked of it, and its bars.

mod annealed;
mod clock;
mod logistic;
mod product;

fn main() {
    println!("Times in µs: the least, and the median, of many short rounds.\n");
    logistic::table();
    annealed::surrogate_table();
    annealed::full_data_table();
    product::table();
}
