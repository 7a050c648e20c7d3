#include "core/analysis/prediction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/tensor/vector_math.h"

namespace attnscope {
namespace {

// Sum of exp(row[v] - max), in one partial sum per SIMD lane.
double sum_of_powers(const float* row, Index count, float max) {
  constexpr Index kSums = 16;
  std::array<float, kSums> sums{};
  Index v = 0;
  for (; v + kSums <= count; v += kSums) {
    for (Index s = 0; s < kSums; ++s) {
      sums[static_cast<std::size_t>(s)] += vector_math::exp(row[v + s] - max);
    }
  }
  double sum = 0;
  for (const float s : sums) sum += static_cast<double>(s);
  for (; v < count; ++v) sum += static_cast<double>(vector_math::exp(row[v] - max));
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
      for (Index i = first; i < last; ++i) {
        const float* row = rows.data() + i * vocabulary;
        const float max = *std::max_element(row, row + vocabulary);
        const double sum = sum_of_powers(row, vocabulary, max);
        const float target_logit = row[ids[static_cast<std::size_t>(begin + i + 1)]];
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
