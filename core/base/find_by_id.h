// Finds an entry of a list by its id.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/join_words.h"
#include "core/base/near_match.h"

namespace attnscope {

// Throws InputError "position.type: expected one of none, sinusoidal, ..., found \"x\"" for an
// unknown id, with a suggestion if the id is misspelt. `path` ("position.type") begins the message.
template <class List>
const typename List::value_type& find_by_id(const List& list, std::string_view id,
                                            std::string_view path) {
  for (const auto& entry : list) {
    if (entry.id == id) return entry;
  }
  std::vector<std::string> known_ids;
  for (const auto& entry : list) known_ids.emplace_back(entry.id);
  throw InputError(std::string(path) + ": expected one of " + join_words(known_ids) + ", found \"" +
                   std::string(id.substr(0, 40)) + "\"" + suggestion(id, known_ids));
}

}  // namespace attnscope
