// graph: attention along the edges of a graph. Veličković et al., 2018; Kipf and Welling, 2017.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/painted.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/text/text_structure.h"

namespace attnscope {
namespace {

constexpr float kLeak = 0.2f;

using Edges = std::vector<std::vector<Index>>;

bool has_source(const Values& values, const char* source) {
  return values.choice("from") == source;
}

bool has_adjacency(const Values& values) {
  return has_source(values, "matrix");
}

// Neighbours of each node in ascending order. Ignores edges to tokens beyond the text.
std::vector<std::vector<Index>> find_neighbours(const PatternInput& in, Index nodes) {
  std::vector<std::vector<Index>> neighbours(static_cast<std::size_t>(nodes));
  const auto link = [&](Index i, Index j) { neighbours[static_cast<std::size_t>(i)].push_back(j); };
  if (has_source(in.values, "chain")) {
    for (Index i = 0; i + 1 < nodes; ++i) link(i, i + 1), link(i + 1, i);
  } else if (!in.values.has("edges")) {
    throw InputError(
        "variant.from: expected \"chain\" or \"edges\" for generation, evaluation and training, "
        "which read the text in pieces; found \"brackets\", which needs the whole text");
  } else {
    for (const std::vector<Index>& edge : in.values.get<Edges>("edges")) {
      if (edge[0] >= nodes || edge[1] >= nodes) continue;
      link(edge[0], edge[1]);
      if (!in.values.flag("one_way")) link(edge[1], edge[0]);
    }
  }
  for (std::vector<Index>& row : neighbours) {
    std::ranges::sort(row);
    row.erase(std::ranges::unique(row).begin(), row.end());
  }
  return neighbours;
}

// Pattern S_i of the edges that the parameter `from` selects.
Pattern edge_pattern(const PatternInput& in) {
  if (has_adjacency(in.values)) return painted_pattern(in, "graph.adjacency", "edge", true);
  const auto neighbours = find_neighbours(in, in.keys);
  return build_rows(in, 1, {"edge", "itself"}, [&](PatternBuilder& builder, Index, Index i) {
    for (const Index j : neighbours[static_cast<std::size_t>(i)]) builder.add_column(0, j);
    builder.add_column(1, i);
  });
}

// Edges between the brackets of a pair, from an opening bracket to the tokens directly within the
// pair, and between consecutive tokens that are directly within the same pair or outside all pairs.
Edges bracket_edges(const TextStructure& text) {
  std::set<std::pair<Index, Index>> edges(text.brackets.begin(), text.brackets.end());
  std::map<Index, Index> previous_tokens;  // by enclosing bracket
  for (Index i = 0; i < text.tokens(); ++i) {
    const Index level = text.enclosing[static_cast<std::size_t>(i)];
    if (level >= 0) edges.emplace(level, i);
    const auto [previous, is_first] = previous_tokens.try_emplace(level, i);
    if (!is_first) edges.emplace(std::exchange(previous->second, i), i);
  }
  Edges result;
  for (const auto& [i, j] : edges) result.push_back({i, j});
  return result;
}

void set_edges_from_text(Values& values, const TextStructure& text) {
  if (!has_source(values, "brackets")) return;
  values.set("edges", bracket_edges(text));
  values.set("one_way", false);
}

std::string graph_objection(const Values& values, const Situation&) {
  if (!values.has("edges")) {
    return has_source(values, "edges") ? "edges: expected a list of pairs of tokens, found no list"
                                       : "";
  }
  for (const std::vector<Index>& edge : values.get<Edges>("edges")) {
    if (edge.size() == 2) continue;
    return "edges: expected pairs of tokens such as \"0, 1; 1, 2\", found a list of " +
           std::to_string(edge.size());
  }
  return {};
}

bool has_graph_mode(const Values& values, const char* mode) {
  return values.choice("mode") == mode;
}

WeightInfo attention_vector(const char* name, const char* help) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values&) -> Shape {
            return {n.heads, n.key};
          },
          .initial = initial_projection(),
          .used = [](const Values& values) { return has_graph_mode(values, "additive"); }};
}

// x: [B h, L, d_k], vector: [h, d_k] -> [B, h, L]
Var products(const Var& x, const Var& vector, Index heads) {
  const Index batch = x.dim(0) / heads;
  const Var item_vectors = reshape(vector, {heads, 1, vector.dim(1)});  // [h, 1, d_k]
  const std::vector<Var> copies(static_cast<std::size_t>(batch), item_vectors);
  const Var repeated = batch == 1 ? item_vectors : concat(copies, 0);        // [B h, 1, d_k]
  return reshape(matmul_transposed(x, repeated), {batch, heads, x.dim(1)});  // [B, h, L]
}

// LeakyReLU(a_src . q_i + a_dst . k_j).  [B h, L_q, L]
Var additive_logits(const OperationInput& input) {
  const Var k = repeat_heads(input.k, input.heads, input.kv_heads);
  const Var rows = products(input.q, weight(input.weights, "graph.src"), input.heads);
  const Var columns = products(k, weight(input.weights, "graph.dst"), input.heads);
  const Index pairs = input.batch * input.heads, length = key_count(input);
  const Var sum = add(reshape(rows, {pairs, query_count(input), 1}),
                      reshape(columns, {pairs, 1, length}));  // [B h, L, L]
  return add(scale(sum, kLeak), scale(relu(sum), 1 - kLeak));
}

// Degrees of all nodes, including nodes before the first query.
std::vector<double> degrees(const OperationInput& input) {
  const Index nodes = key_count(input);
  const Pattern pattern = edge_pattern({.values = input.variant.values,
                                        .weights = input.weights,
                                        .heads = input.heads,
                                        .queries = nodes,
                                        .keys = nodes,
                                        .causal = input.causal});
  std::vector<double> result;
  for (Index i = 0; i < nodes; ++i) {
    result.push_back(static_cast<double>(pattern.row_size(0, i)));
  }
  return result;
}

// 1 / D_i on every edge, or 1 / sqrt(D_i D_j) if "normalise" is "symmetric".  [h, L, L]
Var degree_weights(const OperationInput& input, const Pattern& pattern) {
  const bool symmetric = input.variant.values.choice("normalise") == "symmetric";
  const std::vector<double> degree = degrees(input);
  const Index first = first_position(input);
  Tensor weights = Tensor::zeros({input.heads, pattern.queries(), pattern.keys()});
  for (Index a = 0; a < input.heads; ++a) {
    for (Index i = 0; i < pattern.queries(); ++i) {
      check_stop();
      const double row_degree = degree[static_cast<std::size_t>(first + i)];
      for (const Run& run : pattern.row(0, i)) {
        for (Index j = run.begin; j < run.end; j += run.step) {
          const double column_degree = symmetric ? degree[static_cast<std::size_t>(j)] : row_degree;
          weights(a, i, j) = static_cast<float>(1 / std::sqrt(row_degree * column_degree));
        }
      }
    }
  }
  return weights;
}

OperationResult evaluate_graph(const OperationInput& input, Backend& backend,
                               const ResultRequest& wanted) {
  Part part = plain_part(input, ruled_pattern(input, variant(input.variant.id)));
  if (has_graph_mode(input.variant.values, "dot")) {
    apply_encoding(part, input, input.causal);
    return run_part(std::move(part), backend, wanted);
  }
  const bool has_additive_scores = has_graph_mode(input.variant.values, "additive");
  part.source = Source::Logits;
  part.logits = has_additive_scores ? additive_logits(input) : degree_weights(input, *part.pattern);
  part.normaliser = has_additive_scores ? Normaliser::Softmax : Normaliser::None;
  part.q = part.k = Var();
  return run_part(std::move(part), backend, wanted);
}

// Binary tree with root 0 and bidirectional edges. Node i has children 2i + 1 and 2i + 2.
Tensor binary_tree(const Shape& shape, const Situation&, const Values&) {
  Tensor edges = Tensor::zeros(shape);  // [L, L]
  for (Index child = 1; child < shape[0]; ++child) {
    edges(child, (child - 1) / 2) = edges((child - 1) / 2, child) = 1;
  }
  return edges;
}

}  // namespace

Variant graph_variant() {
  Variant v;
  v.id = "graph";
  v.label = "Graph";
  v.group = "Fixed patterns";
  v.equation =
      "Sᵢ = { j : edge i → j } ∪ { i }\n"
      "additive: sᵢⱼ = LeakyReLU(a_src·qᵢ + a_dst·kⱼ);   convolution: aᵢⱼ = 1/Dᵢ or "
      "1/√(Dᵢ Dⱼ)";
  v.summary =
      "Tokens are the nodes of a graph and attend only along its edges and to themselves. The "
      "weights come from the product of query and key, from the additive score of graph attention "
      "networks, or, as in graph convolution, from node degrees alone: equal for all neighbours, "
      "or smaller for those of high degree.";
  v.source =
      "Veličković et al., 2018, Graph attention networks, arXiv:1710.10903; convolution: Kipf and "
      "Welling, 2017, arXiv:1609.02907";
  v.complexity = "O(edges·d)";
  v.cost.growth = {.power = 1};
  v.causality.incremental = always;
  v.parameters = {
      {.key = "mode",
       .symbol = "",
       .label = "Weights",
       .help = "From the product, the additive score, or the number of neighbours.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("dot"),
       .choices = {"dot", "additive", "convolution"}},
      {.key = "normalise",
       .symbol = "",
       .label = "Normalise",
       .help = "Normalisation of the convolution: by the degree of the row, or by the root of both "
               "nodes' degrees.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("row"),
       .choices = {"row", "symmetric"}},
      {.key = "from",
       .symbol = "",
       .label = "Edges",
       .help = "A given matrix (by default a binary tree); a chain of neighbours; the nesting of "
               "brackets and quotation marks in the text; or a list, drawn in the view Graph.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("matrix"),
       .choices = {{"matrix", "Matrix"},
                   {"chain", "Chain"},
                   {"brackets", "Brackets", true},
                   {"edges", "Drawn", true}}},
      {.key = "edges",
       .symbol = "",
       .label = "List of edges",
       .help = "Pairs of tokens, counted from 0: 0, 1; 1, 2. Edges to tokens beyond the text are "
               "ignored.",
       .kind = Parameter::Kind::IntegerLists,
       .optional = true,
       .unset_label = "none",
       .initial = Edges{{0, 1}, {1, 2}}},
      {.key = "one_way",
       .symbol = "",
       .label = "Directed",
       .help = "In a list, only the first token of an edge sees the second.",
       .kind = Parameter::Kind::Flag,
       .initial = false}};
  v.weights = {{.name = "graph.adjacency",
                .help = "Edges of the graph: 1 in row i, column j for an edge from i to j.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.key_length(), n.key_length()};
                },
                .initial = initial_ones(),
                .illustrative = binary_tree,
                .file = {.bytes = true},
                .training = {.constant = true},
                .used = has_adjacency},
               attention_vector("graph.src", "Scores the query node."),
               attention_vector("graph.dst", "Scores the key node.")};
  v.encodings.accepts_pairs =
      v.scores.has_terms = [](const Values& values) { return has_graph_mode(values, "dot"); };
  v.encodings.pairs_refusal = "with these weights has no product of queries and keys";
  v.scores.has_softmax = [](const Values& values) {
    return !has_graph_mode(values, "convolution");
  };
  v.pattern = edge_pattern;
  v.objection = graph_objection;
  v.defaults.from_text = set_edges_from_text;
  v.scores.weights_from = [](const Values& values) {
    return has_graph_mode(values, "convolution") ? WeightsFrom::Degrees : WeightsFrom::Pairs;
  };
  v.evaluate = evaluate_graph;
  return v;
}

}  // namespace attnscope
