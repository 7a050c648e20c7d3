// Strict reading of JSON from users and third parties. Every mistake, including an unknown key, is
// an InputError that names the key, the expected and the found value.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/index.h"
#include "core/base/json.h"

namespace attnscope {

// Largest layer, head or token number in files.
inline constexpr Index kMaxIndex = Index{1} << 20;

// Parses `text` as one JSON value; `name` (a file, an option) begins the messages. InputError for
// invalid JSON, a repeated key in an object, or nesting deeper than Json::kMaxDepth.
Json parse_json(std::string_view text, std::string_view name);

// Reads the members of one object by key. finish() rejects members that were never read.
class JsonObject {
 public:
  // `path` ("config.json", "view"; may be empty) begins the messages. InputError if `object` is not
  // an object. `object` must outlive the JsonObject.
  JsonObject(const Json& object, std::string_view path);
  JsonObject(Json&&, std::string_view) = delete;

  bool has(std::string_view key) const;
  Index integer(std::string_view key, Index min, Index max);
  Index integer_or(std::string_view key, Index fallback, Index min, Index max);
  double number(std::string_view key, double min, double max);
  double number_or(std::string_view key, double fallback, double min, double max);
  bool flag(std::string_view key);
  bool flag_or(std::string_view key, bool fallback);
  std::string text(std::string_view key);
  std::string text_or(std::string_view key, std::string_view fallback);
  // Index of the string among `choices`.
  std::size_t choice(std::string_view key, const std::vector<std::string>& choices);
  std::size_t choice_or(std::string_view key, std::size_t fallback,
                        const std::vector<std::string>& choices);
  const Json& any(std::string_view key);    // required, of any type
  const Json& array(std::string_view key);  // required

  void ignore(std::string_view key);  // allows the key with any value
  void finish() const;

  // Throws InputError "config.json: width: expected an integer of at least 1, found \"x\"".
  [[noreturn]] void fail(std::string_view key, std::string_view expected) const;
  std::string path_of(std::string_view key) const;  // "config.json: width"

 private:
  const Json* find(std::string_view key) const;
  const Json& object_;
  std::string path_;
  std::set<std::string, std::less<>> read_;
  mutable std::set<std::string, std::less<>> queried_;  // all keys looked up so far
};

// True if the text is valid UTF-8, a requirement of JSON.
bool is_utf8(const std::string& text);

}  // namespace attnscope
