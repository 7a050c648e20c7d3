// Numbers as German words without spaces: 24 is "vierundzwanzig".
#pragma once

#include <string>

#include "core/base/index.h"

namespace attnscope {

constexpr Index kMaxNumberDigits = 6;

// UTF-8. Throws InputError for negative numbers and more than kMaxNumberDigits digits.
std::string german_number(Index number);

}  // namespace attnscope
