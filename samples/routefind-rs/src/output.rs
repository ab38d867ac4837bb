//! Tables and edge lists, printed in any of the formats.

use crate::graph::{Edge, Graph};
use crate::options::{Format, Options};
use crate::Error;

pub enum Cell {
    Text(String),
    Number(String),
}

impl Cell {
    fn text(&self) -> &str {
        match self {
            Cell::Text(text) | Cell::Number(text) => text,
        }
    }

    fn json(&self) -> String {
        match self {
            Cell::Number(text) => text.clone(),
            Cell::Text(text) => quote(text),
        }
    }
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control < ' ' => quoted += &format!("\\u{:04x}", control as u32),
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

fn csv(text: &str) -> String {
    if text.contains(|character| ",\"\n".contains(character)) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

pub fn table(titles: &[&str], rows: &[Vec<Cell>], format: Format) -> Result<String, Error> {
    let mut text = String::new();
    match format {
        Format::Dot => return Err(Error::Usage("--format dot works only with export and mst".to_string())),
        Format::Csv => {
            text += &(titles.join(",") + "\n");
            for row in rows {
                let cells: Vec<String> = row.iter().map(|cell| csv(cell.text())).collect();
                text += &(cells.join(",") + "\n");
            }
        }
        Format::Json => {
            let objects: Vec<String> = rows
                .iter()
                .map(|row| {
                    let pairs = titles.iter().zip(row);
                    let pairs: Vec<String> =
                        pairs.map(|(title, cell)| format!("{}: {}", quote(title), cell.json())).collect();
                    format!("\n  {{{}}}", pairs.join(", "))
                })
                .collect();
            let end = if rows.is_empty() { "" } else { "\n" };
            text = format!("[{}{end}]\n", objects.join(","));
        }
        Format::Text => {
            let width_of = |column: usize| {
                let widths = rows.iter().map(|row| row[column].text().chars().count());
                widths.max().unwrap_or(0).max(titles[column].len())
            };
            let widths: Vec<usize> = (0..titles.len()).map(width_of).collect();
            let mut line = String::new();
            for (title, &width) in titles.iter().zip(&widths) {
                line += &format!("{title:<width$}  ");
            }
            text += &format!("{}\n", line.trim_end());
            for row in rows {
                line.clear();
                for (cell, &width) in row.iter().zip(&widths) {
                    line += &match cell {
                        Cell::Text(text) => format!("{text:<width$}  "),
                        Cell::Number(text) => format!("{text:>width$}  "),
                    };
                }
                text += &format!("{}\n", line.trim_end());
            }
        }
    }
    Ok(text)
}

pub fn edges(graph: &Graph, edges: &[Edge], directed: bool, options: &Options) -> Result<String, Error> {
    let weight = |edge: &Edge| format!("{:.*}", options.precision, edge.weight);
    if options.format == Format::Dot {
        let (kind, arrow) = if directed { ("digraph", "->") } else { ("graph", "--") };
        let mut text = format!("{kind} {{\n");
        for name in &graph.names {
            text += &format!("  {};\n", quote(name));
        }
        for edge in edges {
            let (from, to) = (quote(&graph.names[edge.from]), quote(&graph.names[edge.to]));
            text += &format!("  {from} {arrow} {to} [label={}];\n", weight(edge));
        }
        return Ok(text + "}\n");
    }
    let rows: Vec<Vec<Cell>> = edges
        .iter()
        .map(|edge| {
            let (from, to) = (graph.names[edge.from].clone(), graph.names[edge.to].clone());
            vec![Cell::Text(from), Cell::Text(to), Cell::Number(weight(edge))]
        })
        .collect();
    table(&["from", "to", "weight"], &rows, options.format)
}
