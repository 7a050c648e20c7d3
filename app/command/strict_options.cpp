#include "app/command/strict_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace attnscope::command {

namespace {

constexpr const char* kTexts[] = {"text", "compare-text"};  // long names without dashes

bool is_text(const CLI::Option& option) {
  return std::ranges::any_of(option.get_lnames(), [](const std::string& name) {
    return std::ranges::find(kTexts, name) != std::end(kTexts);
  });
}

std::string refusal(const std::string& expected, const std::string& found) {
  return "expected " + expected + ", found \"" + found + "\"";
}

// Decimal digits alone: what begins with 0x or with a 0 would be read in another base.
template <class Integer>
std::string integer_refusal(const std::string& text) {
  const std::string wrong = refusal("an integer", text);
  Integer value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range && rest == end) {
    return refusal("an integer from " + std::to_string(std::numeric_limits<Integer>::min()) +
                       " to " + std::to_string(std::numeric_limits<Integer>::max()),
                   text);
  }
  const std::size_t digits = text.starts_with('-') ? 1 : 0;
  const bool octal = text.size() > digits + 1 && text[digits] == '0';
  if (std::is_unsigned_v<Integer> && digits == 1) return refusal("an integer of at least 0", text);
  return error != std::errc() || rest != end || octal ? wrong : "";
}

std::string number_refusal(const std::string& text) {
  char* rest = nullptr;
  const double value = std::strtod(text.c_str(), &rest);
  const bool whole = rest == text.c_str() + text.size();
  return whole && std::isfinite(value) ? "" : refusal("a finite number", text);
}

void refuse_bad_values(CLI::Option& option) {
  if (option.get_expected_max() == 0 || option.get_type_size_max() == 0) return;  // a flag
  const std::string type = option.get_type_name();
  if (type.starts_with("INT")) {
    option.check(integer_refusal<std::int64_t>, "");
  } else if (type.starts_with("UINT")) {
    option.check(integer_refusal<std::uint64_t>, "");
  } else if (type.starts_with("FLOAT")) {
    option.check(number_refusal, "");
  } else if (!is_text(option)) {
    option.check(
        [](const std::string& text) { return text.empty() ? refusal("a value", text) : ""; }, "");
  }
}

}  // namespace

void refuse_bad_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) refuse_bad_values(*option);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    refuse_bad_values(*command);
  }
}

}  // namespace attnscope::command
