// Matches of regular expressions (ECMAScript syntax). Only pattern_match.cpp includes <regex>,
// which takes seconds to compile.
#pragma once

#include <string>
#include <vector>

namespace attnscope::testing {

// The matched text, followed by the text of each group; the text of an unmatched group is empty.
using Match = std::vector<std::string>;

// First match of `pattern` in `text`; empty if none.
Match find_match(const std::string& text, const std::string& pattern);

// All matches of `pattern` in `text` that do not overlap, in order.
std::vector<Match> find_matches(const std::string& text, const std::string& pattern);

}  // namespace attnscope::testing
