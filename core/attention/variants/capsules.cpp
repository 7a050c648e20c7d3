// capsules: routing by agreement between tokens and outputs. Sabour, Frosst and Hinton, 2017.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

constexpr Index kMaxReported = Index{1} << 22;  // maximum number of couplings, over all iterations

// Shortens each row to a length below 1: |s|² / (1 + |s|²) s / |s|.  [B h, L, d_v]
Var squash(const Var& s) {
  const Var squares = sum_axis(multiply(s, s), 2);  // [B h, L]
  const Var ones(Tensor::full({1}, 1.0f));
  const Var lengths = divide(squares, add(squares, ones));
  return multiply(unit_rows(s), reshape(lengths, {s.dim(0), s.dim(1), 1}));
}

// Couplings c_ij: outputs compete for each input, so that columns sum to 1.  [B h, L_q, L_k]
Var couplings(const Var& agreements) {
  return transpose(softmax(transpose(agreements)));
}

// Couplings of the first item of the batch after each iteration.  [n, h, L_q, L_k]
Tensor first_item_couplings(const std::vector<Tensor>& rounds, Index heads) {
  const Tensor& last = rounds.back();
  const Index size = heads * last.dim(1) * last.dim(2);
  Tensor result({static_cast<Index>(rounds.size()), heads, last.dim(1), last.dim(2)});
  for (std::size_t n = 0; n < rounds.size(); ++n) {
    std::copy_n(rounds[n].data(), size, result.data() + static_cast<Index>(n) * size);
  }
  return result;
}

OperationResult evaluate_capsules(const OperationInput& input, Backend& backend,
                                  const ResultRequest& wanted) {
  const Var k = repeat_heads(input.k, input.heads, input.kv_heads);
  const Var v = repeat_heads(input.v, input.heads, input.kv_heads);
  Part part = plain_part(input, plain_pattern(input, false));
  const Index iterations = input.variant.values.integer("iterations");
  Var agreements = scale(matmul_transposed(input.q, k), part.scale);
  std::vector<Tensor> rounds;
  for (Index n = 0; n < iterations; ++n) {
    check_stop();
    part.logits = couplings(agreements);
    if (wanted.attention || wanted.device_attention) rounds.push_back(part.logits.value());
    if (n + 1 == iterations) break;
    agreements = add(agreements, matmul_transposed(squash(matmul(part.logits, v)), v));
  }
  part.source = Source::Logits;
  part.normaliser = Normaliser::None;
  part.q = part.k = Var();
  part.v = v;
  part.split.clear();
  OperationResult result = run_part(std::move(part), backend, wanted);
  result.output = squash(result.output);
  result.part.reset();  // the output is not the weighted sum
  result.scores = Tensor();
  const Index numbers = iterations * input.heads * query_count(input) * key_count(input);
  if (!rounds.empty() && numbers <= kMaxReported) {
    result.extra["capsules.couplings"] = first_item_couplings(rounds, input.heads);
  }
  return result;
}

}  // namespace

Variant capsules_variant() {
  Variant v;
  v.id = "capsules";
  v.label = "Capsules";
  v.group = "Content-based patterns";
  v.equation =
      "cᵢⱼ = exp(bᵢⱼ) / Σᵣ exp(bᵣⱼ),   oᵢ = squash(Σⱼ cᵢⱼ vⱼ),   bᵢⱼ ← bᵢⱼ + vⱼ·oᵢ,   b = q·k/√d_k "
      "at first";
  v.summary =
      "Attention as routing by agreement, as in capsule networks. In attention, inputs compete for "
      "each output; here outputs compete for each input, so that columns of the map sum to 1. A "
      "few rounds strengthen the routes from inputs to outputs that agree with them. The length of "
      "an output, below 1, measures the agreement of its inputs. The value of a token is its vote "
      "for every output; capsule networks learn a vote matrix for each pair.";
  v.source = "Sabour, Frosst and Hinton, 2017, Dynamic routing between capsules, arXiv:1710.09829";
  v.complexity = "O(n·L²·d)";
  v.causality.refusal =
      "later outputs compete for earlier tokens, so that rows depend on later tokens";
  v.encodings.accepts_pairs = v.scores.has_terms = v.scores.has_softmax = never;
  v.encodings.pairs_refusal = "changes its scores by agreement";
  v.parameters = {{.key = "iterations",
                   .symbol = "n",
                   .label = "Iterations",
                   .help = "Rounds of routing.",
                   .initial = Index{3},
                   .limits = {.min = 1, .max = 1000},
                   .slider = {.min = 1, .max = 10}}};
  v.cost.head = [](const CostInput& in) {
    return in.pairs * static_cast<double>(in.values.integer("iterations"));
  };
  v.cost.bytes = [](const MemoryInput& in) {
    const auto pairs =
        static_cast<double>(in.batch * in.heads * in.queries) * static_cast<double>(in.keys);
    const auto rounds = static_cast<double>(in.maps ? in.values.integer("iterations") : 0);
    return sizeof(float) * pairs * (5 + rounds);
  };
  v.evaluate = evaluate_capsules;
  return v;
}

}  // namespace attnscope
