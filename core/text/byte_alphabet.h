// GPT-2's byte alphabet: a printable character for each byte, used in byte-level vocabularies.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

// " the" -> "Ġthe". Bytes 33 to 126, 161 to 172 and 174 to 255 map to the code point of the same
// value. The remaining bytes map, in order, to code points from U+0100.
std::string to_byte_alphabet(std::string_view bytes);
const std::string& byte_letter(char byte);  // the byte's character
// Inverse of to_byte_alphabet(); nullopt if `text` has a character outside the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);

}  // namespace attnscope
