// sinkhorn: key blocks sorted by a learned, nearly one-to-one matching. Tay et al., 2020.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
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

// Logits of the n blocks of the text.  [h, n, n]
Var block_logits(const OperationInput& input, Index blocks) {
  const Var& logits = weight(input.weights, "sinkhorn.logits");
  if (logits.dim(1) < blocks) {
    throw InputError("sinkhorn.logits: expected at least " + std::to_string(blocks) +
                     " blocks, found " + std::to_string(logits.dim(1)));
  }
  return slice(slice(logits, 1, 0, blocks), 2, 0, blocks);
}

// P after rounds of row and column normalisation in log space (Sinkhorn, 1964).  [h, n, n]
Var matching(const OperationInput& input, Index blocks) {
  const Values& values = input.variant.values;
  Var log_p = block_logits(input, blocks);
  log_p = multiply(log_p, Tensor::full({1}, static_cast<float>(1 / values.real("temperature"))));
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

// Pattern in which block I attends to K_I in columns [0, L) and sorted K'_I in columns [L, 2 L).
Pattern two_block_pattern(Index length, Index block) {
  PatternBuilder rows(1, length, 2 * length, {"own block", "sorted block"});
  for (Index i = 0; i < length; ++i) {
    const Index first = i / block * block;
    rows.add(0, first, first + block);
    rows.add(1, length + first, length + first + block);
    rows.next_row();
  }
  return rows.finish();
}

// Pattern of implied_weights(): queries attend to tokens at their original positions.
Pattern token_pattern(const Tensor& p, Index length, Index block) {
  PatternBuilder rows(p.dim(0), length, length, {"own block", "sorted block"});
  for (Index head = 0; head < p.dim(0); ++head) {
    for (Index i = 0; i < length; ++i) {
      const Index row = i / block;
      rows.add(0, row * block, (row + 1) * block);
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

OperationResult evaluate_sinkhorn(const OperationInput& input, Backend& backend,
                                  const ResultRequest& wanted) {
  const Index block = input.variant.values.integer("block"), length = key_count(input);
  const Var k = repeat_heads(input.k, input.heads, input.kv_heads);
  const Var v = repeat_heads(input.v, input.heads, input.kv_heads);
  const Var p = matching(input, length / block);  // [h, n, n]
  Part part = plain_part(input, two_block_pattern(length, block));
  part.k = concat({k, sorted_blocks(p, k, input.batch)}, 1);  // [B h, 2 L, d_k]
  part.v = concat({v, sorted_blocks(p, v, input.batch)}, 1);  // [B h, 2 L, d_v]
  part.split.clear();

  ResultRequest part_wanted;
  part_wanted.attention = wanted.attention || wanted.device_attention;
  OperationResult result = run_part(std::move(part), backend, part_wanted);
  if (part_wanted.attention) {
    result.attention = implied_weights(result.attention, p.value(), block);
    result.extra["sinkhorn.logits"] = block_logits(input, p.dim(1)).value();
    result.extra["sinkhorn.matching"] = p.value();
  }
  result.pattern = std::make_shared<const Pattern>(token_pattern(p.value(), length, block));
  result.part.reset();
  return result;
}

double sinkhorn_floats(const MemoryInput& in) {
  const auto heads = static_cast<double>(in.heads), keys = static_cast<double>(in.keys);
  const double blocks = keys / static_cast<double>(std::max<Index>(1, in.values.integer("block")));
  const double implied = in.maps ? static_cast<double>(in.queries) * keys : 0;
  return heads * (6 * blocks * blocks + implied);  // 6: the matching and its intermediate results
}

}  // namespace

Variant sinkhorn_variant() {
  Variant v;
  v.id = "sinkhorn";
  v.label = "Sinkhorn";
  v.group = "Content-based patterns";
  v.equation =
      "P = n rounds of row and column normalisation of exp(logits/τ),   K′_I = Σ_J P_IJ K_J,\n"
      "queries of block I attend to [K_I ; K′_I]";
  v.summary =
      "The text is cut into blocks. A learned matrix, normalised alternately by rows and columns "
      "until it is nearly a permutation, sorts them. Each block attends to itself and to the block "
      "(or mixture of blocks) sorted to its place. A low temperature makes the sorting sharp. In "
      "the paper a network predicts the matrix from the contents of the blocks; here it is the same "
      "for every text.";
  v.source = "Tay et al., 2020, Sparse Sinkhorn attention, arXiv:2002.11296";
  v.complexity = "O(L·b·d + (L/b)²·b·d)";
  v.cost.growth = {.power = 1.5, .sizes = [](Values& values, Index length) {
                     values.set("block",
                                divisor_near(length, std::sqrt(static_cast<double>(length))));
                   }};
  v.causality.refusal = "sinkhorn sorts blocks of the whole text";
  v.encodings.accepts_pairs = v.scores.has_terms = v.scores.has_softmax = never;
  v.encodings.pairs_refusal = "scores blocks that it reorders and mixes";
  v.parameters = {{.key = "block",
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
                   .slider = {.min = 0.05, .max = 10, .logarithmic = true}}};
  v.weights = {{.name = "sinkhorn.logits",
                .help = "Score of each key block for the place of each query block.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  const Index keys = n.key_length();
                  const Index blocks = keys < 0 ? keys : keys / values.integer("block");
                  return {n.heads, blocks, blocks};
                },
                .initial = initial_normal(1)}};
  v.defaults.length = [](Index length) { return length < 8 ? length : length / 4 * 4; };
  v.objection = [](const Values& values, const Situation& in) -> std::string {
    const Index block = values.integer("block");
    if (in.keys == 0 || in.keys % block == 0) return {};
    return "block: expected a divisor of the length " + std::to_string(in.keys) + found_text(block);
  };
  v.cost.head = [](const CostInput& in) {  // each query attends to two blocks
    return static_cast<double>(2 * in.values.integer("block") * in.queries);
  };
  v.cost.bytes = [](const MemoryInput& in) { return sizeof(float) * sinkhorn_floats(in); };
  v.evaluate = evaluate_sinkhorn;
  return v;
}

}  // namespace attnscope
