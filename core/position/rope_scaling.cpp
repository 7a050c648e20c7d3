#include "core/position/rope_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/position/sinusoid.h"

namespace attnscope {
namespace {

std::string scaling_type(const Values& values) {
  return values.has("scaling") ? values.choice("scaling") : "linear";
}

double original_length(const Values& values) {
  return static_cast<double>(values.integer("original"));
}

double value_or(const Values& values, const char* key, double fallback) {
  return values.has(key) ? values.real(key) : fallback;
}

double rotations_in(double original, double frequency) {
  return original * frequency / (2 * std::numbers::pi);
}

// Weight of the unscaled frequency in the interpolation, in [0, 1].
double llama3_fraction(double frequency, const Values& values) {
  const double slow = value_or(values, "slow_turns", 1), fast = value_or(values, "fast_turns", 4);
  const double rotations = rotations_in(original_length(values), frequency);
  return std::clamp((rotations - slow) / (fast - slow), 0.0, 1.0);
}

// Real-valued index of the pair with `count` rotations in the original context.
double pair_with_rotations(double count, const Values& values, Index dims) {
  return static_cast<double>(dims) *
         std::log(original_length(values) / (count * 2 * std::numbers::pi)) /
         (2 * std::log(values.real("base")));
}

double yarn_fraction(Index pair, const Values& values, Index dims) {
  double first = pair_with_rotations(value_or(values, "fast_turns", 32), values, dims);
  double last = pair_with_rotations(value_or(values, "slow_turns", 1), values, dims);
  if (!values.has("whole_pairs") || values.flag("whole_pairs")) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, static_cast<double>(dims - 1));
  if (first == last) last += 0.001;  // as in the released code
  return 1 - std::clamp((static_cast<double>(pair) - first) / (last - first), 0.0, 1.0);
}

double dynamic_base(const Values& values, Index dims, Index length) {
  const double original = original_length(values), base = values.real("base");
  const double extended = std::max(static_cast<double>(length), original);
  const double factor = values.real("factor");
  return base * std::pow(factor * extended / original - (factor - 1),
                         static_cast<double>(dims) / static_cast<double>(dims - 2));
}

Parameter rotations_parameter(const char* key, const char* label, const char* help,
                              double initial) {
  return {.key = key,
          .symbol = "",
          .label = label,
          .help = help,
          .kind = Parameter::Kind::Real,
          .optional = true,
          .unset_label = "as published",
          .initial = initial,
          .limits = {.min = 0, .max = Parameter::kMaxReal, .min_excluded = true},
          .slider = {.min = 0.5, .max = 64, .logarithmic = true}};
}

Parameter factors_parameter(const char* key, const char* label, const char* help) {
  return {.key = key,
          .symbol = "",
          .label = label,
          .help = help,
          .kind = Parameter::Kind::Reals,
          .optional = true,
          .unset_label = "none",
          .initial = std::vector<double>{},
          .limits = {.min = 1e-6, .max = 1e6}};
}

}  // namespace

std::vector<Parameter> rope_scaling_parameters() {
  return {
      {.key = "scaling",
       .symbol = "",
       .label = "Scaling type",
       .help = "Pairs that the factor slows: all (linear), those that rotate rarely within the "
               "original context (llama3, yarn), or all in longer texts only (dynamic).",
       .kind = Parameter::Kind::Choice,
       .optional = true,
       .unset_label = "linear",
       .initial = std::string("linear"),
       .choices = {"linear", "llama3", "dynamic", "yarn", "longrope"}},
      {.key = "original",
       .symbol = "N",
       .label = "Original context",
       .help = "Context length in tokens that the frequencies were trained on.",
       .optional = true,
       .unset_label = "unknown",
       .initial = Index{4096},
       .limits = {.min = 1},
       .slider = {.min = 16, .max = 8192}},
      rotations_parameter("slow_turns", "Slow pairs",
                          "Pairs with fewer rotations in the original context are slowed by the "
                          "factor (llama3, yarn).",
                          1),
      rotations_parameter("fast_turns", "Fast pairs",
                          "Pairs with more rotations in the original context stay unscaled "
                          "(llama3: 4, yarn: 32).",
                          4),
      {.key = "whole_pairs",
       .symbol = "",
       .label = "Whole pairs",
       .help = "Rounds YaRN's bounds between fast and slow pairs to whole pairs.",
       .kind = Parameter::Kind::Flag,
       .optional = true,
       .unset_label = "yes",
       .initial = true},
      {.key = "gain",
       .symbol = "",
       .label = "Gain",
       .help = "Factor of the rotated components; scores scale with its square (yarn, longrope).",
       .kind = Parameter::Kind::Real,
       .optional = true,
       .unset_label = "1",
       .initial = 1.0,
       .limits = {.min = 0, .max = 1e6, .min_excluded = true},
       .slider = {.min = 0.5, .max = 2}},
      factors_parameter("short_factors", "Short factors",
                        "Slowdown of each pair in texts up to the original context (longrope)."),
      factors_parameter("long_factors", "Long factors",
                        "Slowdown of each pair in longer texts (longrope).")};
}

std::string rope_scaling_objection(const Values& values, Index dims) {
  const std::string scaling = scaling_type(values);
  if (scaling == "linear") return {};
  if (!values.has("original")) {
    return "original: expected the original context length for \"" + scaling + "\", found none";
  }
  if (scaling == "dynamic" && dims <= 2) {
    return "scaling: expected more than one rotated pair for \"dynamic\", found " +
           std::to_string(dims / 2);
  }
  if (scaling == "llama3" &&
      !(value_or(values, "fast_turns", 4) > value_or(values, "slow_turns", 1))) {
    return "fast_turns: expected more than slow_turns";
  }
  if (scaling == "yarn" && !(values.real("base") > 1)) {
    return "base: expected more than 1 for \"yarn\"";
  }
  if (scaling != "longrope") return {};
  for (const char* key : {"short_factors", "long_factors"}) {
    const auto count =
        values.has(key) ? static_cast<Index>(values.get<std::vector<double>>(key).size()) : 0;
    if (count != dims / 2) {
      return std::string(key) + ": expected one factor for each of the " +
             std::to_string(dims / 2) + " rotated pairs, found " + std::to_string(count);
    }
  }
  return {};
}

std::vector<double> rope_frequencies(const Values& values, Index dims, Index length) {
  const std::string scaling = scaling_type(values);
  const double factor = values.real("factor");
  const double base =
      scaling == "dynamic" ? dynamic_base(values, dims, length) : values.real("base");
  std::vector<double> frequencies = sinusoid_frequencies(dims, base);
  const bool is_long =
      scaling == "longrope" && static_cast<double>(length) > original_length(values);
  for (std::size_t t = 0; t < frequencies.size(); ++t) {
    double& w = frequencies[t];
    if (scaling == "linear") {
      w /= factor;
    } else if (scaling == "longrope") {
      w /= values.get<std::vector<double>>(is_long ? "long_factors" : "short_factors")[t];
    } else if (scaling != "dynamic") {
      const double fraction = scaling == "yarn" ? yarn_fraction(static_cast<Index>(t), values, dims)
                                                : llama3_fraction(w, values);
      w = fraction * w + (1 - fraction) * w / factor;
    }
  }
  return frequencies;
}

double rope_gain(const Values& values) {
  return value_or(values, "gain", 1);
}

bool rope_depends_on_length(const Values& values, Index context) {
  const std::string scaling = scaling_type(values);
  return (scaling == "dynamic" || scaling == "longrope") &&
         static_cast<double>(context) > original_length(values);
}

}  // namespace attnscope
