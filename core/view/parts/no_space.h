// What a picture says for which there is no space, so that whoever has more to give knows it.
#pragma once

#include <string_view>

namespace attnscope {

inline constexpr const char* kNoSpace = "No space for the picture";

// Of ViewLayout::refusal.
inline bool lacks_space(std::string_view refusal) {
  return refusal.starts_with(kNoSpace);
}

}  // namespace attnscope
