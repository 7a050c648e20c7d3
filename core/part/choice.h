// Choice: the id of a variant, encoding or other Info, with the values of its parameters.
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

// Returns the id in {"type": "local", ...}. InputErrors start with `path`: "variant.type: ...".
const std::string& type_of(const Json& object, std::string_view path);
// Parses the members other than "type". InputErrors: "variant.window: expected ..."
Choice choice_from_json(const Info& info, const Json& object, std::string_view path);
// Like choice_from_json(), but parameters without a default may be missing. core/experiment fills
// them in later.
Choice incomplete_choice_from_json(const Info& info, const Json& object, std::string_view path);
// Looks up the Info by the object's "type" with `find`, e.g. choice_from_json(variant, ...).
template <class InfoType>
Choice choice_from_json(const InfoType& (*find)(std::string_view id), const Json& object,
                        std::string_view path) {
  return choice_from_json(find(type_of(object, path)), object, path);
}
// Parses the object's member `key`; nullopt if absent.
template <class InfoType>
std::optional<Choice> choice_member(const InfoType& (*find)(std::string_view id),
                                    JsonObject& object, std::string_view key) {
  if (!object.has(key)) return std::nullopt;
  return choice_from_json(find, object.any(key), object.path_of(key));
}
Json to_json(const Choice& choice);
Choice default_choice(const Info& info);

// Throws InputError for values that are missing or out of range. The functions of an Info require
// valid values: check values from the window or a session first.
void check_values(const Info& info, const Values& values, std::string_view path);

}  // namespace attnscope
