// Suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// Number of insertions, deletions, replacements and exchanges of neighbouring characters that turn
// `a` into `b`; letters of either case are equal.
int edit_distance(std::string_view a, std::string_view b);

// Returns the name nearest to `typed`, the first of several; empty if no name is near. A name is
// near if the edit distance is at most a third of the typed length (at least 1), or if the name
// begins with `typed` (at least 3 characters).
std::string near_match(std::string_view typed, const std::vector<std::string>& names);

// End of an error message: "; did you mean \"local\"?", or empty if no name is near.
std::string suggestion(std::string_view typed, const std::vector<std::string>& names);

}  // namespace attnscope
