// Choices with parameters as typed by users: "local,window=4", "rope,base=500".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/parameter.h"

namespace attnscope::command {

// Parameters of the choice with this id, e.g. a variant. Throws InputError if the id is unknown.
using ParameterLookup = std::function<std::vector<Parameter>(const std::string& id)>;

// Converts "local,window=4" to {"type": "local", "window": 4}. Also accepts JSON. Errors begin with
// `path`. Unknown keys are copied; the reader of the JSON rejects them.
Json choice_json(const std::string& text, std::string_view path,
                 const ParameterLookup& parameters_of);

}  // namespace attnscope::command
