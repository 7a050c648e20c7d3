// graph: attention along the edges of a graph. Veličković et al., 2018; Kipf and Welling, 2017.
#include <cmath>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/painted.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {

namespace {

constexpr float kLeak = 0.2f;

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
  const Var one = reshape(vector, {heads, 1, vector.dim(1)});  // [h, 1, d_k]
  const std::vector<Var> copies(static_cast<std::size_t>(batch), one);
  const Var of_each = batch == 1 ? one : concat(copies, 0);                 // [B h, 1, d_k]
  return reshape(matmul_transposed(x, of_each), {batch, heads, x.dim(1)});  // [B, h, L]
}

// LeakyReLU(a_src . q_i + a_dst . k_j).  [B h, L, L]
Var additive_logits(const OperationInput& input) {
  const Var k = repeat_heads(input.k, input.heads, input.kv_heads);
  const Var rows = products(input.q, weight(input.weights, "graph.src"), input.heads);
  const Var columns = products(k, weight(input.weights, "graph.dst"), input.heads);
  const Index pairs = input.batch * input.heads, length = key_count(input);
  const Var sum = add(reshape(rows, {pairs, query_count(input), 1}),
                      reshape(columns, {pairs, 1, length}));  // [B h, L, L]
  return add(scale(sum, kLeak), scale(relu(sum), 1 - kLeak));
}

// The degrees of all nodes, also of those before the first query.
std::vector<double> degrees(const OperationInput& input) {
  const Index nodes = key_count(input);
  const Pattern pattern = painted_pattern({.values = input.variant.values,
                                           .weights = input.weights,
                                           .heads = input.heads,
                                           .queries = nodes,
                                           .keys = nodes,
                                           .causal = input.causal},
                                          "graph.adjacency", "edge", true);
  std::vector<double> result;
  for (Index i = 0; i < nodes; ++i) {
    result.push_back(static_cast<double>(pattern.row_count(0, i)));
  }
  return result;
}

// On every edge 1 / D_i, or symmetric 1 / sqrt(D_i D_j).  [h, L, L]
Var degree_weights(const OperationInput& input, const Pattern& pattern) {
  const bool symmetric = input.variant.values.choice("normalise") == "symmetric";
  const std::vector<double> degree = degrees(input);
  const Index first = first_position(input);
  Tensor weights = Tensor::zeros({input.heads, pattern.queries(), pattern.keys()});
  for (Index a = 0; a < input.heads; ++a) {
    for (Index i = 0; i < pattern.queries(); ++i) {
      const double of_row = degree[static_cast<std::size_t>(first + i)];
      for (const Run& run : pattern.row(0, i)) {
        for (Index j = run.begin; j < run.end; j += run.step) {
          const double other = symmetric ? degree[static_cast<std::size_t>(j)] : of_row;
          weights(a, i, j) = static_cast<float>(1 / std::sqrt(of_row * other));
        }
      }
    }
  }
  return weights;
}

OperationResult evaluate_graph(const OperationInput& input, Backend& backend, const Wanted& wanted,
                               const Stop& stop) {
  Part part = plain_part(input, ruled_pattern(input, variant(input.variant.id)));
  if (has_graph_mode(input.variant.values, "dot")) {
    apply_encoding(part, input, input.causal);
    return run_part(std::move(part), backend, wanted, stop);
  }
  const bool additive = has_graph_mode(input.variant.values, "additive");
  part.source = Source::Logits;
  part.logits = additive ? additive_logits(input) : degree_weights(input, *part.pattern);
  part.normaliser = additive ? Normaliser::Softmax : Normaliser::None;
  part.q = part.k = Var();
  return run_part(std::move(part), backend, wanted, stop);
}

// Node 0 is the root, 2i + 1 and 2i + 2 hang below i; edges run both ways.
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
      "networks, or, as in graph convolution, from the number of neighbours alone: equal for all "
      "of "
      "them, or smaller for those that have many themselves.";
  v.source =
      "Veličković et al., 2018, Graph attention networks, arXiv:1710.10903; convolution: Kipf and "
      "Welling, 2017, arXiv:1609.02907";
  v.cost = "O(edges·d)";
  v.incremental = true;
  v.parameters = {
      {.key = "mode",
       .symbol = "",
       .label = "Weights",
       .help = "By product, by the additive score, or by the number of neighbours.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("dot"),
       .choices = {"dot", "additive", "convolution"}},
      {.key = "normalise",
       .symbol = "",
       .label = "Normalise",
       .help = "Of the convolution: divided by the degree of the row, or by the root of "
               "both nodes' degrees.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("row"),
       .choices = {"row", "symmetric"}}};
  v.weights = {{.name = "graph.adjacency",
                .help = "Edges of the graph: 1 in row i, column j for one from i to j.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.key_length(), n.key_length()};
                },
                .initial = initial_ones(),
                .shown = binary_tree,
                .constant = true,
                .bytes = true},
               attention_vector("graph.src", "Scores the node that looks."),
               attention_vector("graph.dst", "Scores the node that is looked at.")};
  v.takes_pairs = v.has_terms = [](const Values& values) { return has_graph_mode(values, "dot"); };
  v.has_scores = [](const Values& values) { return !has_graph_mode(values, "convolution"); };
  v.pattern = [](const PatternInput& in) {
    return painted_pattern(in, "graph.adjacency", "edge", true);
  };
  v.weights_from = [](const Values& values) {
    return has_graph_mode(values, "convolution") ? WeightsFrom::Degrees : WeightsFrom::Pairs;
  };
  v.evaluate = evaluate_graph;
  return v;
}

}  // namespace attnscope
