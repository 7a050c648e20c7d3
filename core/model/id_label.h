// What ids that stand for no text are called.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/config.h"

namespace attnscope {

inline constexpr const char* kBoundary = "■";   // where a target, or an image, begins (and ends)
inline constexpr const char* kMask = "[mask]";  // what is to be filled in; texts write it so, too

// A model's own ids: "■" where a target or an image begins, "[mask]" what is to be filled in, a
// pixel's level; else "#14", the number. config: null where it is not known.
std::string id_label(const ModelConfig* config, std::int32_t id);

}  // namespace attnscope
