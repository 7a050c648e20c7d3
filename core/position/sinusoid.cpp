#include "core/position/sinusoid.h"

#include <cmath>

#include "core/base/error.h"

namespace attnscope {

std::vector<double> sinusoid_frequencies(Index d, double base) {
  std::vector<double> frequencies;
  for (Index t = 0; t < d / 2; ++t) {
    frequencies.push_back(std::pow(base, -2.0 * static_cast<double>(t) / static_cast<double>(d)));
  }
  return frequencies;
}

std::optional<double> learned_base(const NamedVars& weights) {
  const Var* log_base = find_weight(weights, "pos.log_base");
  if (!log_base) return std::nullopt;
  return std::exp(static_cast<double>(log_base->value()[0]));
}

double finite_angle(double position, double frequency) {
  const double angle = position * frequency;
  if (std::isfinite(angle)) return angle;
  throw InputError("position.base: expected finite angles, found an overflow");
}

Tensor sinusoid_table(const std::vector<double>& positions, const std::vector<double>& frequencies,
                      bool sines_first) {
  Tensor table({static_cast<Index>(positions.size()), 2 * static_cast<Index>(frequencies.size())});
  const auto waves = static_cast<Index>(frequencies.size());
  float* row = table.data();
  for (const double position : positions) {
    for (Index t = 0; t < waves; ++t) {
      const double angle = finite_angle(position, frequencies[static_cast<std::size_t>(t)]);
      row[sines_first ? t : 2 * t] = static_cast<float>(std::sin(angle));
      row[sines_first ? waves + t : 2 * t + 1] = static_cast<float>(std::cos(angle));
    }
    row += 2 * waves;
  }
  return table;  // [L, d]
}

std::vector<double> to_doubles(const std::vector<std::int32_t>& positions) {
  return {positions.begin(), positions.end()};
}

std::string odd_size_objection(Index d, const char* name) {
  if (d <= 0 || d % 2 == 0) return {};
  return std::string(name) + ": expected an even size d for sine and cosine, found " +
         std::to_string(d);
}

Parameter wave_style_parameter() {
  return {.key = "style",
          .symbol = "",
          .label = "Sine order",
          .help = "Interleaved sines and cosines, or all sines before all cosines.",
          .kind = Parameter::Kind::Choice,
          .initial = std::string("interleaved"),
          .choices = {"interleaved", "half"}};
}

Parameter base_parameter(double initial) {
  return {.key = "base",
          .symbol = "base",
          .label = "Base",
          .help = "Wavelengths range from 2π to 2π times the base.",
          .kind = Parameter::Kind::Real,
          .initial = initial,
          .limits = {.min = 0, .max = Parameter::kMaxReal, .min_excluded = true},
          .slider = {.min = 10, .max = 1000000, .logarithmic = true}};
}

}  // namespace attnscope
