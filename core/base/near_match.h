// Suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// Number of insertions, deletions, replacements and exchanges of neighbouring characters that turn
// `a` into `b`; letters of either case are equal.
int edit_distance(std::string_view a, std::string_view b);

// The name that `typed` most likely means: of the least edit distance, at most a third of the typed
// length, or one that begins with `typed`; the first of several. Empty if none is near.
std::string near_match(std::string_view typed, const std::vector<std::string>& names);

// End of an error message: "; did you mean \"local\"?", or empty if no name is near.
std::string suggestion(std::string_view typed, const std::vector<std::string>& names);

}  // namespace attnscope
