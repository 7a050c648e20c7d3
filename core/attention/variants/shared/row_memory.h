// Memory of layer inputs, as in Transformer-XL and the Compressive Transformer.
#pragma once

#include "core/attention/remembered.h"
#include "core/base/parameter.h"

namespace attnscope {

// Concatenates a and b along axis 1, [B, n + m, d]; either may be undefined.
Tensor rows_behind(const Tensor& a, const Tensor& b);
// Rows [first, first + count) of x [B, n, d].
Tensor some_rows(const Tensor& x, Index first, Index count);
// The last `most` rows.
Tensor last_rows(const Tensor& x, Index most);

// Parameters "memory", "compressed": row counts that need segments; the default is the segment
// length.
Parameter segments_parameter(const char* key, const char* symbol, const char* label,
                             const char* help);
// Its value, or the usual segment length.
Index segments_size(const SegmentRead& read, const char* key);

}  // namespace attnscope
