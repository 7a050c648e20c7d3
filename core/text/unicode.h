// Characters of possibly invalid UTF-8 text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

struct Character {
  std::int32_t code = -1;  // -1: an invalid byte
  std::size_t size = 1;    // bytes
};
// Character at text[at]; requires at < text.size(). Overlong forms, surrogates and codes above
// U+10FFFF are invalid.
Character character_at(std::string_view text, std::size_t at);
bool is_valid_utf8(std::string_view text);

// Returns the code point at text[at] and advances `at`. An invalid byte has a code above U+10FFFF,
// which append_character() converts back to the byte.
std::int32_t next_code(std::string_view text, std::size_t& at);
void append_character(std::string& text, std::int32_t code);

bool is_white_space(std::int32_t code);  // Unicode White_Space

enum class CharacterClass { Letter, Number, Space, Other };
// Unicode L, N and White_Space; invalid bytes are Other.
CharacterClass class_of(std::int32_t code);

// Start offsets of Unicode's extended grapheme clusters (user-perceived characters: a letter with
// its accents, an emoji of several parts), in order. Each invalid byte is one cluster.
std::vector<std::size_t> cluster_starts(std::string_view text);

bool is_control(std::int32_t code);  // Unicode Cc, Cf, Zl, Zp, Cn and Co

}  // namespace attnscope
