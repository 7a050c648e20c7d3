// Choices with parameters as people type them: "local,window=4", "rope,base=500".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/parameter.h"

namespace attnscope::command {

// The parameters of what has this id; InputError when there is none.
using ParametersOf = std::function<std::vector<Parameter>(const std::string& id)>;

// {"type": "local", "window": 4} of "local,window=4", or of JSON as it is. InputErrors begin with
// `path`; unknown keys are left to whoever reads the JSON.
Json choice_json(const std::string& text, std::string_view path, const ParametersOf& parameters_of);

}  // namespace attnscope::command
