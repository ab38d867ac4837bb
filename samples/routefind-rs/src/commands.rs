//! One function for each command: a graph and options in, the text to print out.

use crate::graph::Graph;
use crate::options::{Algorithm, Command, Format, Options};
use crate::output::{self, Cell};
use crate::search;
use crate::Error;

pub fn run(command: Command, options: &Options) -> Result<String, Error> {
    if command == Command::Config {
        return config(options);
    }
    if options.from.is_none() && matches!(command, Command::Path | Command::Reach) {
        return Err(Error::Usage("--from NODE is required".to_string()));
    }
    if options.to.is_none() && command == Command::Path {
        return Err(Error::Usage("--to NODE is required".to_string()));
    }
    let graph = Graph::read(&options.files)?;
    match command {
        Command::Path => path(&graph, options),
        Command::Reach => reach(&graph, options),
        Command::Stats => stats(&graph, options),
        Command::Components => components(&graph, options),
        Command::Mst => {
            let forest = search::spanning_forest(&graph);
            let mut text = output::edges(&graph, &forest, false, options)?;
            if options.format == Format::Text {
                let total: f64 = forest.iter().map(|edge| edge.weight).sum();
                text += &format!("total {}\n", number(total.abs(), options));
            }
            Ok(text)
        }
        Command::Export => output::edges(&graph, &graph.edges, options.directed, options),
        Command::Config => unreachable!("handled above"),
    }
}

fn number(value: f64, options: &Options) -> String {
    format!("{:.*}", options.precision, value)
}

/// The distance, which is a whole number of edges when they are counted. Nothing narrows the way from a node to itself.
fn distance(value: f64, options: &Options) -> Cell {
    match options.algorithm {
        Algorithm::Hops => Cell::Number(format!("{value:.0}")),
        _ if value.is_infinite() => Cell::Text("-".to_string()),
        _ => Cell::Number(number(value, options)),
    }
}

fn nodes(graph: &Graph, names: &[String]) -> Result<Vec<usize>, Error> {
    names.iter().map(|name| graph.node(name)).collect()
}

fn path(graph: &Graph, options: &Options) -> Result<String, Error> {
    let mut names: Vec<String> = options.from.iter().cloned().collect();
    names.extend(options.via.iter().cloned());
    names.extend(options.to.iter().cloned());
    let stops = nodes(graph, &names)?;
    let avoided = nodes(graph, &options.avoid)?;
    let neighbours = graph.neighbours(options.directed);
    let widest = options.algorithm == Algorithm::Widest;
    let mut so_far = if widest { f64::INFINITY } else { 0.0 };
    let mut rows = vec![vec![Cell::Text(names[0].clone()), distance(so_far, options)]];
    for leg in stops.windows(2) {
        let best = search::reach(&neighbours, leg[0], &avoided, options.algorithm);
        let way = search::trace(&best, leg[1]).ok_or_else(|| {
            Error::Runtime(format!("no route from '{}' to '{}'", graph.names[leg[0]], graph.names[leg[1]]))
        })?;
        let combine = |length: f64| if widest { so_far.min(length) } else { so_far + length };
        for &node in &way[1..] {
            let length = best[node].map_or(0.0, |reached| reached.distance);
            rows.push(vec![Cell::Text(graph.names[node].clone()), distance(combine(length), options)]);
        }
        so_far = combine(best[leg[1]].map_or(0.0, |reached| reached.distance));
    }
    output::table(&["node", "distance"], &rows, options.format)
}

fn reach(graph: &Graph, options: &Options) -> Result<String, Error> {
    let start = graph.node(options.from.as_deref().unwrap_or_default())?;
    let avoided = nodes(graph, &options.avoid)?;
    let best = search::reach(&graph.neighbours(options.directed), start, &avoided, options.algorithm);
    let mut found: Vec<(f64, usize)> = Vec::new();
    for (node, reached) in best.iter().enumerate() {
        if let Some(reached) = reached {
            if reached.distance <= options.limit.unwrap_or(f64::INFINITY) {
                found.push((reached.distance, node));
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let rows: Vec<Vec<Cell>> = found
        .iter()
        .map(|&(length, node)| vec![Cell::Text(graph.names[node].clone()), distance(length, options)])
        .collect();
    output::table(&["node", "distance"], &rows, options.format)
}

fn stats(graph: &Graph, options: &Options) -> Result<String, Error> {
    let neighbours = graph.neighbours(options.directed);
    let degrees = || neighbours.iter().map(Vec::len);
    let weights = || graph.edges.iter().map(|edge| edge.weight);
    let total: f64 = weights().fold(0.0, |sum, weight| sum + weight);
    let mut rows = vec![
        ("nodes", graph.names.len().to_string()),
        ("edges", graph.edges.len().to_string()),
        ("loops", graph.edges.iter().filter(|edge| edge.from == edge.to).count().to_string()),
        (
            "isolated",
            search::components(graph, false).iter().filter(|group| group.len() == 1).count().to_string(),
        ),
        ("components", search::components(graph, options.directed).len().to_string()),
        ("min degree", degrees().min().unwrap_or(0).to_string()),
        ("max degree", degrees().max().unwrap_or(0).to_string()),
        ("total weight", number(total, options)),
    ];
    if !graph.edges.is_empty() {
        rows.push(("min weight", number(weights().fold(f64::INFINITY, f64::min), options)));
        rows.push(("max weight", number(weights().fold(0.0, f64::max), options)));
        rows.push(("mean weight", number(total / graph.edges.len() as f64, options)));
    }
    let rows: Vec<Vec<Cell>> =
        rows.into_iter().map(|(key, value)| vec![Cell::Text(key.to_string()), Cell::Number(value)]).collect();
    output::table(&["measure", "value"], &rows, options.format)
}

fn components(graph: &Graph, options: &Options) -> Result<String, Error> {
    let mut rows = Vec::new();
    for (index, group) in search::components(graph, options.directed).iter().enumerate() {
        let names: Vec<&str> = group.iter().map(|&node| graph.names[node].as_str()).collect();
        rows.push(vec![
            Cell::Number((index + 1).to_string()),
            Cell::Number(names.len().to_string()),
            Cell::Text(names.join(" ")),
        ]);
    }
    output::table(&["component", "size", "nodes"], &rows, options.format)
}

fn config(options: &Options) -> Result<String, Error> {
    if !options.files.is_empty() {
        return Err(Error::Usage("config takes no files".to_string()));
    }
    let rows: Vec<Vec<Cell>> = options
        .settings()
        .into_iter()
        .map(|(key, value)| vec![Cell::Text(key.to_string()), Cell::Text(value)])
        .collect();
    output::table(&["key", "value"], &rows, options.format)
}
