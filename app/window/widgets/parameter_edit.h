// What the widgets of parameters do to values. No drawing here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/parameter.h"

namespace attnscope::window {

// A number moved into the parameter's hard limits; an excluded limit is stepped away from.
Index clamped(const Parameter& parameter, Index value);
double clamped(const Parameter& parameter, double value);

// How many decimals a real number is shown with, as a printf format.
std::string number_format(const Parameter& parameter);

// Whether the parameter has the value that it starts with.
bool is_initial(const Parameter& parameter, const Values& values);
// `values` with the parameter as it starts; an optional one is left out.
Values reset(const Parameter& parameter, const Values& values);
// `values` with an optional parameter that was left out now given.
Values given(const Parameter& parameter, const Values& values);

// A list as people type it: "0, 4, 7", "[0, 4]", rows separated by ";" or as JSON. `problem` says
// what is wrong, and nothing is returned then.
std::optional<Value> list_from_text(const Parameter& parameter, std::string_view text,
                                    std::string& problem);
std::string list_to_text(const Value& value);  // "0, 4, 7" and "0, 1; 2, 3"

}  // namespace attnscope::window
