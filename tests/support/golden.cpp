#include "tests/support/golden.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/base/file.h"
#include "core/part/choice.h"
#include "tests/support/places.h"

namespace attnscope::testing {
namespace {

std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

// Dimensions of a small model, different from each other where possible.
Dimensions small_dimensions() {
  Dimensions n;
  n.model = 24;
  n.heads = n.kv_heads = 3;
  n.key = 8;
  n.value = 8;
  n.context = 30;
  n.memory = 5;
  n.old_memory = 2;
  n.layers = 4;
  n.vocabulary = 31;
  return n;
}

std::string weight_line(const WeightInfo& weight, const Values& values) {
  std::string text = "  - " + weight.name +
                     describe({{"optional", weight.file.optional},
                               {"constant", weight.training.constant},
                               {"state", weight.file.state},
                               {"of_operation", weight.scope == WeightScope::Operation},
                               {"of_model", weight.scope == WeightScope::Model},
                               {"bytes", weight.file.bytes},
                               {"per_head", weight.file.per_head},
                               {"unused", weight.used && !weight.used(values)}});
  if (weight.training.max) text += " most " + number_text(weight.training.max(values));
  if (!weight.initial || (weight.used && !weight.used(values))) return text + "\n";
  const Dimensions dimensions = small_dimensions();
  const Shape shape = weight.shape(dimensions, values);
  text += " " + to_string(shape);
  const Tensor initial = weight.initial(shape, dimensions, values, 1);
  double sum = 0, squares = 0;
  for (Index n = 0; n < initial.size(); ++n) {
    sum += static_cast<double>(initial.data()[n]);
    squares += std::pow(static_cast<double>(initial.data()[n]), 2);
  }
  const auto count = static_cast<double>(std::max<Index>(initial.size(), 1));
  return text + " mean " + number_text(sum / count) + " size " +
         number_text(std::sqrt(squares / count)) + "\n";
}

constexpr const char* kUpdateHint =
    "\nIf the change is intended, run the test with ATTNSCOPE_UPDATE_GOLDEN=1 and review the diff.";

bool is_updating() {
  return std::getenv("ATTNSCOPE_UPDATE_GOLDEN") != nullptr;
}

std::filesystem::path golden_path(const std::string& path) {
  return source_folder() / "tests" / path;
}

::testing::AssertionResult write_golden(const std::string& text, const std::string& path) {
  std::filesystem::create_directories(golden_path(path).parent_path());
  write_file(golden_path(path), text);
  return ::testing::AssertionSuccess() << "updated";
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Lists the lines between the common beginning and the common end, as "-" and "+" lines.
template <class Equal>
std::string describe_difference(const std::string& expected, const std::string& text,
                                const Equal& equal) {
  constexpr std::size_t kMaxLines = 6;
  const std::vector<std::string> expected_lines = split_lines(expected),
                                 actual_lines = split_lines(text);
  const std::size_t common_size = std::min(expected_lines.size(), actual_lines.size());
  std::size_t first = 0, last = 0;
  while (first < common_size && equal(expected_lines[first], actual_lines[first])) ++first;
  while (last < common_size - first && equal(expected_lines[expected_lines.size() - 1 - last],
                                             actual_lines[actual_lines.size() - 1 - last])) {
    ++last;
  }
  std::string report = ":" + std::to_string(first + 1) + "\n";
  if (first > 0) report += "  " + expected_lines[first - 1] + "\n";
  const auto add = [&](char sign, const std::vector<std::string>& lines) {
    const std::size_t end = lines.size() - last;
    for (std::size_t n = first; n < std::min(end, first + kMaxLines); ++n) {
      report += sign + (" " + lines[n]) + "\n";
    }
    if (end > first + kMaxLines) {
      report += sign + (" ... " + std::to_string(end - first - kMaxLines)) + " more lines\n";
    }
  };
  add('-', expected_lines);
  add('+', actual_lines);
  return report;
}

template <class Equal>
::testing::AssertionResult compare_with_golden(const std::string& text, const std::string& path,
                                               const Equal& equal) {
  if (is_updating()) return write_golden(text, path);
  if (!std::filesystem::exists(golden_path(path))) {
    return ::testing::AssertionFailure() << path << " does not exist" << kUpdateHint;
  }
  const std::string expected = read_file(golden_path(path));
  const std::vector<std::string> expected_lines = split_lines(expected),
                                 actual_lines = split_lines(text);
  if (std::ranges::equal(expected_lines, actual_lines, equal)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << path << describe_difference(expected, text, equal) << kUpdateHint;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A number at the beginning of a text.
struct LeadingNumber {
  explicit LeadingNumber(const char* text) {
    char* end = nullptr;
    value = std::strtod(text, &end);
    length = static_cast<std::size_t>(end - text);
    const std::string digits(text, length);
    const std::size_t exponent = std::min(digits.find_first_of("eE"), digits.size());
    const std::size_t point = digits.find('.');
    const double decimals = point < exponent ? static_cast<double>(exponent - point - 1) : 0;
    const double power = std::strtod(
        ("1e" + (exponent < digits.size() ? digits.substr(exponent + 1) : std::string("0")))
            .c_str(),
        nullptr);
    is_rounded = decimals > 0 || exponent < digits.size() || *end == '%';
    unit = std::pow(10, -decimals) * power;
  }
  double value = 0, unit = 1;  // unit of the last digit
  std::size_t length = 0;
  bool is_rounded = false;
};

bool are_similar_colours(const char* a, const char* b) {
  constexpr int kDigits = 7;  // "#rrggbb"
  if (std::strlen(a) < kDigits || std::strlen(b) < kDigits) return false;
  for (int n = 1; n < kDigits; n += 2) {
    const long x = std::strtol(std::string(a + n, 2).c_str(), nullptr, 16);
    const long y = std::strtol(std::string(b + n, 2).c_str(), nullptr, 16);
    if (std::abs(x - y) > 3) return false;
  }
  return true;
}

bool equal_but_for_rounding(const std::string& expected, const std::string& text) {
  if (expected == text) return true;
  const char *a = expected.c_str(), *b = text.c_str();
  while (*a != 0 && *b != 0) {
    if (*a == '#' && *b == '#' && are_similar_colours(a, b)) {
      a += 7;
      b += 7;
    } else if ((*a == '-' || is_digit(*a)) && (*b == '-' || is_digit(*b))) {
      const LeadingNumber x(a), y(b);
      if (x.length == 0 || y.length == 0) {  // "-" without a number
        if (*a++ != *b++) return false;
        continue;
      }
      const bool is_rounded = x.is_rounded || y.is_rounded;
      const double max_difference = is_rounded ? 1.01 * std::max(x.unit, y.unit) : 0;
      if (!(std::abs(x.value - y.value) <= max_difference)) return false;
      a += x.length;
      b += y.length;
    } else if (*a++ != *b++) {
      return false;
    }
  }
  return *a == *b;
}

}  // namespace

std::string describe(const Flags& flags) {
  std::string text;
  for (const auto& [name, is_set] : flags) {
    if (is_set) text += " " + name;
  }
  return text;
}

std::string describe(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& p : parameters) {
    const auto value = [&](const std::string& name, const Value& v) {
      Choice choice{"", {}};
      choice.values.set(p.key, v);
      return " " + name + " " + to_json(choice).at(p.key).dump();
    };
    text += "  " + p.key + ": " + expected_text(p) +
            describe({{"required", p.required},
                      {"optional", p.optional},
                      {"of_models", p.scope.models},
                      {"of_segments", p.scope.segments},
                      {"of_training", p.scope.training},
                      {"above", p.limits.min_excluded},
                      {"logarithmic", p.slider.logarithmic}});
    text += value("from", p.initial);
    for (const Index length : {7, 64}) {
      if (p.illustrative_default)
        text += value("at " + std::to_string(length), p.illustrative_default(length));
    }
    if (p.slider.max > p.slider.min) {
      text += " slider " + number_text(p.slider.min) + ".." + number_text(p.slider.max);
    }
    for (const ParameterChoice& choice : p.choices) {
      if (choice.models) text += " " + choice.id + " of_models";
    }
    text += "\n";
  }
  return text;
}

std::string describe(const Info& info, const Flags& flags) {
  std::string text = info.id + describe(flags) + "\n" + describe(info.parameters);
  const Values values = default_values(info.parameters);
  for (const WeightInfo& weight : info.weights) text += weight_line(weight, values);
  return text;
}

std::string wrapped_entries(const std::vector<std::string>& entries) {
  constexpr std::size_t kColumns = 100;
  std::string text, line;
  for (const std::string& entry : entries) {
    if (line.empty()) {
      line = "  " + entry;
    } else if (line.size() + 3 + entry.size() > kColumns) {
      text += line + "\n";
      line = "  " + entry;
    } else {
      line += " | " + entry;
    }
  }
  return line.empty() ? text : text + line + "\n";
}

void NamesByResult::add(const std::string& result, const std::string& name) {
  for (auto& [group_result, names] : groups_) {
    if (group_result == result) {
      names.push_back(name);
      return;
    }
  }
  groups_.push_back({result, {name}});
}

std::string NamesByResult::text() const {
  std::string text;
  for (const auto& [result, names] : groups_) text += result + "\n" + wrapped_entries(names);
  return text;
}

::testing::AssertionResult matches_golden(const std::string& text, const std::string& path) {
  return compare_with_golden(text, path,
                             [](const std::string& a, const std::string& b) { return a == b; });
}

::testing::AssertionResult matches_golden_rounded(const std::string& text,
                                                  const std::string& path) {
  return compare_with_golden(text, path, equal_but_for_rounding);
}

::testing::AssertionResult numbers_match_golden(const NamedNumbers& numbers, double tolerance,
                                                const std::string& path) {
  std::string text, group;
  std::vector<std::string> entries;
  for (const auto& [name, value] : numbers) {
    const std::size_t colon = name.find(": ");
    if (name.substr(0, colon) != group) {
      text += wrapped_entries(entries);
      entries.clear();
      group = name.substr(0, colon);
      text += group + "\n";
    }
    char number[40];
    std::snprintf(number, sizeof(number), " %.6g", value);
    entries.push_back(name.substr(colon + 2) + number);
  }
  text += wrapped_entries(entries);
  if (is_updating()) return write_golden(text, path);

  // Compares with the values of the file in order. The file contains values with six digits.
  const std::string expected = read_file(golden_path(path));
  std::istringstream lines(expected);
  std::size_t index = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) {
      group = line;
      continue;
    }
    for (std::size_t begin = 2; begin < line.size();) {
      const std::size_t end = std::min(line.find(" | ", begin), line.size());
      const std::string entry = line.substr(begin, end - begin);
      begin = end + 3;
      const std::size_t space = entry.rfind(' ');
      const std::string name = group + ": " + entry.substr(0, space);
      const double expected_value = std::strtod(entry.c_str() + space, nullptr);
      if (index == numbers.size()) {
        return ::testing::AssertionFailure() << path << ": unexpected end, expected " << name;
      }
      const auto& [actual_name, value] = numbers[index++];
      const bool is_equal =
          std::isnan(expected_value)
              ? std::isnan(value)
              : expected_value == value || std::abs(value - expected_value) <=
                                               tolerance * std::max(1.0, std::abs(expected_value));
      if (name != actual_name || !is_equal) {
        return ::testing::AssertionFailure()
               << path << ":\n- " << name << " " << expected_value << "\n+ " << actual_name << " "
               << value << kUpdateHint;
      }
    }
  }
  if (index < numbers.size()) {
    return ::testing::AssertionFailure()
           << path << ": " << numbers[index].first << " is missing" << kUpdateHint;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace attnscope::testing
