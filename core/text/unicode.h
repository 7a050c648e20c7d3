// Characters of UTF-8 text that may be broken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

struct Character {
  std::int32_t code = -1;  // -1: a byte that belongs to no valid character
  std::size_t size = 1;    // bytes
};
// The character at text[at]; at < text.size(). Overlong forms, surrogates and codes above
// U+10FFFF are not valid.
Character character_at(std::string_view text, std::size_t at);

// The code at text[at], with `at` moved behind it. A byte that belongs to no character has a code
// of its own beyond all others, which append_character() writes as that byte again.
std::int32_t next_code(std::string_view text, std::size_t& at);
void append_character(std::string& text, std::int32_t code);

bool is_white_space(std::int32_t code);  // Unicode's White_Space

enum class CharacterClass { Letter, Number, Space, Other };
// Unicode's L, N and White_Space; bytes that belong to no character are Other.
CharacterClass class_of(std::int32_t code);

// The bytes that a character as a reader knows it begins with, a letter with its accents or an
// emoji of several parts (Unicode's grapheme clusters), in order. Bytes of no character are one
// each.
std::vector<std::size_t> cluster_starts(std::string_view text);

bool is_control(std::int32_t code);  // Unicode's Cc, Cf, Zl, Zp and what is unassigned or private

}  // namespace attnscope
