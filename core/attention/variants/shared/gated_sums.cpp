#include "core/attention/variants/shared/gated_sums.h"

#include <algorithm>
#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// Within a block of rows the running maximum of the exponents grows by at most kGrowth. Keys with
// exponents kCutoff below the maximum are skipped: exp(-kCutoff) is far below float32 precision.
constexpr double kGrowth = 40, kCutoff = 80;
// Heads share blocks, unless separate blocks reduce the number of keys by this factor.
constexpr Index kMinSavings = 4;
// Maximum number of weights that are computed if only tiles are requested.
constexpr Index kMaxForTiles = Index{1} << 24;

double log_sigmoid(double x) {
  return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
}

// d e_j / d logit_j = -g_j, d e_j / d logit_r = 1 - g_r for r > j.
Tensor gradient_of_logits(const Tensor& gradient, const Tensor& logits) {
  const Index pairs = logits.dim(0), length = logits.dim(1);
  Tensor result(logits.shape());
  for (Index pair = 0; pair < pairs; ++pair) {
    double earlier_gradients = 0;  // sum of the gradients of e_j, j < r
    for (Index r = 0; r < length; ++r) {
      const Index index = pair * length + r;
      const double g = 1 / (1 + std::exp(-static_cast<double>(logits[index])));
      const auto d = static_cast<double>(gradient[index]);
      result[index] = static_cast<float>((1 - g) * earlier_gradients - g * d);
      earlier_gradients += d;
    }
  }
  return result;
}

// Block of rows [row, end) and keys [key, end).
struct Block {
  Index row, end, key;
};

// Running maximum of the exponents for each pair and row.  [B h * L]
Doubles running_maxima(const Doubles& exponents, Index length) {
  Doubles result = exponents;
  for (std::size_t index = 1; index < result.size(); ++index) {
    if (index % static_cast<std::size_t>(length) == 0) continue;
    result[index] = std::max(result[index], result[index - 1]);
  }
  return result;
}

// Divides the rows of pairs [first, first + count) into blocks that these pairs share.
std::vector<Block> divide_rows(const Doubles& maxima, Index length, Index first, Index count) {
  std::vector<Block> blocks;
  for (Index row = 0; row < length; row = blocks.back().end) {
    Block block{row, length, row};
    for (Index pair = first; pair < first + count; ++pair) {
      const auto begin = maxima.begin() + pair * length, current = begin + row;
      block.end = std::min(block.end,
                           std::upper_bound(current, begin + length, *current + kGrowth) - begin);
      block.key = std::min(block.key, std::lower_bound(begin, current, *current - kCutoff) - begin);
    }
    blocks.push_back(block);
  }
  return blocks;
}

Index key_count(const std::vector<Block>& blocks) {
  Index sum = 0;
  for (const Block& block : blocks) sum += block.end - block.key;
  return sum;
}

// x[first .. first + count, row .. end, :]
Var slice_rows(const Var& x, Index first, Index count, Index row, Index end) {
  return slice(slice(x, 0, first, count), 1, row, end - row);
}

// Computes the output of all rows, block by block.
class GatedRows {
 public:
  GatedRows(const OperationInput& input, const Features& q, const Features& k, Backend& backend)
      : q_(q),
        k_(k),
        v_(repeat_heads(input.v, input.heads, input.kv_heads)),
        pairs_(v_.dim(0)),
        length_(v_.dim(1)),
        maxima_(running_maxima(k.exact_exponents, length_)),
        backend_(backend) {}

  // Output [B h, L, d_v]; undefined if a row's sums leave the range of float32.
  Var output() {
    const std::vector<Block> common = divide_rows(maxima_, length_, 0, pairs_);
    std::vector<std::vector<Block>> pair_blocks;
    Index keys = 0;
    for (Index pair = 0; pair < pairs_; ++pair) {
      pair_blocks.push_back(divide_rows(maxima_, length_, pair, 1));
      keys += key_count(pair_blocks.back());
    }
    if (pairs_ * key_count(common) <= kMinSavings * keys) return rows(0, pairs_, common);
    std::vector<Var> outputs;
    for (Index pair = 0; pair < pairs_; ++pair) {
      outputs.push_back(rows(pair, 1, pair_blocks[static_cast<std::size_t>(pair)]));
      if (!outputs.back().defined()) return {};
    }
    return concat(outputs, 0);
  }

  const std::string& fallback_reason() const { return fallback_reason_; }

 private:
  Var rows(Index first, Index count, const std::vector<Block>& blocks) {
    std::vector<Var> outputs;
    for (const Block& block : blocks) {
      check_stop();
      const OperationResult result =
          run_part(part(first, count, block), backend_, {.output = true, .log_sum_exp = true});
      if (!is_in_range(result)) return {};
      if (fallback_reason_.empty()) fallback_reason_ = result.note;
      outputs.push_back(result.output);
    }
    return outputs.size() == 1 ? outputs[0] : concat(outputs, 1);  // [count, L, d_v]
  }

  Part part(Index first, Index count, const Block& block) const {
    Part part;
    part.heads = count;
    part.normaliser = Normaliser::FeatureRatio;
    part.q = slice_rows(q_.mantissa, first, count, block.row, block.end);
    part.k = multiply(slice_rows(k_.mantissa, first, count, block.key, block.end),
                      key_factors(first, count, block));
    part.v = slice_rows(v_, first, count, block.key, block.end);
    part.pattern = std::make_shared<const Pattern>(
        Pattern::causal(block.end - block.row, block.end - block.key, block.row - block.key));
    return part;
  }

  // Gate factors of the block's keys, up to a common factor per pair.  [count, keys, 1]
  Var key_factors(Index first, Index count, const Block& block) const {
    const Var exponents = slice_rows(k_.exponents, first, count, block.key, block.end);
    Tensor base({count, 1, 1}), rounding_errors(exponents.shape());
    Index index = 0;
    for (Index pair = first; pair < first + count; ++pair) {
      base[pair - first] =
          static_cast<float>(maxima_[static_cast<std::size_t>(pair * length_ + block.row)]);
      for (Index j = block.key; j < block.end; ++j, ++index) {
        rounding_errors[index] =
            static_cast<float>(k_.exact_exponents[static_cast<std::size_t>(pair * length_ + j)] -
                               static_cast<double>(exponents.value()[index]));
      }
    }
    return exp(add(subtract(exponents, base), rounding_errors));
  }

  const Features &q_, &k_;
  const Var v_;
  const Index pairs_, length_;
  const Doubles maxima_;
  Backend& backend_;
  std::string fallback_reason_;
};

}  // namespace

GateExponents gate_exponents(const Var& logits) {
  const Index pairs = logits.dim(0), length = logits.dim(1);
  GateExponents result;
  result.exact.resize(static_cast<std::size_t>(pairs * length));
  Tensor rounded({pairs, length, 1});
  for (Index pair = 0; pair < pairs; ++pair) {
    double later_gates = 0;  // sum of log g_r, r > j
    for (Index j = length - 1; j >= 0; --j) {
      const Index index = pair * length + j;
      const auto x = static_cast<double>(logits.value()[index]);
      const double e = log_sigmoid(-x) + later_gates;
      result.exact[static_cast<std::size_t>(index)] = e;
      rounded[index] = static_cast<float>(e);
      later_gates += log_sigmoid(x);
    }
  }
  result.exponents =
      record("gate_exponents", rounded, {logits},
             [](const Tensor& gradient, const std::vector<Var>& inputs) {
               accumulate(inputs[0], gradient_of_logits(gradient, inputs[0].value()));
             });
  return result;
}

OperationResult run_gated(const OperationInput& input, const Features& q, const Features& k,
                          Backend& backend, const ResultRequest& wanted) {
  const Index weights = k.mantissa.dim(0) * k.mantissa.dim(1) * k.mantissa.dim(1);
  const bool wants_weights = wanted.attention || wanted.device_attention || wanted.scores ||
                             (wanted.tiles && weights <= kMaxForTiles);
  OperationResult result;
  if (!wants_weights) {
    GatedRows rows(input, q, k, backend);
    result.output = rows.output();
    result.note = rows.fallback_reason();
    result.pattern = std::make_shared<const Pattern>(plain_pattern(input, true));
  }
  if (!result.output.defined()) result = run_pairwise(input, q, k, backend, wanted);
  if (wants_report(wanted)) add_state(result, input, k);
  return result;
}

}  // namespace attnscope
