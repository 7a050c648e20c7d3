// Numbers in German words, written as one: 24 is "vierundzwanzig".
#pragma once

#include <string>

#include "core/base/index.h"

namespace attnscope {

constexpr Index kMostNumberDigits = 6;

// UTF-8. InputError for a number below 0 or of more than kMostNumberDigits digits.
std::string german_number(Index number);

}  // namespace attnscope
