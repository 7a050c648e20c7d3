// A choice among things that have an Info: its id and the values of its parameters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/part/info.h"

namespace attnscope {

struct Choice {
  std::string id;
  Values values;
  bool operator==(const Choice&) const = default;
};

// The id in {"type": "local", ...}. InputErrors begin with `path`: "variant.type: expected ...".
const std::string& type_of(const Json& object, std::string_view path);
// The other members, as the Info says. "variant.window: expected ..."
Choice choice_from_json(const Info& info, const Json& object, std::string_view path);
// The same, but what has no default may be missing, until it is completed (company.h).
Choice open_choice_from_json(const Info& info, const Json& object, std::string_view path);
// Of a list, whose entry of an id `find` gives: choice_from_json(join, ...).
template <class Listed>
Choice choice_from_json(const Listed& (*find)(std::string_view id), const Json& object,
                        std::string_view path) {
  return choice_from_json(find(type_of(object, path)), object, path);
}
// The member of that key, where there is one.
template <class Listed>
std::optional<Choice> choice_member(const Listed& (*find)(std::string_view id), JsonObject& object,
                                    std::string_view key) {
  if (!object.has(key)) return std::nullopt;
  return choice_from_json(find, object.any(key), object.path_of(key));
}
Json to_json(const Choice& choice);
// With its defaults.
Choice default_choice(const Info& info);

// Values may come from a window or a session: an Info's own functions rely on checked ones.
void check_values(const Info& info, const Values& values, std::string_view path);

}  // namespace attnscope
