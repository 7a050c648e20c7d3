// Cutting text into the pieces within which byte-level BPE merges.
#pragma once

#include <functional>
#include <string_view>

namespace attnscope {

// GPT-2's expression (Radford et al., 2019), whose pieces cover the whole text:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// Bytes that are no UTF-8 count as neither space, letter nor number.
void split_as_gpt2(std::string_view text, const std::function<void(std::string_view)>& piece);

// Llama 3's (with `digits` 3) and Qwen 2's (1), whose pieces cover the whole text as well:
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}|
//   ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
void split_as_llama3(std::string_view text, std::size_t digits,
                     const std::function<void(std::string_view)>& piece);

// Each number (\p{N}) by itself, and what lies between them.
void split_numbers(std::string_view text, const std::function<void(std::string_view)>& piece);

// Any of these.
using Splitter =
    std::function<void(std::string_view, const std::function<void(std::string_view)>&)>;

}  // namespace attnscope
