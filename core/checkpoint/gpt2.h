// What other layouts share with GPT-2's.
#pragma once

#include <string>

#include "core/checkpoint/format.h"

namespace attnscope {

// A layer below `from` ("h.3.") to `to` ("layers.3."): matrices [in, out], q, k and v in one. What
// the queries are multiplied with besides.
void read_gpt2_layer(TensorReader& reader, Model& model, const std::string& from,
                     const std::string& to, float query_factor);

}  // namespace attnscope
