// Remembering the rows that entered a layer: what Transformer-XL and the Compressive Transformer
// do.
#pragma once

#include "core/attention/remembered.h"
#include "core/base/parameter.h"

namespace attnscope {

// a and b behind each other along axis 1, [B, n + m, d]; either may be undefined.
Tensor rows_behind(const Tensor& a, const Tensor& b);
// Rows [first, first + count) of x [B, n, d].
Tensor some_rows(const Tensor& x, Index first, Index count);
// The last `most` rows.
Tensor last_rows(const Tensor& x, Index most);

// "memory", "compressed": sizes that need segments, which say how large they are otherwise.
Parameter segments_parameter(const char* key, const char* symbol, const char* label,
                             const char* help);
// Its value, or the usual length of a segment.
Index segments_size(const SegmentRead& read, const char* key);

}  // namespace attnscope
