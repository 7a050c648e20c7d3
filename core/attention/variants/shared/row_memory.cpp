#include "core/attention/variants/shared/row_memory.h"

#include <algorithm>

#include "core/autodiff/operations_shape.h"

namespace attnscope {

Tensor concat_rows(const Tensor& a, const Tensor& b) {
  if (!a.defined() || a.dim(1) == 0) return b;
  if (!b.defined() || b.dim(1) == 0) return a;
  return concat({Var(a), Var(b)}, 1).value();
}

Tensor slice_rows(const Tensor& x, Index first, Index count) {
  if (count == x.dim(1)) return x;
  return slice(Var(x), 1, first, count).value();
}

Tensor last_rows(const Tensor& x, Index max_rows) {
  const Index count = std::min(max_rows, x.dim(1));
  return slice_rows(x, x.dim(1) - count, count);
}

Parameter segments_parameter(const char* key, const char* symbol, const char* label,
                             const char* help) {
  return {.key = key,
          .symbol = symbol,
          .label = label,
          .help = help,
          .optional = true,
          .unset_label = "a segment",
          .scope = {.models = true, .segments = true},
          .initial = Index{64},
          .slider = {.max = 512}};
}

Index segments_size(const CompletedSegment& segment, const char* key) {
  return segment.values.has(key) ? segment.values.integer(key) : segment.segment_length;
}

}  // namespace attnscope
