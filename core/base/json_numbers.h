// Lists of numbers in JSON objects.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/strict_json.h"

namespace attnscope {

// The member `key`, a non-empty list of integers from `min` to `max`. InputError otherwise.
std::vector<Index> whole_numbers(JsonObject& object, std::string_view key, Index min, Index max);

}  // namespace attnscope
