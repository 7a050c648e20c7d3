#include "core/analysis/prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/parallel.h"
#include "core/tensor/row_kernels.h"

namespace attnscope {
namespace {

// Sum of exp(row[v] - max). Overwrites the row.
double sum_of_powers(float* row, Index count, float max) {
  constexpr Index kSummands = 1024;  // of float32 sums; their sum is float64
  double sum = 0;
  for (Index v = 0; v < count; v += kSummands) {
    const Index part = std::min(kSummands, count - v);
    sum += static_cast<double>(cpu::row_kernels().exponentials(row + v, part, max));
  }
  return sum;
}

}  // namespace

Tensor token_bits(const LazyTensor& logits, const std::vector<std::int32_t>& ids) {
  const Index length = static_cast<Index>(ids.size()), vocabulary = logits.dim(1);
  Tensor bits = Tensor::full({length}, std::numeric_limits<float>::quiet_NaN());  // [L]
  const Index grain = std::max<Index>(1, kGrain / vocabulary);
  for (Index begin = 0; begin + 1 < length; begin += kLogitsRows) {
    const Index count = std::min(kLogitsRows, length - 1 - begin);
    const Tensor rows = logits.rows(begin, count);
    parallel_for(count, grain, [&](Index first, Index last) {
      std::vector<float> powers;
      for (Index i = first; i < last; ++i) {
        powers.assign(rows.data() + i * vocabulary, rows.data() + (i + 1) * vocabulary);
        const float max = cpu::row_kernels().maximum(powers.data(), vocabulary);
        const float target_logit =
            powers[static_cast<std::size_t>(ids[static_cast<std::size_t>(begin + i + 1)])];
        const double sum = sum_of_powers(powers.data(), vocabulary, max);
        const double nats = std::log(sum) + static_cast<double>(max - target_logit);
        bits[begin + i + 1] = static_cast<float>(nats / std::log(2.0));
      }
    });
  }
  return bits;
}

const LazyTensor& predictions(const Trace& trace) {
  const auto mixture = trace.taps.find("log_probabilities");  // log-probabilities are logits
  return mixture != trace.taps.end() ? mixture->second : trace.logits;
}

std::optional<Prediction> prediction(const Trace& trace) {
  if (!trace.token_bits.defined() || trace.token_bits.size() < 2) return std::nullopt;
  Prediction result;
  result.leaks_targets =
      std::any_of(trace.attention.begin(), trace.attention.end(), [](const AttentionTap& tap) {
        const bool is_decoder_self =
            tap.address.stack == Stack::Decoder && tap.address.kind == AttentionKind::Self;
        return is_decoder_self && (!tap.causal || !tap.result.leaks_future.empty());
      });
  double bits = 0, bytes = 0;
  for (Index i = 1; i < trace.token_bits.size(); ++i) {
    bits += static_cast<double>(trace.token_bits[i]);
    bytes += static_cast<double>(trace.tokens[static_cast<std::size_t>(i)].bytes.size());
    ++result.tokens;
  }
  result.bits_per_token = bits / static_cast<double>(result.tokens);
  result.perplexity = std::exp2(result.bits_per_token);
  result.bits_per_byte = bytes > 0 ? bits / bytes : std::numeric_limits<double>::quiet_NaN();
  return result;
}

}  // namespace attnscope
