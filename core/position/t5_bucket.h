// T5's buckets of distances (Raffel et al., 2019, arXiv:1910.10683; SPEC section 3).
#pragma once

#include "core/tensor/tensor.h"

namespace attnscope {

struct T5Buckets {
  Index count = 32;
  Index max_distance = 128;
  bool bidirectional = true;
};

// The bucket of a key at distance j - i from its query. Exact also where the logarithms of the
// definition give an integer.
Index t5_bucket(const T5Buckets& buckets, Index key_minus_query);

}  // namespace attnscope
