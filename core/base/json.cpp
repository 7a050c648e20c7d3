#include "core/base/json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

namespace attnscope {
namespace {

using Library = nlohmann::json;

Library to_library(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_string()) return value.text();
  if (value.is_array()) {
    Library list = Library::array();
    for (const Json& member : value) list.push_back(to_library(member));
    return list;
  }
  if (value.is_object()) {
    Library object = Library::object();
    for (const auto& [key, member] : value.items()) object[key] = to_library(member);
    return object;
  }
  return nullptr;
}

// SAX handler that builds `value`. `open_` lists the unfinished containers, outermost first.
class Reader : public nlohmann::json_sax<Library> {
 public:
  Json value;
  std::string repeated;  // first duplicate key

  bool null() override { return put({}), true; }
  bool boolean(bool v) override { return put(v), true; }
  bool number_integer(std::int64_t v) override { return put(v), true; }
  bool number_unsigned(std::uint64_t v) override { return put(v), true; }
  bool number_float(double v, const std::string&) override { return put(v), true; }
  bool string(std::string& v) override { return put(std::move(v)), true; }
  bool binary(Library::binary_t&) override { return false; }  // JSON text has no binary values

  bool start_object(std::size_t) override { return open(Json::object()), true; }
  bool start_array(std::size_t) override { return open(Json::array()), true; }
  bool end_object() override { return open_.pop_back(), true; }
  bool end_array() override { return open_.pop_back(), true; }
  bool key(std::string& v) override {
    // A single lookup: objects may have hundreds of thousands of members.
    auto& members = const_cast<Json::Object&>(open_.back()->items());
    const auto [member, is_new] = members.try_emplace(v);
    if (!is_new && repeated.empty()) repeated = v;
    member_ = &member->second;
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&,
                   const nlohmann::detail::exception& error) override {
    constexpr int kNumberRange = 406;  // the library's error id for a number out of range
    throw JsonError(error.id == kNumberRange ? "invalid JSON: number out of range"
                                             : "invalid JSON at byte " + std::to_string(byte));
  }

 private:
  Json& put(Json v) {
    if (open_.empty()) return value = std::move(v);
    if (open_.back()->is_object()) return *member_ = std::move(v);
    open_.back()->push_back(std::move(v));
    return (*open_.back())[open_.back()->size() - 1];
  }
  void open(Json v) {
    if (open_.size() == Json::kMaxDepth) {
      throw JsonError("JSON nested deeper than " + std::to_string(Json::kMaxDepth));
    }
    open_.push_back(&put(std::move(v)));
  }

  std::vector<Json*> open_;
  Json* member_ = nullptr;
};

std::string escape_key(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

std::string unescape_token(std::string_view token) {
  std::string key;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool is_escaped = token[i] == '~' && i + 1 < token.size();
    key += !is_escaped ? token[i] : token[++i] == '1' ? '/' : '~';
  }
  return key;
}

void add_leaves(const Json& value, const std::string& pointer, Json::Object& leaves) {
  if (value.is_array() && !value.empty()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      add_leaves(value[i], pointer + "/" + std::to_string(i), leaves);
    }
  } else if (value.is_object() && !value.empty()) {
    for (const auto& [key, member] : value.items()) {
      add_leaves(member, pointer + "/" + escape_key(key), leaves);
    }
  } else {
    leaves[pointer] = value.is_array() || value.is_object() ? Json() : value;
  }
}

std::string dump_as(const Json& value, int indent, bool is_ascii, Library::error_handler_t policy) {
  try {
    return to_library(value).dump(indent, ' ', is_ascii, policy);
  } catch (const Library::exception&) {
    throw JsonError("a string is not valid UTF-8");
  }
}

}  // namespace

Json::Json(std::string text) : value_(std::make_unique<std::string>(std::move(text))) {}

Json::Json(Array list) : value_(std::make_unique<Array>(std::move(list))) {}

Json::Json(Object members) : value_(std::make_unique<Object>(std::move(members))) {}

Json::Json(std::initializer_list<Json> list) {
  const bool has_only_pairs = std::ranges::all_of(list, [](const Json& member) {
    return member.is_array() && member.size() == 2 && member[0].is_string();
  });
  if (!has_only_pairs) {
    value_ = std::make_unique<Array>(list);
    return;
  }
  Object& members = make_object();
  for (const Json& pair : list) members.emplace(pair[0].text(), pair[1]);
}

Json::Json(const Json& other) {
  if (other.is_string()) {
    value_ = std::make_unique<std::string>(other.text());
  } else if (other.is_array()) {
    value_ = std::make_unique<Array>(other.begin(), other.end());
  } else if (other.is_object()) {
    value_ = std::make_unique<Object>(other.items());
  } else if (other.is_boolean()) {
    value_ = other.get<bool>();
  } else if (other.is_number_float()) {
    value_ = other.get<double>();
  } else if (other.is_number_unsigned()) {
    value_ = other.get<std::uint64_t>();
  } else if (other.is_number_integer()) {
    value_ = other.get<std::int64_t>();
  }
}

Json::Json(Json&& other) noexcept : value_(std::exchange(other.value_, {})) {}

Json& Json::operator=(const Json& other) {
  return *this = Json(other);
}

Json& Json::operator=(Json&& other) noexcept {
  auto value = std::exchange(other.value_, {});  // `other` may be a member of *this
  value_ = std::move(value);
  return *this;
}

Json::~Json() = default;

Json Json::array(std::initializer_list<Json> list) {
  return Array(list);
}

Json Json::object() {
  return Object();
}

Json Json::parse(std::string_view text, std::string* repeated) {
  if (const auto zero = text.find('\0'); zero != text.npos) {  // nlohmann/json stops at a zero byte
    throw JsonError("invalid JSON at byte " + std::to_string(zero + 1));
  }
  Reader reader;
  Library::sax_parse(text, &reader);
  if (repeated != nullptr) *repeated = std::move(reader.repeated);
  return std::move(reader.value);
}

Json Json::parse_or_null(std::string_view text) {
  try {
    return parse(text);
  } catch (const JsonError&) {
    return {};
  }
}

std::string Json::dump(int indent, BadUtf8 on_bad_utf8) const {
  return dump_as(*this, indent, false,
                 on_bad_utf8 == BadUtf8::Reject ? Library::error_handler_t::strict
                                                : Library::error_handler_t::replace);
}

std::string Json::dump_ascii() const {
  return dump_as(*this, -1, true, Library::error_handler_t::replace);
}

const std::string& Json::text() const {
  if (!is_string()) fail("a string");
  return **std::get_if<std::unique_ptr<std::string>>(&value_);
}

std::size_t Json::size() const {
  if (const auto* list = std::get_if<std::unique_ptr<Array>>(&value_)) return (*list)->size();
  if (const auto* members = std::get_if<std::unique_ptr<Object>>(&value_)) {
    return (*members)->size();
  }
  return is_null() ? 0 : 1;
}

const Json* Json::begin() const {
  if (is_null()) return nullptr;
  if (!is_array()) fail("a list");
  return (*std::get_if<std::unique_ptr<Array>>(&value_))->data();
}

const Json& Json::operator[](std::size_t index) const {
  const Json* first = begin();
  if (index >= size()) fail(("a list with a member " + std::to_string(index)).c_str());
  return first[index];
}

Json& Json::operator[](std::size_t index) {
  return const_cast<Json&>(std::as_const(*this)[index]);
}

void Json::push_back(Json value) {
  make_array().push_back(std::move(value));
}

const Json::Object& Json::items() const {
  static const Object no_members;
  if (is_null()) return no_members;
  if (!is_object()) fail("an object");
  return **std::get_if<std::unique_ptr<Object>>(&value_);
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  const Object& members = items();
  const auto member = members.find(key);
  return member == members.end() ? nullptr : &member->second;
}

const Json& Json::operator[](std::string_view key) const {
  const Json* member = find(key);
  if (member == nullptr) fail(("an object with the key \"" + std::string(key) + "\"").c_str());
  return *member;
}

Json& Json::operator[](std::string_view key) {
  Object& members = make_object();
  const auto member = members.find(key);
  return member != members.end() ? member->second : members[std::string(key)];
}

void Json::erase(std::string_view key) {
  Object& members = make_object();
  if (const auto member = members.find(key); member != members.end()) members.erase(member);
}

Json& Json::at_pointer(std::string_view pointer) {
  Json* node = this;
  while (!pointer.empty()) {
    const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string token = unescape_token(pointer.substr(1, end - 1));
    pointer.remove_prefix(end);
    if (node->is_array()) {
      std::size_t index = node->size();
      const char* token_end = token.data() + token.size();
      if (std::from_chars(token.data(), token_end, index).ptr != token_end) node->fail("an object");
      node = &(*node)[index];
    } else {
      node = &(*node)[token];
    }
  }
  return *node;
}

Json::Object Json::flatten() const {
  Object leaves;
  add_leaves(*this, "", leaves);
  return leaves;
}

void Json::merge_patch(const Json& patch) {
  if (!patch.is_object()) {
    *this = patch;
    return;
  }
  if (!is_object()) *this = object();
  for (const auto& [key, value] : patch.items()) {
    if (value.is_null()) {
      erase(key);
    } else {
      (*this)[key].merge_patch(value);
    }
  }
}

bool Json::equal(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return order(a, b) == 0;
  if (a.value_.index() != b.value_.index()) return false;
  if (a.is_boolean()) return a.get<bool>() == b.get<bool>();
  if (a.is_string()) return a.text() == b.text();
  if (a.is_array()) return std::ranges::equal(a, b);
  if (a.is_object()) return a.items() == b.items();
  return true;
}

std::partial_ordering Json::order(const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number()) return std::partial_ordering::unordered;
  if (a.is_number_float() || b.is_number_float()) return a.get<double>() <=> b.get<double>();
  const auto is_negative = [](const Json& x) {
    return !x.is_number_unsigned() && x.get<std::int64_t>() < 0;
  };
  if (is_negative(a) != is_negative(b)) return is_negative(b) <=> is_negative(a);
  if (is_negative(a)) return a.get<std::int64_t>() <=> b.get<std::int64_t>();
  return a.get<std::uint64_t>() <=> b.get<std::uint64_t>();
}

std::ostream& Json::print(std::ostream& out) const {
  return out << dump(-1, BadUtf8::Replace);
}

void Json::fail(const char* expected) const {
  throw JsonError(std::string("JSON: expected ") + expected + ", found " + shortened(*this));
}

Json::Array& Json::make_array() {
  if (is_null()) value_ = std::make_unique<Array>();
  if (!is_array()) fail("a list");
  return **std::get_if<std::unique_ptr<Array>>(&value_);
}

Json::Object& Json::make_object() {
  if (is_null()) value_ = std::make_unique<Object>();
  if (!is_object()) fail("an object");
  return **std::get_if<std::unique_ptr<Object>>(&value_);
}

std::string shortened(const Json& value) {
  constexpr std::size_t kMaxLength = 60;
  std::string text = value.dump_ascii();
  if (text.size() > kMaxLength) text = text.substr(0, kMaxLength - 3) + "...";
  return text;
}

}  // namespace attnscope
