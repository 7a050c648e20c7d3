// Parts of the GPT-2 layout that other layouts share.
#pragma once

#include <string>

#include "core/checkpoint/format.h"

namespace attnscope {

// Reads a layer from `from` ("h.3.") to `to` ("layers.3."): matrices [in, out], q, k and v fused.
// Queries are multiplied by `query_factor`.
void read_gpt2_layer(TensorReader& reader, Model& model, const std::string& from,
                     const std::string& to, float query_factor);

}  // namespace attnscope
