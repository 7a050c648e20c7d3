// Choices with parameters as typed by users: "local,window=4", "rope,base=500".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/parameter.h"

namespace attnscope::command {

// Parameters of the entry with this id. Throws InputError if the id is unknown.
using ParametersOf = std::function<std::vector<Parameter>(const std::string& id)>;

// Converts "local,window=4" to {"type": "local", "window": 4}; JSON is parsed as it is. Errors
// begin with `path`; unknown keys are left to the reader of the JSON.
Json choice_json(const std::string& text, std::string_view path, const ParametersOf& parameters_of);

}  // namespace attnscope::command
