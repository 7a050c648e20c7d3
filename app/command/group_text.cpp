#include "app/command/group_text.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <vector>

#include "core/base/error.h"

namespace attnscope::command {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// Parses at most seven digits, so that ranges stay small. Returns -1 for other texts.
Index small_number(const std::string& text) {
  const bool is_decimal = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return is_decimal && !text.empty() && text.size() <= 7 ? std::stol(text) : -1;
}

// Parses "0,2,4-6".
std::vector<Index> numbers_from_text(const std::string& text, const std::string& key) {
  std::vector<Index> numbers;
  for (const std::string& part : split(text, ',')) {
    const auto dash = part.find('-');
    const Index first = small_number(part.substr(0, dash));
    const Index last = dash == std::string::npos ? first : small_number(part.substr(dash + 1));
    if (first < 0 || last < first) {
      throw InputError("--group: " + key +
                       ": expected numbers and ranges such as \"0,2,4-6\", found \"" + text + "\"");
    }
    for (Index n = first; n <= last; ++n) numbers.push_back(n);
  }
  return numbers;
}

void apply(const std::string& key, const std::string& value, Omitted omitted, GroupChoice& group) {
  if (key == "layers") {
    group.layers = numbers_from_text(value, key);
  } else if (key == "heads") {
    group.heads = numbers_from_text(value, key);
  } else if (key == "variant") {
    group.variant = variant_from_text(value, omitted);
  } else if (key == "position") {
    group.encoding = encoding_from_text(value, omitted);
  } else {
    throw InputError("--group: expected layers, heads, variant or position, found \"" + key + "\"");
  }
}

}  // namespace

GroupChoice group_from_text(const std::string& text, Omitted omitted) {
  GroupChoice group;
  std::set<std::string> keys;
  for (const std::string& part : split(text, ';')) {
    const auto equals = part.find('=');
    if (equals == std::string::npos || equals + 1 == part.size()) {
      throw InputError("--group: expected KEY=VALUE between semicolons, found \"" + part + "\"");
    }
    const std::string key = part.substr(0, equals);
    if (!keys.insert(key).second)
      throw InputError("--group: " + key + ": expected once, found twice");
    apply(key, part.substr(equals + 1), omitted, group);
  }
  if (!group.variant && !group.encoding) {
    throw InputError("--group: expected variant, position or both, found \"" + text + "\"");
  }
  return group;
}

}  // namespace attnscope::command
