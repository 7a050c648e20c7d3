#include "core/base/near_match.h"

#include <algorithm>
#include <utility>

#include "core/base/lower_case.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxLength = 64;  // bytes; longer names get no suggestion

bool starts_with_ignoring_case(std::string_view name, std::string_view start) {
  return name.size() >= start.size() &&
         std::equal(start.begin(), start.end(), name.begin(),
                    [](char a, char b) { return lower_case(a) == lower_case(b); });
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Distances between prefixes of `a` (rows) and of `b`: the current row and the two before it.
  std::vector<int> row(b.size() + 1), previous, before_previous;
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_previous = std::exchange(previous, row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = lower_case(a[i - 1]), y = lower_case(b[j - 1]);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (x == y ? 0 : 1)});
      const bool is_exchange =
          i > 1 && j > 1 && x == lower_case(b[j - 2]) && lower_case(a[i - 2]) == y && x != y;
      if (is_exchange) row[j] = std::min(row[j], before_previous[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string near_match(std::string_view typed, const std::vector<std::string>& names) {
  constexpr std::size_t kMinPrefix = 3;  // characters
  if (typed.size() < 2 || typed.size() > kMaxLength) return "";
  const int limit = std::max(1, static_cast<int>(typed.size()) / 3);
  int min_distance = limit + 1;
  std::string nearest;
  for (const std::string& name : names) {
    if (name.size() > kMaxLength) continue;
    const bool is_prefix = typed.size() >= kMinPrefix && starts_with_ignoring_case(name, typed);
    const int distance = std::min(edit_distance(typed, name), is_prefix ? limit : min_distance);
    if (distance >= min_distance) continue;
    min_distance = distance;
    nearest = name;
  }
  return nearest;
}

std::string suggestion(std::string_view typed, const std::vector<std::string>& names) {
  const std::string name = near_match(typed, names);
  return name.empty() ? "" : "; did you mean \"" + name + "\"?";
}

}  // namespace attnscope
