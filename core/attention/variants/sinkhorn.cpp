// sinkhorn: key blocks sorted by a learned, nearly one-to-one matching. Tay et al., 2020.
#include <algorithm>
#include <cmath>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/causal_matching.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

constexpr float kMinVisible = 1e-6f;  // minimum P_IJ that counts as visible

bool sorts_by_content(const Values& values) {
  return values.choice("sorting") == "content";
}
bool has_stored_scores(const Values& values) {
  return !sorts_by_content(values);
}
bool adds_dense(const Values& values) {
  return values.choice("mixture") == "dense";
}

// First `blocks` entries of a weight along `axis`.
Var first_blocks(const NamedVars& weights, const char* name, Index axis, Index blocks) {
  const Var& stored = weight(weights, name);
  if (stored.dim(axis) >= blocks) return slice(stored, axis, 0, blocks);
  throw InputError(std::string(name) + ": expected at least " + std::to_string(blocks) +
                   " blocks, found " + std::to_string(stored.dim(axis)));
}

// Sums of the tokens of each block; in causal order, of all tokens up to the block's first one.
Var block_sums(const OperationInput& input, Index blocks) {
  const Index length = input.x.dim(1), block = length / blocks;
  Tensor sums = Tensor::zeros({blocks, length});
  for (Index row = 0; row < blocks; ++row) {
    const Index begin = input.causal ? 0 : row * block;
    const Index end = input.causal ? row * block + 1 : begin + block;
    std::fill(sums.data() + row * length + begin, sums.data() + row * length + end, 1.0f);
  }
  return matmul(Var(sums), reshape(input.x, {length, input.x.dim(2)}));  // [n, d]
}

// Scores that a network of two layers predicts from the blocks' contents.  [h, n, n]
Var predicted_logits(const OperationInput& input, Index blocks) {
  const Var& w1 = weight(input.weights, "sinkhorn.w1");  // [h, d, a]
  const Index heads = w1.dim(0), model = w1.dim(1), inner = w1.dim(2);
  const Var columns = reshape(permute(w1, {1, 0, 2}), {model, heads * inner});
  const Var offsets = reshape(weight(input.weights, "sinkhorn.b1"), {heads * inner});
  const Var hidden = relu(add(matmul(block_sums(input, blocks), columns), offsets));  // [n, h a]
  const Var by_head = permute(reshape(hidden, {blocks, heads, inner}), {1, 0, 2});    // [h, n, a]
  const Var products = matmul(by_head, first_blocks(input.weights, "sinkhorn.w2", 2, blocks));
  const Var bias = first_blocks(input.weights, "sinkhorn.b2", 1, blocks);
  return add(products, reshape(bias, {heads, 1, blocks}));
}

// Scores of the n blocks of the text.  [h, n, n]
Var block_logits(const OperationInput& input, Index blocks) {
  if (sorts_by_content(input.variant.values)) return predicted_logits(input, blocks);
  return slice(first_blocks(input.weights, "sinkhorn.logits", 1, blocks), 2, 0, blocks);
}

// P after rounds of row and column normalisation in log space (Sinkhorn, 1964).  [h, n, n]
Var matching(const OperationInput& input, const Var& logits) {
  const Values& values = input.variant.values;
  Var log_p =
      multiply(logits, Tensor::full({1}, static_cast<float>(1 / values.real("temperature"))));
  if (input.causal) return causal_matching(log_p, values.integer("iterations"));
  for (Index n = 0; n < values.integer("iterations"); ++n) {
    check_stop();
    log_p = log_softmax(log_p);                        // rows
    log_p = transpose(log_softmax(transpose(log_p)));  // columns
  }
  return exp(log_p);
}

// sum_J P_IJ X_J, block by block. x: [B h, L, e], p: [h, n, n].  [B h, L, e]
Var sorted_blocks(const Var& p, const Var& x, Index batch) {
  const Index blocks = p.dim(1), pairs = x.dim(0);
  const std::vector<Var> copies(static_cast<std::size_t>(batch), p);
  const Var repeated_p = batch == 1 ? p : concat(copies, 0);  // [B h, n, n]
  const Var x_blocks = reshape(x, {pairs, blocks, x.dim(1) / blocks * x.dim(2)});
  return reshape(matmul(repeated_p, x_blocks), x.shape());
}

// Pattern in which block I attends to K_I in columns [0, L) and sorted K'_I in columns [L, 2 L). In
// causal order, K_I ends at the query, and block 0 has no sorted keys.
Pattern two_block_pattern(Index length, Index block, bool causal) {
  PatternBuilder rows(1, length, 2 * length, {"own block", "sorted block"});
  for (Index i = 0; i < length; ++i) {
    const Index first = i / block * block;
    rows.add(0, first, causal ? i + 1 : first + block);
    if (!causal || first > 0) rows.add(1, length + first, length + first + block);
    rows.next_row();
  }
  return rows.finish();
}

// Pattern of implied_weights(): queries attend to tokens at their original positions.
Pattern token_pattern(const Tensor& p, Index length, Index block, bool causal) {
  PatternBuilder rows(p.dim(0), length, length, {"own block", "sorted block"});
  for (Index head = 0; head < p.dim(0); ++head) {
    for (Index i = 0; i < length; ++i) {
      const Index row = i / block;
      rows.add(0, row * block, causal ? i + 1 : (row + 1) * block);
      for (Index column = 0; column < p.dim(1); ++column) {
        if (p(head, row, column) > kMinVisible) rows.add(1, column * block, (column + 1) * block);
      }
      rows.next_row();
    }
  }
  return rows.finish();
}

// Weights on tokens: the weight w on row t of sorted block I adds P_IJ w to row t of every block J;
// weights on the query's block are copied.  [B h, L, L]
Tensor implied_weights(const Tensor& attention, const Tensor& p, Index block) {
  const Index pairs = attention.dim(0), length = attention.dim(1), blocks = length / block;
  Tensor implied = Tensor::zeros({pairs, length, length});
  for (Index pair = 0; pair < pairs; ++pair) {
    for (Index i = 0; i < length; ++i) {
      const Index row = i / block;
      for (Index t = 0; t < block; ++t) {
        implied(pair, i, row * block + t) += attention(pair, i, row * block + t);
        const float sorted_weight = attention(pair, i, length + row * block + t);
        for (Index column = 0; column < blocks; ++column) {
          implied(pair, i, column * block + t) += p(pair % p.dim(0), row, column) * sorted_weight;
        }
      }
    }
  }
  return implied;
}

// Averages sorted and vanilla attention. The paper adds them, which doubles the output.
void mix_with_dense(const OperationInput& input, Backend& backend, const ResultRequest& wanted,
                    OperationResult& result) {
  Part part = plain_part(input, plain_pattern(input, input.causal));
  part.split.clear();
  const OperationResult dense = run_part(std::move(part), backend, wanted);
  result.output = scale(add(result.output, dense.output), 0.5f);
  if (result.note.empty()) result.note = dense.note;
  result.pattern = dense.pattern;
  for (Index n = 0; n < result.attention.size(); ++n) {
    result.attention[n] = (result.attention[n] + dense.attention[n]) / 2;
  }
}

OperationResult run_item(const OperationInput& input, Backend& backend,
                         const ResultRequest& wanted) {
  const Index block = input.variant.values.integer("block"), length = key_count(input);
  const Var k = repeat_heads(input.k, input.heads, input.kv_heads);
  const Var v = repeat_heads(input.v, input.heads, input.kv_heads);
  const Var logits = block_logits(input, length / block);
  const Var p = matching(input, logits);  // [h, n, n]
  Part part = plain_part(input, two_block_pattern(length, block, input.causal));
  part.k = concat({k, sorted_blocks(p, k, input.batch)}, 1);  // [B h, 2 L, d_k]
  part.v = concat({v, sorted_blocks(p, v, input.batch)}, 1);  // [B h, 2 L, d_v]
  part.split.clear();

  ResultRequest part_wanted;
  part_wanted.attention = wanted.attention || wanted.device_attention;
  OperationResult result = run_part(std::move(part), backend, part_wanted);
  if (part_wanted.attention) {
    result.attention = implied_weights(result.attention, p.value(), block);
    result.extra["sinkhorn.logits"] = logits.value();
    result.extra["sinkhorn.matching"] = p.value();
  }
  result.pattern =
      std::make_shared<const Pattern>(token_pattern(p.value(), length, block, input.causal));
  if (adds_dense(input.variant.values)) mix_with_dense(input, backend, part_wanted, result);
  result.part.reset();
  return result;
}

// Items of a batch have matchings of their own if these depend on the content.
OperationResult evaluate_sinkhorn(const OperationInput& input, Backend& backend,
                                  const ResultRequest& wanted) {
  static const Evaluate by_item = item_by_item(run_item);
  const bool by_content = sorts_by_content(input.variant.values);
  return by_content ? by_item(input, backend, wanted) : run_item(input, backend, wanted);
}

double sinkhorn_floats(const MemoryInput& in) {
  const auto heads = static_cast<double>(in.heads), keys = static_cast<double>(in.keys);
  const auto queries = static_cast<double>(in.queries), key_size = static_cast<double>(in.key_size);
  const double blocks = keys / static_cast<double>(std::max<Index>(1, in.values.integer("block")));
  const double implied = in.maps ? queries * keys : 0;
  const double matchings = 6 * blocks * blocks;  // the matching and its intermediate results
  const double sums = sorts_by_content(in.values) ? blocks * (keys + 8 * heads * key_size) : 0;
  const double dense = adds_dense(in.values) && in.maps ? queries * keys : 0;
  return heads * (matchings + implied + dense) + sums;
}

WeightInfo network_weight(const char* name, const char* help,
                          std::function<Shape(const Dimensions&, const Values&)> shape,
                          Initial initial, decltype(WeightInfo::illustrative) illustrative = {}) {
  return {.name = name,
          .help = help,
          .shape = std::move(shape),
          .initial = std::move(initial),
          .illustrative = std::move(illustrative),
          .used = sorts_by_content};
}

// Weights whose scores differ about as much as trained ones, so that blocks are sorted visibly.
Tensor decisive_scores(const Shape& shape, const Situation&, const Values& values) {
  constexpr double kFactor = 6;
  constexpr std::uint64_t kSeed = 1;
  const double deviation = kFactor / std::sqrt(static_cast<double>(shape[1]));
  return initial_normal(deviation)(shape, Dimensions(), values, kSeed);
}

// Number of blocks of the longest text.
Index block_count(const Dimensions& n, const Values& values) {
  const Index keys = n.key_length();
  return keys < 0 ? keys : keys / values.integer("block");
}

}  // namespace

Variant sinkhorn_variant() {
  Variant v;
  v.id = "sinkhorn";
  v.label = "Sinkhorn";
  v.group = "Content-based patterns";
  v.equation =
      "P = n rounds of row and column normalisation of exp(R/τ),   K′_I = Σ_J P_IJ K_J,\n"
      "R_I = W₂ ReLU(W₁ Σ_{i in block I} x_i + b₁) + b₂,   queries of block I attend to [K_I ; "
      "K′_I]";
  v.summary =
      "The text is cut into blocks, and a matrix R, normalised alternately by rows and columns "
      "until it is nearly a permutation, sorts them. Each block attends to itself and to the block "
      "(or mixture of blocks) sorted to its place. As in the paper, a network predicts R from the "
      "contents of the blocks; a stored R, the same for every text, is the simpler form. A low "
      "temperature makes the sorting sharp; no noise is added. In a decoder, only earlier blocks "
      "are sorted, and columns are normalised over the places so far. With more iterations, the "
      "block sorted to a place approaches the previous block.";
  v.source = "Tay et al., 2020, Sparse Sinkhorn attention, arXiv:2002.11296";
  v.complexity = "O(L·b·d + (L/b)²·b·d)";
  v.cost.growth = {.power = 1.5, .sizes = [](Values& values, Index length) {
                     values.set("block",
                                divisor_near(length, std::sqrt(static_cast<double>(length))));
                   }};
  v.causality.refusal =
      "sinkhorn sorts blocks of the whole text; decoder=true sorts only earlier blocks";
  v.inputs.needs = [](const Values& values) { return Needs{.input = sorts_by_content(values)}; };
  v.encodings.accepts_pairs = v.scores.has_terms = v.scores.has_softmax = never;
  v.encodings.pairs_refusal = "scores blocks that it reorders and mixes";
  v.parameters = {
      {.key = "block",
       .symbol = "b",
       .label = "Block",
       .help = "Number of tokens in a block; must divide the length.",
       .required = true,
       .initial = Index{4},
       .illustrative_default = [](Index length) -> Value {
         return divisor_near(length, static_cast<double>(length) / 4);
       },
       .limits = {.min = 1},
       .slider = {.min = 1, .max = 32}},
      {.key = "iterations",
       .symbol = "n",
       .label = "Iterations",
       .help = "Rounds of row and column normalisation.",
       .required = true,
       .initial = Index{5},
       .limits = {.min = 1, .max = 10000},
       .slider = {.min = 1, .max = 20}},
      {.key = "temperature",
       .symbol = "τ",
       .label = "Temperature",
       .help = "Divides the logits; lower is sharper.",
       .kind = Parameter::Kind::Real,
       .initial = 1.0,
       .illustrative_default = [](Index) -> Value { return 0.25; },
       .limits = {.min = 0, .max = Parameter::kMaxReal, .min_excluded = true},
       .slider = {.min = 0.05, .max = 10, .logarithmic = true}},
      {.key = "sorting",
       .symbol = "R",
       .label = "Sorting",
       .help = "Source of R: a stored matrix, the same for every text, or a network that "
               "reads the contents of the blocks.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("stored"),
       .illustrative_default = [](Index) -> Value { return std::string("content"); },
       .choices = {{"stored", "stored matrix"}, {"content", "from block contents"}}},
      {.key = "mixture",
       .symbol = "",
       .label = "Mixture",
       .help = "Keys besides the sorted block: the query's own block, in the same softmax; or all "
               "keys, too, as the mean of sorted and full attention.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("block"),
       .choices = {{"block", "own block"}, {"dense", "own block and full attention"}}},
      decoder_parameter("Form for causal order: only earlier blocks are sorted, by "
                        "normalisation over earlier blocks and places.")};
  v.weights = {{.name = "sinkhorn.logits",
                .help = "Score of each key block for the place of each query block.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  const Index blocks = block_count(n, values);
                  return {n.heads, blocks, blocks};
                },
                .initial = initial_normal(1),
                .used = has_stored_scores},
               network_weight(
                   "sinkhorn.w1", "First layer of the network that reads blocks.",
                   [](const Dimensions& n, const Values&) -> Shape {
                     return {n.heads, n.model, n.inner_or(n.key)};
                   },
                   initial_projection()),
               network_weight(
                   "sinkhorn.b1", "Bias of the first layer.",
                   [](const Dimensions& n, const Values&) -> Shape {
                     return {n.heads, n.inner_or(n.key)};
                   },
                   initial_zeros()),
               network_weight(
                   "sinkhorn.w2", "Second layer, with one output per block.",
                   [](const Dimensions& n, const Values& values) -> Shape {
                     return {n.heads, n.inner_or(n.key), block_count(n, values)};
                   },
                   initial_projection(), decisive_scores),
               network_weight(
                   "sinkhorn.b2", "Bias of the second layer.",
                   [](const Dimensions& n, const Values& values) -> Shape {
                     return {n.heads, block_count(n, values)};
                   },
                   initial_zeros())};
  v.defaults.length = [](Index length) { return length < 8 ? length : length / 4 * 4; };
  v.objection = [](const Values& values, const Situation& in) -> std::string {
    const Index block = values.integer("block");
    if (in.keys == 0 || in.keys % block == 0) return {};
    return "block: expected a divisor of the length " + std::to_string(in.keys) + found_text(block);
  };
  v.cost.head = [](const CostInput& in) {  // each query attends to two blocks, or to all keys, too
    const auto sorted = static_cast<double>(2 * in.values.integer("block") * in.queries);
    return adds_dense(in.values) ? sorted + in.pairs : sorted;
  };
  v.cost.bytes = [](const MemoryInput& in) { return sizeof(float) * sinkhorn_floats(in); };
  v.evaluate = evaluate_sinkhorn;
  return v;
}

}  // namespace attnscope
