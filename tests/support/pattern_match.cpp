#include "tests/support/pattern_match.h"

#include <map>
#include <regex>

namespace attnscope::testing {
namespace {

const std::regex& compiled(const std::string& pattern) {
  static std::map<std::string, std::regex> patterns;
  return patterns.try_emplace(pattern, pattern).first->second;
}

}  // namespace

Match find_match(const std::string& text, const std::string& pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, compiled(pattern))) return {};
  return {match.begin(), match.end()};
}

std::vector<Match> find_matches(const std::string& text, const std::string& pattern) {
  std::vector<Match> matches;
  for (std::sregex_iterator it(text.begin(), text.end(), compiled(pattern)), end; it != end; ++it) {
    matches.emplace_back(it->begin(), it->end());
  }
  return matches;
}

}  // namespace attnscope::testing
