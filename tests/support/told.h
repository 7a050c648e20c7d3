// What parts of models and views state about themselves, as text that is kept beside the tests: a
// flag, a limit or a starting value that changes by mistake is seen, and one that is meant to is
// seen in a review.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/part/info.h"

namespace attnscope::testing {

using Flags = std::vector<std::pair<std::string, bool>>;

// Of flags the names of those that are set, each after a space.
std::string told(const Flags& flags);
// A line for each: kind, flags, limits, starting value, what it is for texts of 7 and 64 tokens.
std::string told(const std::vector<Parameter>& parameters);
// Its id with what else is stated, its parameters, and a line for each weight: flags, and, with
// what a small model starts from, shape and size of the numbers.
std::string told(const Info& info, const Flags& flags);

// That `text` is what `file`, below the tests' folder, holds. With ATTNSCOPE_WRITE_TOLD in the
// environment the file is written instead.
::testing::AssertionResult is_as_told(const std::string& text, const std::string& file);
// The same of named numbers, which may differ by `tolerance` times the larger of 1 and themselves.
using NamedNumbers = std::vector<std::pair<std::string, double>>;
::testing::AssertionResult are_as_told(const NamedNumbers& numbers, double tolerance,
                                       const std::string& file);

}  // namespace attnscope::testing
