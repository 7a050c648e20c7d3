// Memory of layer inputs, as in Transformer-XL and the Compressive Transformer.
#pragma once

#include "core/attention/remembered.h"
#include "core/base/parameter.h"

namespace attnscope {

// Concatenates a and b along axis 1, [B, n + m, d]; either may be undefined.
Tensor concat_rows(const Tensor& a, const Tensor& b);
// Rows [first, first + count) of x [B, n, d].
Tensor slice_rows(const Tensor& x, Index first, Index count);
// The last rows, at most `max_rows`.
Tensor last_rows(const Tensor& x, Index max_rows);

// Parameter "memory" or "compressed": number of stored earlier rows, by default the segment length.
Parameter segments_parameter(const char* key, const char* symbol, const char* label,
                             const char* help);
// Value of parameter `key`, by default the configured segment length.
Index segments_size(const CompletedSegment& segment, const char* key);

}  // namespace attnscope
