// Reading JSON that people or strangers wrote: every mistake is an InputError that names the key,
// what was expected and what was found, and keys that nobody asked for are mistakes too.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/index.h"
#include "core/base/json.h"

namespace attnscope {

// The largest number of a layer, a head or a token that files may name.
inline constexpr Index kMostIndex = Index{1} << 20;

// The whole of `text` as one JSON value; `name` (a file, an option) begins the messages. A key
// that occurs twice in an object is an InputError, and so is nesting deeper than Json::kDeepest.
Json parse_json(std::string_view text, std::string_view name);

// The members of one object, taken one by one. finish() refuses those that were never taken.
class JsonObject {
 public:
  // `path` ("config.json", "view"; empty: none) begins the messages. InputError when it is no
  // object, which must outlive this.
  JsonObject(const Json& object, std::string_view path);
  JsonObject(Json&&, std::string_view) = delete;

  bool has(std::string_view key) const;
  Index integer(std::string_view key, Index least, Index most);
  Index integer_or(std::string_view key, Index otherwise, Index least, Index most);
  double number(std::string_view key, double least, double most);
  double number_or(std::string_view key, double otherwise, double least, double most);
  bool flag(std::string_view key);
  bool flag_or(std::string_view key, bool otherwise);
  std::string text(std::string_view key);
  std::string text_or(std::string_view key, std::string_view otherwise);
  // The index of the text among `choices`.
  std::size_t choice(std::string_view key, const std::vector<std::string>& choices);
  std::size_t choice_or(std::string_view key, std::size_t otherwise,
                        const std::vector<std::string>& choices);
  const Json& any(std::string_view key);    // required
  const Json& array(std::string_view key);  // required

  void ignore(std::string_view key);  // allowed, whatever it holds
  void finish() const;

  // "config.json: width: expected an integer of at least 1, found \"x\""
  [[noreturn]] void fail(std::string_view key, std::string_view expected) const;
  std::string path_of(std::string_view key) const;  // "config.json: width"

 private:
  const Json* find(std::string_view key) const;
  const Json& object_;
  std::string path_;
  std::set<std::string, std::less<>> taken_;
  mutable std::set<std::string, std::less<>> asked_;  // also whether they are there
};

// Whether the text is valid UTF-8: all that a JSON file can hold.
bool is_utf8(const std::string& text);

}  // namespace attnscope
