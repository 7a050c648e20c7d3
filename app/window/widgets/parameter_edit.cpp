#include "app/window/widgets/parameter_edit.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace attnscope::window {
namespace {

// Adds the brackets that the user omitted, so that the list is valid JSON.
std::string add_brackets(const Parameter& parameter, std::string_view text) {
  if (text.find('[') != std::string_view::npos) return std::string(text);
  if (parameter.kind != Parameter::Kind::IntegerLists) return "[" + std::string(text) + "]";
  std::string json = "[[";
  for (const char c : text) json += c == ';' ? "], [" : std::string(1, c);
  return json + "]]";
}

std::string remove_brackets(std::string text) {
  if (text.size() >= 2 && text.front() == '[') text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

Index clamped(const Parameter& p, Index value) {
  return std::clamp(value, static_cast<Index>(std::ceil(p.limits.min)),
                    static_cast<Index>(std::floor(p.limits.max)));
}

double clamped(const Parameter& p, double value) {
  if (!std::isfinite(value)) return std::get<double>(p.initial);
  value = std::clamp(value, p.limits.min, p.limits.max);
  if (p.limits.min_excluded && value <= p.limits.min) {
    value = std::max(std::nextafter(p.limits.min, p.limits.max), p.slider.min);
  }
  return value;
}

std::string number_format(const Parameter& p) {
  const double range = p.slider.max - p.slider.min;
  if (p.slider.logarithmic) return "%.6g";
  return range >= 100 ? "%.1f" : (range >= 2 ? "%.2f" : "%.3f");
}

bool is_initial(const Parameter& p, const Values& values) {
  if (p.optional) return !values.has(p.key);
  const auto it = values.all().find(p.key);
  return it != values.all().end() && it->second == p.initial;
}

Values reset(const Parameter& p, const Values& values) {
  Values next = values;
  if (p.optional) {
    next.erase(p.key);
  } else {
    next.set(p.key, p.initial);
  }
  return next;
}

Values with_initial(const Parameter& p, const Values& values) {
  Values next = values;
  next.set(p.key, p.initial);
  return next;
}

std::optional<Value> list_from_text(const Parameter& p, std::string_view text,
                                    std::string& problem) {
  problem.clear();
  const bool is_blank = text.find_first_not_of(" \t") == std::string_view::npos;
  try {
    return value_from_text(p, is_blank ? "[]" : add_brackets(p, text), p.label);
  } catch (const InputError& e) {
    problem = e.what();
    return std::nullopt;
  }
}

std::string list_to_text(const Value& value) {
  if (const auto* rows = std::get_if<std::vector<std::vector<Index>>>(&value)) {
    std::string text;
    for (const std::vector<Index>& row : *rows) {
      if (!text.empty()) text += "; ";
      text += remove_brackets(to_text(Value(row)));
    }
    return text;
  }
  return remove_brackets(to_text(value));
}

}  // namespace attnscope::window
