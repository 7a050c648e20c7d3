#include "tests/support/told.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "core/base/error.h"
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

// Sizes of a small model, all different where they can be.
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
                     told({{"optional", weight.optional},
                           {"constant", weight.constant},
                           {"state", weight.state},
                           {"of_operation", weight.of_operation},
                           {"of_model", weight.of_model},
                           {"bytes", weight.bytes},
                           {"per_head", weight.per_head},
                           {"unused", weight.used && !weight.used(values)}});
  if (weight.most) text += " most " + number_text(weight.most(values));
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

}  // namespace

std::string told(const Flags& flags) {
  std::string text;
  for (const auto& [name, set] : flags) {
    if (set) text += " " + name;
  }
  return text;
}

std::string told(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& p : parameters) {
    const auto value = [&](const std::string& name, const Value& v) {
      Choice choice{"", {}};
      choice.values.set(p.key, v);
      return " " + name + " " + to_json(choice).at(p.key).dump();
    };
    text += "  " + p.key + ": " + expected_text(p) +
            told({{"required", p.required},
                  {"optional", p.optional},
                  {"of_models", p.of_models},
                  {"of_segments", p.of_segments},
                  {"of_training", p.of_training},
                  {"above", p.least_excluded},
                  {"logarithmic", p.slider_logarithmic}});
    text += value("from", p.initial);
    for (const Index length : {7, 64}) {
      if (p.telling) text += value("at " + std::to_string(length), p.telling(length));
    }
    if (p.slider_most > p.slider_least) {
      text += " slider " + number_text(p.slider_least) + ".." + number_text(p.slider_most);
    }
    for (const std::string& choice : p.choices_of_models) text += " " + choice + " of_models";
    text += "\n";
  }
  return text;
}

std::string told(const Info& info, const Flags& flags) {
  std::string text = info.id + told(flags) + "\n" + told(info.parameters);
  const Values values = default_values(info.parameters);
  for (const WeightInfo& weight : info.weights) text += weight_line(weight, values);
  return text;
}

::testing::AssertionResult is_as_told(const std::string& text, const std::string& file) {
  const std::filesystem::path path = source_folder() / "tests" / file;
  if (std::getenv("ATTNSCOPE_WRITE_TOLD") != nullptr) {
    write_file(path, text);
    return ::testing::AssertionSuccess() << "written";
  }
  const std::string kept = read_file(path);
  if (text == kept) return ::testing::AssertionSuccess();
  std::size_t at = 0;
  while (at < text.size() && at < kept.size() && text[at] == kept[at]) ++at;
  const auto line = [&](const std::string& whole) {
    const std::size_t begin = at == 0 ? 0 : whole.rfind('\n', at - 1) + 1;
    return whole.substr(begin, whole.find('\n', at) - begin);
  };
  return ::testing::AssertionFailure()
         << path << " says\n"
         << line(kept) << "\nand now it is\n"
         << line(text) << "\nIf that is meant, run the test with ATTNSCOPE_WRITE_TOLD=1.";
}

::testing::AssertionResult are_as_told(const NamedNumbers& numbers, double tolerance,
                                       const std::string& file) {
  const std::filesystem::path path = source_folder() / "tests" / file;
  if (std::getenv("ATTNSCOPE_WRITE_TOLD") != nullptr) {
    std::string text;
    for (const auto& [name, value] : numbers) {
      char number[40];
      std::snprintf(number, sizeof(number), "%.6g", value);
      text += name + " " + number + "\n";
    }
    write_file(path, text);
    return ::testing::AssertionSuccess() << "written";
  }
  const std::string kept = read_file(path);
  std::size_t at = 0;
  for (const auto& [name, value] : numbers) {
    const std::string line = kept.substr(at, kept.find('\n', at) - at);
    const std::size_t space = line.rfind(' ');
    const bool same_name = space != std::string::npos && line.substr(0, space) == name;
    const double expected = same_name ? std::strtod(line.c_str() + space, nullptr) : 0;
    const bool same =
        same_name && (std::isnan(expected)
                          ? std::isnan(value)
                          : expected == value || std::abs(value - expected) <=
                                                     tolerance * std::max(1.0, std::abs(expected)));
    if (!same) {
      return ::testing::AssertionFailure()
             << path << " says\n"
             << line << "\nand now it is\n"
             << name << " " << value
             << "\nIf that is meant, run the test with ATTNSCOPE_WRITE_TOLD=1.";
    }
    at += line.size() + 1;
  }
  if (at < kept.size()) return ::testing::AssertionFailure() << path << " says more than there is";
  return ::testing::AssertionSuccess();
}

}  // namespace attnscope::testing
