#include "core/position/rope_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/position/sinusoid.h"

namespace attnscope {

namespace {

std::string scaling_of(const Values& values) {
  return values.has("scaling") ? values.choice("scaling") : "linear";
}

double original_of(const Values& values) {
  return static_cast<double>(values.integer("original"));
}

double or_else(const Values& values, const char* key, double otherwise) {
  return values.has(key) ? values.real(key) : otherwise;
}

double turns(double frequency, double original) {
  return original * frequency / (2 * std::numbers::pi);
}

// The share of the unscaled frequency, 0 to 1.
double llama3_share(double frequency, const Values& values) {
  const double slow = or_else(values, "slow_turns", 1), fast = or_else(values, "fast_turns", 4);
  return std::clamp((turns(frequency, original_of(values)) - slow) / (fast - slow), 0.0, 1.0);
}

// The first pair, as a real number, that makes fewer turns than so many.
double pair_of_turns(double count, const Values& values, Index dims) {
  return static_cast<double>(dims) *
         std::log(original_of(values) / (count * 2 * std::numbers::pi)) /
         (2 * std::log(values.real("base")));
}

double yarn_share(Index pair, const Values& values, Index dims) {
  double first = pair_of_turns(or_else(values, "fast_turns", 32), values, dims);
  double last = pair_of_turns(or_else(values, "slow_turns", 1), values, dims);
  if (!values.has("whole_pairs") || values.flag("whole_pairs")) {
    first = std::floor(first);
    last = std::ceil(last);
  }
  first = std::max(first, 0.0);
  last = std::min(last, static_cast<double>(dims - 1));
  if (first == last) last += 0.001;  // as published
  return 1 - std::clamp((static_cast<double>(pair) - first) / (last - first), 0.0, 1.0);
}

double dynamic_base(const Values& values, Index dims, Index length) {
  const double original = original_of(values), base = values.real("base");
  const double now = std::max(static_cast<double>(length), original);
  const double factor = values.real("factor");
  return base * std::pow(factor * now / original - (factor - 1),
                         static_cast<double>(dims) / static_cast<double>(dims - 2));
}

Parameter turns_parameter(const char* key, const char* label, const char* help, double initial) {
  return {.key = key,
          .symbol = "",
          .label = label,
          .help = help,
          .kind = Parameter::Kind::Real,
          .optional = true,
          .left_out = "as published",
          .initial = initial,
          .least = 0,
          .most = Parameter::kMostReal,
          .least_excluded = true,
          .slider_least = 0.5,
          .slider_most = 64,
          .slider_logarithmic = true};
}

Parameter factors_parameter(const char* key, const char* label, const char* help) {
  return {.key = key,
          .symbol = "",
          .label = label,
          .help = help,
          .kind = Parameter::Kind::Reals,
          .optional = true,
          .left_out = "none",
          .initial = std::vector<double>{},
          .least = 1e-6,
          .most = 1e6};
}

}  // namespace

std::vector<Parameter> rope_scaling_parameters() {
  return {
      {.key = "scaling",
       .symbol = "",
       .label = "Stretching",
       .help = "How the factor slows the turns: all alike, or by how often a pair turns within the "
               "original context, or only in longer texts.",
       .kind = Parameter::Kind::Choice,
       .optional = true,
       .left_out = "linear",
       .initial = std::string("linear"),
       .choices = {"linear", "llama3", "dynamic", "yarn", "longrope"}},
      {.key = "original",
       .symbol = "N",
       .label = "Original context",
       .help = "Tokens of the texts that frequencies were trained on, before they were stretched.",
       .optional = true,
       .left_out = "not known",
       .initial = Index{4096},
       .least = 1,
       .slider_least = 16,
       .slider_most = 8192},
      turns_parameter("slow_turns", "Slow pairs",
                      "Pairs with fewer turns in the original context are slowed by the factor "
                      "(llama3, yarn).",
                      1),
      turns_parameter("fast_turns", "Fast pairs",
                      "Pairs with more turns in the original context stay as they are (llama3: 4, "
                      "yarn: 32).",
                      4),
      {.key = "whole_pairs",
       .symbol = "",
       .label = "Whole pairs",
       .help = "YaRN's bounds between fast and slow pairs are rounded to whole pairs.",
       .kind = Parameter::Kind::Flag,
       .optional = true,
       .left_out = "yes",
       .initial = true},
      {.key = "gain",
       .symbol = "",
       .label = "Gain",
       .help = "Turned components are multiplied by it, scores by its square (yarn, longrope).",
       .kind = Parameter::Kind::Real,
       .optional = true,
       .left_out = "1",
       .initial = 1.0,
       .least = 0,
       .most = 1e6,
       .least_excluded = true,
       .slider_least = 0.5,
       .slider_most = 2},
      factors_parameter("short_factors", "Short factors",
                        "What each pair is slowed by in texts up to the original context "
                        "(longrope)."),
      factors_parameter("long_factors", "Long factors",
                        "What each pair is slowed by in longer texts (longrope).")};
}

std::string rope_scaling_objection(const Values& values, Index dims) {
  const std::string scaling = scaling_of(values);
  if (scaling == "linear") return {};
  if (!values.has("original")) {
    return "original: expected the tokens of the original context, which " + scaling +
           " needs, found nothing";
  }
  if (scaling == "dynamic" && dims <= 2) {
    return "scaling: dynamic needs more than one turned pair, found " + std::to_string(dims / 2);
  }
  if (scaling == "llama3" &&
      !(or_else(values, "fast_turns", 4) > or_else(values, "slow_turns", 1))) {
    return "fast_turns: expected more than slow_turns";
  }
  if (scaling == "yarn" && !(values.real("base") > 1)) {
    return "base: expected more than 1, which yarn needs";
  }
  if (scaling != "longrope") return {};
  for (const char* key : {"short_factors", "long_factors"}) {
    const auto found =
        values.has(key) ? static_cast<Index>(values.get<std::vector<double>>(key).size()) : 0;
    if (found != dims / 2) {
      return std::string(key) + ": expected one for each of the " + std::to_string(dims / 2) +
             " turned pairs, found " + std::to_string(found);
    }
  }
  return {};
}

std::vector<double> rope_frequencies(const Values& values, Index dims, Index length) {
  const std::string scaling = scaling_of(values);
  const double factor = values.real("factor");
  const double base =
      scaling == "dynamic" ? dynamic_base(values, dims, length) : values.real("base");
  std::vector<double> frequencies = sinusoid_frequencies(dims, base);
  const bool is_long = scaling == "longrope" && static_cast<double>(length) > original_of(values);
  for (std::size_t t = 0; t < frequencies.size(); ++t) {
    double& w = frequencies[t];
    if (scaling == "linear") {
      w /= factor;
    } else if (scaling == "longrope") {
      w /= values.get<std::vector<double>>(is_long ? "long_factors" : "short_factors")[t];
    } else if (scaling != "dynamic") {
      const double share = scaling == "yarn" ? yarn_share(static_cast<Index>(t), values, dims)
                                             : llama3_share(w, values);
      w = share * w + (1 - share) * w / factor;
    }
  }
  return frequencies;
}

double rope_gain(const Values& values) {
  return or_else(values, "gain", 1);
}

bool rope_follows_length(const Values& values, Index context) {
  const std::string scaling = scaling_of(values);
  return (scaling == "dynamic" || scaling == "longrope") &&
         static_cast<double>(context) > original_of(values);
}

}  // namespace attnscope
