// Texts of the boxes in a model's diagram.
#pragma once

#include <string>

#include "core/model/config.h"

namespace attnscope {

// Returns the text up to its first full stop.
std::string first_sentence(const std::string& text);
std::string describe_layers(Index first, Index last);  // "layer 2", "layers 0–3"
std::string describe_heads(Index first, Index count);  // "Head 2", "Heads 0–3"
// "1.9 M", "393 k", "512".
std::string format_parameters(Index count);

}  // namespace attnscope
