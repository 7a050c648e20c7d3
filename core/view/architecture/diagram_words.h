// Texts of the boxes in a model's diagram.
#pragma once

#include <string>

#include "core/model/config.h"

namespace attnscope {

// Returns the text up to its first full stop.
std::string first_sentence(const std::string& text);
std::string layers_words(Index first, Index last);                // "layer 2", "layers 0–3"
std::string heads_words(Index first, Index count);                // "Head 2", "Heads 0–3"
std::string activation_words(Activation activation, bool gated);  // "SiLU, gated"
// "1.9 M", "393 k", "512".
std::string parameters_words(Index count);

}  // namespace attnscope
