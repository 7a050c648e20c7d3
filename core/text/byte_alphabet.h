// GPT-2's printable stand-ins for the 256 bytes, in which byte-level vocabularies are written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

// " the" -> "Ġthe". Bytes 33 to 126, 161 to 172 and 174 to 255 map to the code point of the same
// value, the others in order to code points from U+0100.
std::string to_byte_alphabet(std::string_view bytes);
const std::string& byte_letter(char byte);  // of a single byte
// Empty optional if `text` has a character outside the alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);

}  // namespace attnscope
