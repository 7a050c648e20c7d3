#include "core/attention/variants/shared/compression.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/attention/variants/shared/row_memory.h"
#include "core/attention/variants/shared/windows.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {
namespace {

// Compressed rows with their positions and sources.
struct Compression {
  Var rows;                             // [B, n, d]
  std::vector<std::int32_t> positions;  // [B n]
  std::vector<RowSource> sources;       // [B n]
};

// Row `tap` of every window of x [B, rows, d]; zeros beyond the end of x.  [B, w, d]
Var tap_of_windows(const Tensor& x, Index rate, Index windows, Index tap) {
  const Index batch = x.dim(0), rows = x.dim(1), width = x.dim(2);
  Tensor taps = Tensor::zeros({batch, windows, width});
  for (Index b = 0; b < batch; ++b) {
    for (Index w = 0; w < windows && w * rate + tap < rows; ++w) {
      std::copy_n(x.data() + (b * rows + w * rate + tap) * width, width,
                  taps.data() + (b * windows + w) * width);
    }
  }
  return taps;
}

// kernel: [rate, d, d] -> kernel[t]: [d, d]
Var kernel_at(const Var& kernel, Index t) {
  return reshape(slice(kernel, 0, t, 1), {kernel.dim(1), kernel.dim(2)});
}

// z_J = sum_t x[rate J + stride t] kernel[t] + bias.  [B, w, d]
Var convolve_windows(const Tensor& x, Index windows, Index stride, const NamedVars& weights) {
  const Var& kernel = weight(weights, "comp.kernel");
  const Index rate = kernel.dim(0);
  Var sum;
  for (Index t = 0; t < rate; ++t) {
    const Var product = matmul(tap_of_windows(x, rate, windows, stride * t), kernel_at(kernel, t));
    sum = sum.defined() ? add(sum, product) : product;
  }
  return add(sum, weight(weights, "comp.bias"));
}

// Selects the `count` rows of x [B, n, d] with the largest usage, and sorts them by position.
Compression select_most_used(const CompletedSegment& segment, const Remembered& remembered,
                             const Tensor& x, Index count, Index first) {
  const Index batch = x.dim(0), rows = x.dim(1), stored = remembered.row_count(), width = x.dim(2);
  Tensor selected({batch, count, width});
  Compression result;
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
  for (Index b = 0; b < segment.batch; ++b) {
    const auto usage = [&](std::int32_t row) {
      const Index segments = remembered.segment_counts[static_cast<std::size_t>(row)];
      return segments == 0 ? 0.0
                           : remembered.usage[static_cast<std::size_t>(b * stored + row)] /
                                 static_cast<double>(segments);
    };
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order,
                             [&](std::int32_t a, std::int32_t c) { return usage(a) > usage(c); });
    std::sort(order.begin(), order.begin() + count);
    for (Index n = 0; n < count; ++n) {
      const std::int32_t row = order[static_cast<std::size_t>(n)];
      std::copy_n(x.data() + (b * rows + row) * width, width,
                  selected.data() + (b * count + n) * width);
      result.positions.push_back(static_cast<std::int32_t>(first + row));
      result.sources.push_back({first + row});
    }
  }
  result.rows = selected;
  return result;
}

// Source of the window that begins at row `begin` of `rows` rows; row 0 has position `first`.
RowSource window_source(Index first, Index begin, Index rows, Index rate, bool is_dilated) {
  if (!is_dilated) return {first + begin, rate};
  return {first + begin, std::min(rate, (rows - begin + 1) / 2), 2};
}

// Compresses whole windows of rows x [B, count, d]; row 0 has position `first`.
Compression compress_rows(const CompletedSegment& segment, const Remembered& remembered,
                          const Tensor& x, Index first) {
  const Index rate = segment.values.integer("rate"), windows = x.dim(1) / rate;
  const std::string function = segment.values.choice("function");
  if (function == "most_used") return select_most_used(segment, remembered, x, windows, first);
  Compression result;
  const bool is_dilated = function == "dilated";
  if (function == "convolution" || is_dilated) {
    result.rows = convolve_windows(x, windows, is_dilated ? 2 : 1, segment.weights);
  } else {
    result.rows = function == "max" ? window_max(x, rate, windows) : window_mean(x, rate, windows);
  }
  for (Index b = 0; b < segment.batch; ++b) {
    for (Index w = 0; w < windows; ++w) {
      result.positions.push_back(static_cast<std::int32_t>(first + (w + 1) * rate - 1));
      result.sources.push_back(window_source(first, w * rate, x.dim(1), rate, is_dilated));
    }
  }
  return result;
}

Var mean_square(const Var& difference) {
  return mean(multiply(difference, difference));
}

// Mean square of old - restored, where restored[rate J + t] = compressed[J] back[t].
Var auto_encoding_loss(const CompletedSegment& segment, const Tensor& old, const Var& compressed) {
  const Var& back = weight(segment.weights, "comp.back");
  const Index rate = back.dim(0), batch = old.dim(0), windows = compressed.dim(1);
  std::vector<Var> taps;  // [B, w, 1, d] each
  for (Index t = 0; t < rate; ++t) {
    taps.push_back(
        reshape(matmul(compressed, kernel_at(back, t)), {batch, windows, 1, old.dim(2)}));
  }
  const Var restored = reshape(concat(taps, 2), {batch, windows * rate, old.dim(2)});
  return mean_square(subtract(Var(old), restored));
}

// Attention of the segment's queries to all `rows`, without positions.  [B h, S, d_k]
Var content_attention(const CompletedSegment& segment, const Var& rows) {
  const auto [k, v] = segment.project(rows);  // [B h_kv, n, d_k]
  const Index heads_per_key = segment.heads / segment.kv_heads, queries = segment.input.q.dim(1),
              size = segment.input.q.dim(2);
  // Stacks the queries of heads that share keys.
  const Var q = reshape(Var(segment.input.q),
                        {segment.batch * segment.kv_heads, heads_per_key * queries, size});
  const auto factor = static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
  const Var weights = softmax(scale(matmul_transposed(q, k), factor));
  return matmul(weights, v);
}

// Adds the attention of the latest segment to Remembered::usage.
void count_usage(const CompletedSegment& segment, Remembered& remembered) {
  const Index rows = remembered.row_count();
  if (!segment.attention.defined() || rows == 0) return;
  const Index memory_begin = remembered.compressed_count(), columns = segment.attention.dim(2);
  const Index queries = segment.attention.dim(1);
  for (Index line = 0; line < segment.attention.dim(0) * queries; ++line) {
    const Index item = line / (queries * segment.heads);
    const float* weights = segment.attention.data() + line * columns + memory_begin;
    for (Index m = 0; m < rows; ++m) {
      remembered.usage[static_cast<std::size_t>(item * rows + m)] +=
          static_cast<double>(weights[m]);
    }
  }
  for (Index& count : remembered.segment_counts) ++count;
}

// Appends zeros to usage and counts for `added` rows. Removes the first `dropped` rows' entries.
void shift_usage(Remembered& remembered, Index batch, Index rows, Index added, Index dropped) {
  std::vector<double> usage;
  for (Index b = 0; b < batch; ++b) {
    for (Index m = dropped; m < rows + added; ++m) {
      usage.push_back(m < rows ? remembered.usage[static_cast<std::size_t>(b * rows + m)] : 0);
    }
  }
  remembered.usage = std::move(usage);
  remembered.segment_counts.resize(static_cast<std::size_t>(rows + added), 0);
  remembered.segment_counts.erase(remembered.segment_counts.begin(),
                                  remembered.segment_counts.begin() + dropped);
}

// Appends the latest compressed rows, and keeps the last `max_rows` compressed rows.
void append_compressed(Remembered& remembered, const Compression& latest, Index batch,
                       Index max_rows) {
  const Index rows = remembered.compressed_count(), added = latest.rows.dim(1);
  const Index count = std::min(max_rows, rows + added), dropped = rows + added - count;
  std::vector<std::int32_t> positions;
  std::vector<RowSource> sources;
  for (Index b = 0; b < batch; ++b) {
    for (Index n = dropped; n < rows + added; ++n) {
      const auto old_index = static_cast<std::size_t>(b * rows + n);
      const auto new_index = static_cast<std::size_t>(b * added + n - rows);
      positions.push_back(n < rows ? remembered.compressed_positions[old_index]
                                   : latest.positions[new_index]);
      sources.push_back(n < rows ? remembered.compressed_sources[old_index]
                                 : latest.sources[new_index]);
    }
  }
  remembered.compressed = last_rows(concat_rows(remembered.compressed, latest.rows.value()), count);
  remembered.compressed_positions = std::move(positions);
  remembered.compressed_sources = std::move(sources);
}

}  // namespace

bool is_convolution(const Values& values) {
  const std::string& function = values.choice("function");
  return function == "convolution" || function == "dilated";
}

void remember_compressing(const CompletedSegment& segment, Remembered& remembered) {
  const Index max_rows = segments_size(segment, "memory"), rate = segment.values.integer("rate");
  const Index rows = remembered.row_count(), added = segment.x.dim(1);
  count_usage(segment, remembered);
  remembered.rows = concat_rows(remembered.rows, segment.x);
  shift_usage(remembered, segment.batch, rows, added, 0);
  const Index old_count = std::max<Index>(rows + added - max_rows, 0) / rate * rate;
  for (const char* name : {"auto_encoding", "attention_reconstruction"}) {
    if (segment.values.real(name) > 0) segment.add_loss(name, Tensor::zeros({}));
  }
  if (old_count == 0) return;

  const Index first = segment.first - rows;                           // position of the oldest row
  const Tensor old_rows = slice_rows(remembered.rows, 0, old_count);  // [B, old, d]
  const Compression compression = compress_rows(segment, remembered, old_rows, first);
  if (segment.values.real("auto_encoding") > 0) {
    segment.add_loss("auto_encoding", auto_encoding_loss(segment, old_rows, compression.rows));
  }
  if (segment.values.real("attention_reconstruction") > 0) {
    const Var difference = subtract(content_attention(segment, Var(old_rows)),
                                    content_attention(segment, compression.rows));
    segment.add_loss("attention_reconstruction", mean_square(difference));
  }
  append_compressed(remembered, compression, segment.batch, segments_size(segment, "compressed"));
  remembered.rows = slice_rows(remembered.rows, old_count, rows + added - old_count);
  shift_usage(remembered, segment.batch, rows + added, 0, old_count);
}

WeightInfo kernel_weight(const char* name, const char* help,
                         std::function<bool(const Values&)> used) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values& values) -> Shape {
            return {values.integer("rate"), n.model, n.model};
          },
          .initial =
              [](const Shape& shape, const Dimensions&, const Values&, std::uint64_t) {
                Tensor kernel = Tensor::zeros(shape);  // computes the mean of the window
                for (Index t = 0; t < shape[0]; ++t) {
                  for (Index i = 0; i < shape[1]; ++i) {
                    kernel(t, i, i) = 1.0f / static_cast<float>(shape[0]);
                  }
                }
                return kernel;
              },
          .scope = WeightScope::Model,
          .used = std::move(used)};
}

Parameter loss_weight_parameter(const char* key, const char* label, const char* help) {
  return {.key = key,
          .symbol = "",
          .label = label,
          .help = help,
          .kind = Parameter::Kind::Real,
          .scope = {.models = true, .training = true},
          .initial = 0.0,
          .limits = {.min = 0, .max = Parameter::kMaxReal},
          .slider = {.max = 1}};
}

}  // namespace attnscope
