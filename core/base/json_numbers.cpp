#include "core/base/json_numbers.h"

#include <cmath>
#include <string>

namespace attnscope {

std::vector<Index> whole_numbers(JsonObject& object, std::string_view key, Index min, Index max) {
  std::vector<Index> numbers;
  for (const Json& item : object.array(key)) {
    const double number = item.is_number() ? item.get<double>() : -1;
    const bool is_valid = number >= static_cast<double>(min) &&
                          number <= static_cast<double>(max) && number == std::round(number);
    if (!is_valid) {
      object.fail(key, "integers from " + std::to_string(min) + " to " + std::to_string(max));
    }
    numbers.push_back(static_cast<Index>(number));
  }
  if (numbers.empty()) object.fail(key, "at least one number");
  return numbers;
}

}  // namespace attnscope
