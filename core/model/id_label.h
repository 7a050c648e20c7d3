// Labels of ids that are not text tokens.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/config.h"

namespace attnscope {

inline constexpr const char* kBoundary = "■";   // start (and end) of a target or an image
inline constexpr const char* kMask = "[mask]";  // token to predict; users type [mask], too

// Label of a model-specific id: "■" for the start of a target or an image, "[mask]", a pixel's
// level; otherwise the number, "#14". config: null if unknown.
std::string id_label(const ModelConfig* config, std::int32_t id);

}  // namespace attnscope
