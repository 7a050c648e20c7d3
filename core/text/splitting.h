// Cutting text into the pieces within which byte-level BPE merges.
#pragma once

#include <functional>
#include <string_view>

namespace attnscope {

// GPT-2's expression (Radford et al., 2019), whose pieces cover the whole text:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// Bytes that are no UTF-8 count as neither space, letter nor number.
void split_as_gpt2(std::string_view text, const std::function<void(std::string_view)>& piece);

}  // namespace attnscope
