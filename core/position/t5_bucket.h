// T5's buckets of distances (Raffel et al., 2019, arXiv:1910.10683; spec.md, section 3).
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

struct T5Buckets {
  Index count = 32;
  Index max_distance = 128;
  bool bidirectional = true;
};

// Bucket of a key at offset j - i from its query. Exact: independent of the rounding of logarithms.
Index t5_bucket(const T5Buckets& buckets, Index key_minus_query);

}  // namespace attnscope
