// Sinusoidal position vectors (Vaswani et al., 2017): p[2t] = sin(i ω_t), p[2t+1] = cos(i ω_t).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/part/info.h"

namespace attnscope {

// ω_t = base^(-2t/d) for t = 0 .. d/2 - 1.
std::vector<double> sinusoid_frequencies(Index d, double base);

// Base that training found, from the weight pos.log_base; nullopt without this weight.
std::optional<double> learned_base(const NamedVars& weights);

// position * frequency. Throws InputError if the product is not finite (extreme base or factor).
double finite_angle(double position, double frequency);

// Row n is the vector of positions[n], computed in double precision; it has 2 numbers per
// frequency. sines_first: all sines before all cosines; otherwise interleaved.
Tensor sinusoid_table(const std::vector<double>& positions, const std::vector<double>& frequencies,
                      bool sines_first = false);

std::vector<double> to_doubles(const std::vector<std::int32_t>& positions);

// Error message "NAME: expected an even size ..." if d is known and odd, else empty.
std::string odd_size_objection(Index d, const char* name);

// Parameter "style": "interleaved" or "half".
Parameter wave_style_parameter();
Parameter base_parameter(double initial);

}  // namespace attnscope
