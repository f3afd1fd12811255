//! Marginals side by side, as one SVG file.

use std::fmt::Write;

/// The marginals of one number in one problem.
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) axis: String,
    /// Draws of the reference.
    pub(crate) reference: Vec<f64>,
    /// Draws of each method.
    pub(crate) lines: Vec<Vec<f64>>,
}

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 210.0;
const TOP: f64 = 34.0;
const BASE: f64 = 170.0;
const PAD: f64 = 14.0;
const POINTS: usize = 160;
/// Full rank and the chain; the dashes also distinguish them without colour.
const LINES: [(&str, &str, &str); 2] = [
    ("full rank", "#d95f02", "5 3"),
    ("SL-DAIS", "#1b6ca8", "none"),
];

/// The picture of all panels.
pub(crate) fn svg(panels: &[Panel]) -> String {
    let width = WIDTH * panels.len() as f64;
    let total = HEIGHT + 30.0;
    let mut page = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {total}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{total}\" fill=\"#ffffff\"/>\n"
    );
    for (place, panel) in panels.iter().enumerate() {
        let _ = write!(
            page,
            "<g transform=\"translate({} 0)\">",
            place as f64 * WIDTH
        );
        panel.draw(&mut page);
        page.push_str("</g>\n");
    }
    legend(&mut page);
    page.push_str("</svg>\n");
    page
}

fn legend(page: &mut String) {
    let y = HEIGHT + 12.0;
    let _ = writeln!(
        page,
        "<rect x=\"{PAD}\" y=\"{}\" width=\"22\" height=\"10\" fill=\"#c9c9c9\"/>\
         <text x=\"{}\" y=\"{}\">NUTS, the reference</text>",
        y - 9.0,
        PAD + 28.0,
        y
    );
    for (place, (name, colour, dash)) in LINES.iter().enumerate() {
        let x = 180.0 + 110.0 * place as f64;
        let _ = writeln!(
            page,
            "<line x1=\"{x}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{colour}\" \
             stroke-width=\"2\" stroke-dasharray=\"{dash}\"/><text x=\"{}\" y=\"{y}\">{name}</text>",
            x + 26.0,
            y - 4.0,
            y - 4.0,
            x + 32.0
        );
    }
}

impl Panel {
    fn draw(&self, page: &mut String) {
        let range = range(&self.reference);
        let reference = density(&self.reference, range);
        let lines: Vec<Vec<f64>> = self.lines.iter().map(|l| density(l, range)).collect();
        let all = reference.iter().chain(lines.iter().flatten());
        let top = all.fold(0.0_f64, |top, value| top.max(*value));
        let area = path(&reference, top);
        let _ = write!(
            page,
            "<text x=\"{PAD}\" y=\"20\" font-weight=\"600\">{}</text>\
             <path d=\"{area} L{} {BASE} L{PAD} {BASE} Z\" fill=\"#c9c9c9\"/>",
            self.title,
            WIDTH - PAD
        );
        for (line, (_, colour, dash)) in lines.iter().zip(LINES) {
            let _ = write!(
                page,
                "<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
                 stroke-dasharray=\"{dash}\"/>",
                path(line, top)
            );
        }
        self.axis(page, range);
    }

    fn axis(&self, page: &mut String, (low, high): (f64, f64)) {
        let _ = write!(
            page,
            "<line x1=\"{PAD}\" x2=\"{}\" y1=\"{BASE}\" y2=\"{BASE}\" stroke=\"#444444\"/>",
            WIDTH - PAD
        );
        for tick in 0..=4 {
            let share = f64::from(tick) / 4.0;
            let x = PAD + share * (WIDTH - 2.0 * PAD);
            let value = low + share * (high - low);
            let anchor = ["start", "middle", "middle", "middle", "end"][tick as usize];
            let _ = write!(
                page,
                "<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\" fill=\"#444444\">{value:.1}</text>",
                BASE + 16.0
            );
        }
        let _ = write!(
            page,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#444444\">{}</text>",
            0.5 * WIDTH,
            BASE + 34.0,
            self.axis
        );
    }
}

/// The range between the 0.5 % and the 99.5 % quantile of the draws.
fn range(draws: &[f64]) -> (f64, f64) {
    let sorted = lehr::numeric::summary::sorted(draws);
    let at = |p| lehr::numeric::summary::quantile(&sorted, p);
    (at(0.005), at(0.995))
}

/// A Gaussian kernel estimate on a grid, by Silverman's rule.
fn density(draws: &[f64], (low, high): (f64, f64)) -> Vec<f64> {
    let sorted = lehr::numeric::summary::sorted(draws);
    let at = |p| lehr::numeric::summary::quantile(&sorted, p);
    let spread = lehr::numeric::summary::sd(draws).min((at(0.75) - at(0.25)) / 1.34);
    let width = 0.9 * spread * (draws.len() as f64).powf(-0.2);
    let grid = (0..POINTS).map(|k| low + (high - low) * k as f64 / (POINTS - 1) as f64);
    let scale = 1.0 / (draws.len() as f64 * width * (2.0 * std::f64::consts::PI).sqrt());
    grid.map(|x| {
        let kernel = |draw: &f64| (-0.5 * ((x - draw) / width).powi(2)).exp();
        draws.iter().map(kernel).sum::<f64>() * scale
    })
    .collect()
}

fn path(values: &[f64], top: f64) -> String {
    let mut path = String::new();
    for (k, value) in values.iter().enumerate() {
        let x = PAD + (WIDTH - 2.0 * PAD) * k as f64 / (POINTS - 1) as f64;
        let y = BASE - (BASE - TOP) * value / top;
        let _ = write!(path, "{}{x:.1} {y:.1}", if k == 0 { "M" } else { " L" });
    }
    path
}
