// Value changes made by parameter widgets. No drawing here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/parameter.h"

namespace attnscope::window {

// Clamps a number to the parameter's limits. The slider's minimum replaces an excluded minimum.
Index clamped(const Parameter& parameter, Index value);
double clamped(const Parameter& parameter, double value);

// printf format of a real parameter; the number of decimals depends on its range.
std::string number_format(const Parameter& parameter);

bool is_initial(const Parameter& parameter, const Values& values);
// Returns `values` with the parameter reset; an optional one becomes unset.
Values reset(const Parameter& parameter, const Values& values);
// Returns `values` with an unset optional parameter set to its initial value.
Values with_initial(const Parameter& parameter, const Values& values);

// Parses a list typed by the user: "0, 4, 7", rows as "0, 1; 2, 3", or JSON. Returns nullopt and
// sets `problem` if the text is invalid.
std::optional<Value> list_from_text(const Parameter& parameter, std::string_view text,
                                    std::string& problem);
std::string list_to_text(const Value& value);  // "0, 4, 7" and "0, 1; 2, 3"

}  // namespace attnscope::window
