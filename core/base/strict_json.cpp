#include "core/base/strict_json.h"

#include <cmath>
#include <limits>
#include <sstream>

#include "core/base/error.h"

namespace attnscope {
namespace {

std::string bound_text(double value) {
  std::ostringstream out;
  out.precision(15);
  out << value;
  return out.str();
}

std::string range_text(std::string_view kind, double min, double max) {
  std::string text(kind);
  const double no_limit = kind == "an integer" ? 0x1p62 : std::numeric_limits<double>::max();
  if (max < no_limit) {
    return text + " from " + bound_text(min) + " to " + bound_text(max);
  }
  return std::isfinite(min) ? text + " of at least " + bound_text(min) : text;
}

}  // namespace

Json parse_json(std::string_view text, std::string_view name) {
  std::string repeated;
  Json value;
  try {
    value = Json::parse(text, &repeated);
  } catch (const JsonError& e) {
    throw InputError(std::string(name) + ": " + e.what());
  }
  if (!repeated.empty()) {
    throw InputError(std::string(name) + ": key \"" + repeated + "\" occurs twice in one object");
  }
  return value;
}

JsonObject::JsonObject(const Json& object, std::string_view path) : object_(object), path_(path) {
  if (!object.is_object()) {
    throw InputError(path_ + ": expected an object, found " + shortened(object));
  }
}

const Json* JsonObject::find(std::string_view key) const {
  queried_.emplace(key);
  return object_.find(key);
}

bool JsonObject::has(std::string_view key) const {
  return find(key) != nullptr;
}

std::string JsonObject::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + ": " + std::string(key);
}

void JsonObject::fail(std::string_view key, std::string_view expected) const {
  const Json* value = find(key);
  throw InputError(path_of(key) + ": expected " + std::string(expected) + ", " +
                   (value ? "found " + shortened(*value) : "found nothing"));
}

Index JsonObject::integer(std::string_view key, Index min, Index max) {
  read_.emplace(key);
  const Json* value = find(key);
  const std::string expected =
      range_text("an integer", static_cast<double>(min), static_cast<double>(max));
  if (!value || !value->is_number_integer()) fail(key, expected);
  if (value->is_number_unsigned() &&
      value->get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    fail(key, expected);
  }
  const auto number = value->get<std::int64_t>();
  if (number < min || number > max) fail(key, expected);
  return static_cast<Index>(number);
}

Index JsonObject::integer_or(std::string_view key, Index fallback, Index min, Index max) {
  return has(key) ? integer(key, min, max) : fallback;
}

double JsonObject::number(std::string_view key, double min, double max) {
  read_.emplace(key);
  const Json* value = find(key);
  const std::string expected = range_text("a number", min, max);
  if (!value || !value->is_number()) fail(key, expected);
  const auto number = value->get<double>();
  if (!(number >= min && number <= max)) fail(key, expected);
  return number;
}

double JsonObject::number_or(std::string_view key, double fallback, double min, double max) {
  return has(key) ? number(key, min, max) : fallback;
}

bool JsonObject::flag(std::string_view key) {
  read_.emplace(key);
  const Json* value = find(key);
  if (!value || !value->is_boolean()) fail(key, "true or false");
  return value->get<bool>();
}

bool JsonObject::flag_or(std::string_view key, bool fallback) {
  return has(key) ? flag(key) : fallback;
}

std::string JsonObject::text(std::string_view key) {
  read_.emplace(key);
  const Json* value = find(key);
  if (!value || !value->is_string()) fail(key, "a string");
  return value->get<std::string>();
}

std::string JsonObject::text_or(std::string_view key, std::string_view fallback) {
  return has(key) ? text(key) : std::string(fallback);
}

std::size_t JsonObject::choice(std::string_view key, const std::vector<std::string>& choices) {
  read_.emplace(key);
  const Json* value = find(key);
  std::string expected = "one of";
  for (std::size_t i = 0; i < choices.size(); ++i) {
    expected += (i == 0 ? " \"" : ", \"") + choices[i] + "\"";
    if (value && value->is_string() && value->text() == choices[i]) {
      return i;
    }
  }
  fail(key, expected);
}

std::size_t JsonObject::choice_or(std::string_view key, std::size_t fallback,
                                  const std::vector<std::string>& choices) {
  return has(key) ? choice(key, choices) : fallback;
}

const Json& JsonObject::any(std::string_view key) {
  read_.emplace(key);
  const Json* value = find(key);
  if (!value) fail(key, "a value");
  return *value;
}

const Json& JsonObject::array(std::string_view key) {
  read_.emplace(key);
  const Json* value = find(key);
  if (!value || !value->is_array()) fail(key, "a list");
  return *value;
}

void JsonObject::ignore(std::string_view key) {
  read_.emplace(key);
}

void JsonObject::finish() const {
  for (const auto& [name, member] : object_.items()) {
    if (read_.contains(name)) continue;
    std::string keys;
    for (const std::string& key : queried_) keys += (keys.empty() ? "" : ", ") + key;
    throw InputError(path_ + ": " + shortened(name) + ": unknown key; expected one of " + keys);
  }
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const JsonError&) {
    return false;
  }
}

}  // namespace attnscope
