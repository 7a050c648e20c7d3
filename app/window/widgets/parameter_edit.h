// Value changes made by parameter widgets. No drawing here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/parameter.h"

namespace attnscope::window {

// Clamps a number to the parameter's hard limits; the slider's minimum replaces an excluded one.
Index clamped(const Parameter& parameter, Index value);
double clamped(const Parameter& parameter, double value);

// printf format of a real parameter, with decimals that suit its range.
std::string number_format(const Parameter& parameter);

bool is_initial(const Parameter& parameter, const Values& values);
// Returns `values` with the parameter reset; an optional one becomes unset.
Values reset(const Parameter& parameter, const Values& values);
// Returns `values` with an unset optional parameter set to its initial value.
Values with_initial(const Parameter& parameter, const Values& values);

// Parses a list as typed by users: "0, 4, 7", "[0, 4]", rows separated by ";" or as JSON. Returns
// nothing and sets `problem` if the text is invalid.
std::optional<Value> list_from_text(const Parameter& parameter, std::string_view text,
                                    std::string& problem);
std::string list_to_text(const Value& value);  // "0, 4, 7" and "0, 1; 2, 3"

}  // namespace attnscope::window
