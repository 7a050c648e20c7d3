// Base64 (RFC 4648, with padding).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

std::string to_base64(std::string_view bytes);
// Returns the bytes of which `text` is the result of to_base64(); nullopt for any other text.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace attnscope
