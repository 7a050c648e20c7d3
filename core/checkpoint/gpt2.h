// Parts of the GPT-2 layout that other layouts share.
#pragma once

#include <string>

#include "core/checkpoint/format.h"

namespace attnscope {

// Reads a layer with the prefix `from` ("h.3.") into weights with the prefix `to` ("layers.3.").
// Stored matrices are [in, out], with q, k and v fused. Queries are multiplied by `query_factor`.
void read_gpt2_layer(TensorReader& reader, Model& model, const std::string& from,
                     const std::string& to, float query_factor);

}  // namespace attnscope
