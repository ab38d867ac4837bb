//! Graphs and the edge-list format: `FROM TO [WEIGHT]` a line, separated by blanks or commas; a line with one
//! name adds a node without edges; `#` starts a comment. Nodes keep the order in which they first appear.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};

use crate::Error;

#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub weight: f64,
}

#[derive(Debug, Default)]
pub struct Graph {
    pub names: Vec<String>,
    pub edges: Vec<Edge>,
    index: HashMap<String, usize>,
}

impl Graph {
    /// Reads all files into one graph; `-` and no file at all mean standard input.
    pub fn read(files: &[String]) -> Result<Graph, Error> {
        let mut graph = Graph::default();
        let standard = ["-".to_string()];
        for path in if files.is_empty() { &standard[..] } else { files } {
            let (mut bytes, label) = (Vec::new(), if path == "-" { "(stdin)" } else { path });
            let outcome =
                if path == "-" { io::stdin().read_to_end(&mut bytes).map(|_| bytes) } else { fs::read(path) };
            let bytes = outcome.map_err(|error| Error::Runtime(format!("{label}: {error}")))?;
            let text = String::from_utf8(bytes).map_err(|error| {
                Error::Runtime(format!("{label}: not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
            })?;
            graph.parse(&text, label)?;
        }
        Ok(graph)
    }

    pub fn parse(&mut self, text: &str, label: &str) -> Result<(), Error> {
        for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            self.parse_line(line)
                .map_err(|problem| Error::Runtime(format!("{label}:{}: {problem}", number + 1)))?;
        }
        Ok(())
    }

    fn parse_line(&mut self, line: &str) -> Result<(), String> {
        let fields: Vec<&str> = if line.contains(',') {
            line.split(',').map(str::trim).collect()
        } else {
            line.split_whitespace().collect()
        };
        if fields.iter().any(|field| field.is_empty()) {
            return Err("empty field".to_string());
        }
        let weight = match fields.get(2) {
            None => 1.0,
            Some(text) => match text.parse::<f64>() {
                Ok(weight) if weight.is_finite() && weight >= 0.0 => weight,
                Ok(_) => return Err(format!("weight '{text}' is negative or not finite")),
                Err(_) => return Err(format!("weight '{text}' is not a number")),
            },
        };
        match fields[..] {
            [name] => {
                self.add_node(name);
            }
            [from, to] | [from, to, _] => {
                let (from, to) = (self.add_node(from), self.add_node(to));
                self.edges.push(Edge { from, to, weight });
            }
            _ => return Err(format!("expected FROM TO [WEIGHT], found {} fields", fields.len())),
        }
        Ok(())
    }

    fn add_node(&mut self, name: &str) -> usize {
        if let Some(&node) = self.index.get(name) {
            return node;
        }
        self.names.push(name.to_string());
        self.index.insert(name.to_string(), self.names.len() - 1);
        self.names.len() - 1
    }

    pub fn node(&self, name: &str) -> Result<usize, Error> {
        let found = self.index.get(name).copied();
        found.ok_or_else(|| Error::Runtime(format!("no node is named '{name}'")))
    }

    /// Neighbours of every node, in the order of the edges.
    pub fn neighbours(&self, directed: bool) -> Vec<Vec<(usize, f64)>> {
        let mut neighbours = vec![Vec::new(); self.names.len()];
        for edge in &self.edges {
            neighbours[edge.from].push((edge.to, edge.weight));
            if !directed && edge.from != edge.to {
                neighbours[edge.to].push((edge.from, edge.weight));
            }
        }
        neighbours
    }
}
