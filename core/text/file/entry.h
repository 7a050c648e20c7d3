// Entry: a JSON value in a tokenizer file, and its location, with which InputErrors begin.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"

namespace attnscope {

inline constexpr std::int64_t kMaxTokens = 1 << 22;

struct Entry {
  const Json& value;
  std::string where;  // "FOLDER/tokenizer.json: model"

  [[noreturn]] void fail(const std::string& expected) const {
    throw InputError(where + ": expected " + expected + ", found " + shortened(value));
  }
  // Reports an unsupported feature that would change the token ids.
  [[noreturn]] void unsupported() const {
    throw InputError(where + ": " + shortened(value) + " is not supported");
  }
  bool has(const char* key) const {
    const Json* found = value.find(key);
    return found != nullptr && !found->is_null();
  }
  Entry at(const char* key) const {
    if (!has(key)) throw InputError(where + ": \"" + key + "\" is missing");
    return {value[key], where + ": " + key};
  }
  Entry member(std::size_t n) const { return {value[n], where + "[" + std::to_string(n) + "]"}; }
  const std::string& text() const {
    if (!value.is_string()) fail("a string");
    return value.text();
  }
  std::string text_or(const char* key, const char* fallback) const {
    return has(key) ? at(key).text() : fallback;
  }
  bool flag_or(const char* key, bool fallback) const {
    if (!has(key)) return fallback;
    if (!value[key].is_boolean()) at(key).fail("true or false");
    return value[key].get<bool>();
  }
  bool is_token_id() const { return value.is_number_integer() && value >= 0 && value < kMaxTokens; }
  std::int32_t token_id() const {
    if (!is_token_id()) fail("a token id from 0 to " + std::to_string(kMaxTokens - 1));
    return value.get<std::int32_t>();
  }
  std::size_t count(std::int64_t maximum) const {
    if (!value.is_number_integer() || value < 0 || value > maximum) {
      fail("a number from 0 to " + std::to_string(maximum));
    }
    return static_cast<std::size_t>(value.get<std::int64_t>());
  }
  void check_list() const {
    if (!value.is_array()) fail("a list");
  }
  std::vector<Entry> items() const {
    check_list();
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < value.size(); ++i) entries.push_back(member(i));
    return entries;
  }
  std::string type() const { return at("type").text(); }
};

}  // namespace attnscope
