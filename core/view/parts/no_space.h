// Message of a picture that does not fit its space, so that callers with more space can retry.
#pragma once

#include <string_view>

namespace attnscope {

inline constexpr const char* kNoSpace = "No space for the picture";

// True if `refusal` (ViewLayout::refusal) reports lack of space.
inline bool lacks_space(std::string_view refusal) {
  return refusal.starts_with(kNoSpace);
}

}  // namespace attnscope
