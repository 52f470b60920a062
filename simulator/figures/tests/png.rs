//! Figures of small experiments as SVG and PNG: the same shapes, and texts without a font of the machine.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_experiment::{Experiment, METRICS, Report, Sink, Summary, run_range};
use orchestrion_figures::{Figure, PNG_MARK, Page, figures, page};
use std::io::Cursor;
use std::num::NonZeroUsize;

/// One setting with many values.
const THRESHOLDS: &str = "
description: A test.
seed: 3
runs: 40
grid:
- {setting: thresholds.redebate_below, values: 0.6..0.99:0.01}
plans: {acceptable: 0.7}
debaters: {all: {false_alarm: 0.1, miss: 0.3, confidence: {beta: {alpha: 8, beta: 2}}}}
executor: {success: 0.9}
metrics: [completed, wrong_proceed, time_ms]
calls: {default: {duration: {exponential: 2s}}}
";

/// Two settings, for lines and heat maps.
const PASSES: &str = "
description: A test.
seed: 3
runs: 60
grid:
- {setting: bounds.passes, values: 1..4}
- {setting: thresholds.redebate_below, values: 0.6..0.9:0.1}
plans: {acceptable: 0.7}
debaters: {all: {false_alarm: 0.1, miss: 0.3, confidence: {beta: {alpha: 8, beta: 2}}}}
executor: {success: 0.9}
metrics: [completed, blocked, wrong_proceed, wrong_block, time_ms]
calls: {default: {duration: {exponential: 2s}}}
";

struct NoRows;

impl Sink for NoRows {
    fn receive(&mut self, _: &[u8], _: &Summary) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs an experiment and draws its figures; writes them and their page to the folder of test files, to look at.
fn draw(name: &str, source: &str, change: fn(&mut Summary)) -> Vec<Figure> {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.yaml"));
    std::fs::write(&path, source).unwrap();
    let experiment = Experiment::read(&path).unwrap();
    let mut summary = Summary::empty(&experiment);
    run_range(&experiment, (0, experiment.runs), NonZeroUsize::MIN, false, &mut summary, &mut NoRows)
        .unwrap();
    change(&mut summary);
    let metrics: Vec<_> = METRICS
        .iter()
        .filter(|metric| experiment.metrics.iter().any(|used| used.name == metric.name))
        .collect();
    let report = Report::new(&summary, &metrics);
    let figures = figures(&summary, &report, &metrics).unwrap();
    for figure in &figures {
        std::fs::write(folder.join(format!("{}.svg", figure.name)), figure.svg_on_white().unwrap()).unwrap();
        std::fs::write(folder.join(format!("{}.png", figure.name)), figure.png().unwrap()).unwrap();
    }
    let text = page(&Page {
        report: &report,
        figures: &figures,
        metrics: &metrics,
        description: &experiment.description,
        command: "orchestrion explore run test.yaml",
    });
    std::fs::write(folder.join("page.html"), text.unwrap()).unwrap();
    figures
}

/// A decoded PNG file: its width and height, and red, green and blue of each pixel.
fn decoded(file: &[u8]) -> (usize, usize, Vec<u8>) {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    (info.width as usize, info.height as usize, pixels)
}

#[test]
fn png_shows_each_text_of_svg() {
    // The same shapes as those of budget curves: large values of a setting.
    let as_budgets = |summary: &mut Summary| {
        summary.settings = vec!["contexts.budget_tokens".to_owned()];
        for (step, policy) in (1..).zip(&mut summary.policies) {
            policy.values = vec![(step * 5000).to_string()];
        }
    };
    let experiments: [(_, _, fn(&mut Summary)); 2] =
        [("budgets", THRESHOLDS, as_budgets), ("passes", PASSES, |_| {})];
    for (name, source, change) in experiments {
        let figures = draw(name, source, change);
        assert!(figures.len() > 2, "{name}");
        for figure in &figures {
            let svg = figure.svg().unwrap();
            let document = roxmltree::Document::parse(&svg).unwrap();
            let root = document.root_element();
            let number = |name: &str| root.attribute(name).unwrap().parse::<usize>().unwrap();
            let file = figure.png().unwrap();
            assert!(file.windows(PNG_MARK.len()).take(128).any(|bytes| bytes == PNG_MARK));
            let (width, height, pixels) = decoded(&file);
            assert_eq!((width, height), (2 * number("width"), 2 * number("height")), "{}", figure.name);
            assert_eq!(pixels.first_chunk(), Some(&[255, 255, 255]), "{}: ground", figure.name);
            let texts: Vec<_> = document.descendants().filter(|node| node.has_tag_name("text")).collect();
            assert!(texts.len() > 5, "{}", figure.name);
            for text in texts {
                let place = |name: &str| text.attribute(name).unwrap().parse::<usize>().unwrap() * 2;
                let (x, y) = (place("x"), place("y"));
                // The color of a pixel next to the place differs from that of another one.
                let near = |x: usize, y: usize| {
                    let columns = x.saturating_sub(24)..(x + 24).min(width);
                    let rows = y.saturating_sub(24)..(y + 24).min(height);
                    rows.flat_map(move |row| columns.clone().map(move |column| (column, row)))
                };
                let fill = text.attribute("fill").unwrap();
                let channel = |at: usize| u8::from_str_radix(&fill[at..at + 2], 16).unwrap();
                let ink = [channel(1), channel(3), channel(5)];
                let is_ink = |(column, row): (usize, usize)| {
                    let at = 3 * (row * width + column);
                    pixels[at..at + 3].iter().zip(ink).all(|(found, ink)| found.abs_diff(ink) < 100)
                };
                let count = near(x, y).filter(|at| is_ink(*at)).count();
                assert!(count > 12, "{}: {:?} at {x}, {y}: {count} pixels", figure.name, text.text());
            }
        }
    }
}
