// Base64 (RFC 4648, with padding).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attnscope {

std::string to_base64(std::string_view bytes);
// Nullopt unless `text` is what to_base64() writes for some bytes.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace attnscope
