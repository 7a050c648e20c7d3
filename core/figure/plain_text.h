// Text and numbers as pictures show them, the same in every locale.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

// Valid UTF-8 without controls: whatever is neither becomes U+FFFD. What painters are given may
// come from a hostile file (a model's name).
std::string plain_text(std::string_view text);

// The same for XML and HTML: with entities for what has a meaning there.
std::string markup(std::string_view text);

// "-0.25" for (-0.25, 2); never "-0.00".
std::string fixed(double value, int decimals);
// "0.25", "1e-05", "128": `digits` significant digits, no trailing zeros.
std::string brief(double value, int digits = 3);
// With at most this many decimal places: "12", "12.4", "20.95".
std::string decimal(double value, int places = 2);
// "1,234,567".
std::string grouped(long long value);

}  // namespace attnscope
