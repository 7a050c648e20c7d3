// Golden files, which contain the expected output of tests as text.
//
// Paths are relative to tests/. With ATTNSCOPE_UPDATE_GOLDEN=1 in the environment, the functions
// below write the file instead of comparing with it, and succeed.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/part/info.h"

namespace attnscope::testing {

using Flags = std::vector<std::pair<std::string, bool>>;

// Lists the names of the set flags, each after a space.
std::string describe(const Flags& flags);
// Describes each parameter on a line: kind, limits, flags, default, illustrative defaults for 7 and
// 64 tokens, slider range.
std::string describe(const std::vector<Parameter>& parameters);
// Describes id, flags, parameters and weights. Each weight has a line with its flags, its shape in
// a small model, and the mean and root mean square of its initial values.
std::string describe(const Info& info, const Flags& flags);

// Joins the entries by " | " and wraps them into indented lines of at most 100 columns, if they are
// short enough.
std::string wrapped_entries(const std::vector<std::string>& entries);

// Names grouped by result, in the order in which the results first occur.
class NamesByResult {
 public:
  void add(const std::string& result, const std::string& name);
  // Each result on a line, followed by its names.
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> groups_;
};

// Compares `text` with the golden file exactly.
::testing::AssertionResult matches_golden(const std::string& text, const std::string& path);

// Compares text whose numbers may differ between processors. Numbers with a decimal point, an
// exponent or a percent sign may differ by one unit of their last digit, colours (#rrggbb) by 3 per
// channel. All other text must be equal.
::testing::AssertionResult matches_golden_rounded(const std::string& text, const std::string& path);

// Values by name ("GROUP: NAME"), compared with a tolerance relative to max(1, |expected|). The
// file lists the values of a group below the name of the group.
using NamedNumbers = std::vector<std::pair<std::string, double>>;
::testing::AssertionResult numbers_match_golden(const NamedNumbers& numbers, double tolerance,
                                                const std::string& path);

}  // namespace attnscope::testing
