//! The algorithms. Ties are broken by the order in which nodes appear in the input, so results never vary.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::graph::{Edge, Graph};
use crate::options::Algorithm;

/// The best known way to a node; `previous` is the node itself at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    pub distance: f64,
    pub previous: usize,
}

struct Candidate {
    cost: f64,
    node: usize,
    reached: Reached,
}

impl Ord for Candidate {
    /// A `BinaryHeap` pops the greatest: the lowest cost, then the first node.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_cost = other.cost.total_cmp(&self.cost);
        by_cost.then(other.node.cmp(&self.node)).then(other.reached.previous.cmp(&self.reached.previous))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// The best way from `start` to every node that can be reached without the `avoided` ones.
pub fn reach(
    neighbours: &[Vec<(usize, f64)>],
    start: usize,
    avoided: &[usize],
    algorithm: Algorithm,
) -> Vec<Option<Reached>> {
    let mut best = vec![None; neighbours.len()];
    let mut queue = BinaryHeap::new();
    let origin = if algorithm == Algorithm::Widest { f64::INFINITY } else { 0.0 };
    let first = Reached { distance: origin, previous: start };
    queue.push(Candidate { cost: -origin, node: start, reached: first });
    while let Some(Candidate { node, reached, .. }) = queue.pop() {
        if best[node].is_some() || avoided.contains(&node) {
            continue;
        }
        best[node] = Some(reached);
        for &(next, weight) in &neighbours[node] {
            let (distance, sign) = match algorithm {
                Algorithm::Dijkstra => (reached.distance + weight, 1.0),
                Algorithm::Hops => (reached.distance + 1.0, 1.0),
                Algorithm::Widest => (reached.distance.min(weight), -1.0),
            };
            let reached = Reached { distance, previous: node };
            queue.push(Candidate { cost: sign * distance, node: next, reached });
        }
    }
    best
}

/// The nodes from the start of `best` to `end`, or none when it was not reached.
pub fn trace(best: &[Option<Reached>], end: usize) -> Option<Vec<usize>> {
    let mut nodes = vec![end];
    let mut node = end;
    loop {
        let previous = best[node]?.previous;
        if previous == node {
            nodes.reverse();
            return Some(nodes);
        }
        nodes.push(previous);
        node = previous;
    }
}

fn visited_from(neighbours: &[Vec<(usize, f64)>], start: usize) -> Vec<bool> {
    let mut visited = vec![false; neighbours.len()];
    let mut stack = vec![start];
    while let Some(node) = stack.pop() {
        if !std::mem::replace(&mut visited[node], true) {
            stack.extend(neighbours[node].iter().map(|&(next, _)| next));
        }
    }
    visited
}

/// Groups of nodes that reach each other: largest first, then by first node.
pub fn components(graph: &Graph, directed: bool) -> Vec<Vec<usize>> {
    let forward = graph.neighbours(directed);
    let mut backward = vec![Vec::new(); forward.len()];
    for (node, targets) in forward.iter().enumerate() {
        for &(target, weight) in targets {
            backward[target].push((node, weight));
        }
    }
    let mut taken = vec![false; forward.len()];
    let mut groups = Vec::new();
    for start in 0..forward.len() {
        if taken[start] {
            continue;
        }
        let (out, back) = (visited_from(&forward, start), visited_from(&backward, start));
        let group: Vec<usize> = (0..forward.len()).filter(|&node| out[node] && back[node]).collect();
        for &node in &group {
            taken[node] = true;
        }
        groups.push(group);
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    groups
}

/// Kruskal's algorithm: a minimum spanning tree of each component, lightest edges first.
pub fn spanning_forest(graph: &Graph) -> Vec<Edge> {
    fn root(parents: &mut [usize], mut node: usize) -> usize {
        while parents[node] != node {
            parents[node] = parents[parents[node]];
            node = parents[node];
        }
        node
    }
    let mut parents: Vec<usize> = (0..graph.names.len()).collect();
    let mut edges = graph.edges.clone();
    edges.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    edges.retain(|edge| {
        let (a, b) = (root(&mut parents, edge.from), root(&mut parents, edge.to));
        parents[a] = b;
        a != b
    });
    edges
}
