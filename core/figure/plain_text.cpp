#include "core/figure/plain_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace attnscope {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

template <class... Format>
std::string number(double value, Format... format) {
  std::array<char, 512> buffer;  // the largest double has 309 digits before its point
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format...).ptr;
  return {buffer.data(), end};
}

std::string remove_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string plain_text(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const utf8proc_ssize_t length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                         static_cast<utf8proc_ssize_t>(text.size()), &code);
    const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 ||
                            code == 0x2029 || code == 0xfffe || code == 0xffff;
    const auto byte_count = static_cast<std::size_t>(std::max<utf8proc_ssize_t>(length, 1));
    result += length <= 0 || is_control ? kReplacement : text.substr(0, byte_count);
    text.remove_prefix(byte_count);
  }
  return result;
}

std::string markup(std::string_view text) {
  std::string result;
  for (const char c : plain_text(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string fixed(double value, int decimals) {
  std::string text = number(value, std::chars_format::fixed, decimals);
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string brief(double value, int digits) {
  constexpr double kMinPlain = 1e-3, kMaxPlain = 1e6;
  if (value == 0) return "0";
  // Rounds before choosing the format: 0.00099999 is 0.001.
  std::string text = number(value, std::chars_format::scientific, digits - 1);
  const auto e_position = text.find('e');
  if (e_position == std::string::npos) return text;  // not finite
  const int exponent = std::stoi(text.substr(e_position + 1));
  const double magnitude = std::pow(10.0, exponent);
  if (magnitude >= kMinPlain && (magnitude < kMaxPlain || exponent < digits)) {
    return decimal(value, std::max(0, digits - 1 - exponent));
  }
  return remove_trailing_zeros(text.substr(0, e_position)) + "e" + std::to_string(exponent);
}

std::string general(double value, int digits) {
  return number(value, std::chars_format::general, digits);
}

std::string decimal(double value, int places) {
  return remove_trailing_zeros(fixed(value, places));
}

std::string percent(double ratio, int digits) {
  constexpr double kRounding = 5e-6;  // rounding errors of sums of weights
  constexpr int kMaxDigits = 4;
  if (std::abs(ratio - 1) < kRounding) return "100%";
  if (std::abs(ratio) > 0 && std::abs(ratio) < 1e-4) return ratio < 0 ? ">-0.01%" : "<0.01%";
  std::string text = brief(100 * ratio, digits);
  while (text == "100" && ratio < 1 && digits < kMaxDigits) text = brief(100 * ratio, ++digits);
  return text == "100" && ratio < 1 ? ">99.99%" : text + "%";
}

std::string grouped(long long value) {
  constexpr std::size_t kGroup = 3;
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t remaining = digits.size() - i;
    if (i > 0 && digits[i - 1] != '-' && remaining % kGroup == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string count_text(long long count, std::string_view singular, std::string_view plural) {
  const std::string text = grouped(count) + " ";
  if (count == 1) return text + std::string(singular);
  return text + (plural.empty() ? std::string(singular) + "s" : std::string(plural));
}

}  // namespace attnscope
