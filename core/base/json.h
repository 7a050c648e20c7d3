// JSON values. Only json.cpp includes nlohmann/json, whose header takes seconds to compile. Like
// nlohmann/json, Json sorts the keys of objects and distinguishes signed from unsigned integers, so
// that both libraries write the same text.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace attnscope {

// Wrong value type, invalid JSON, or invalid UTF-8 in a string to write.
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;
  static constexpr int kMaxDepth = 100;  // maximum nesting depth
  enum class BadUtf8 { Reject, Replace };

  Json() = default;  // null
  Json(std::nullptr_t) {}
  template <std::same_as<bool> T>  // pointers must not convert to bool
  Json(T value) : value_(value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T value) : value_(Integer<T>{value}) {}
  template <std::floating_point T>
  Json(T value) : value_(static_cast<double>(value)) {}
  Json(const char* text) : Json(std::string(text)) {}
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(std::string text);
  template <class T>
  Json(const std::vector<T>& list) : Json(Array(list.begin(), list.end())) {}
  template <class T, std::size_t N>
  Json(const std::array<T, N>& list) : Json(Array(list.begin(), list.end())) {}
  template <class T, class Order>
  Json(const std::map<std::string, T, Order>& members)
      : Json(Object(members.begin(), members.end())) {}
  Json(Array list);
  Json(Object members);
  // An object if all elements are pairs that begin with a string ({{"k", 3}}), else an array.
  Json(std::initializer_list<Json> list);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();
  static Json array(std::initializer_list<Json> list = {});  // an array, even of pairs
  static Json object();

  // JsonError for a syntax error, with its byte offset, or for nesting deeper than kMaxDepth. The
  // last value of a repeated key wins; `repeated` receives the first repeated key.
  static Json parse(std::string_view text, std::string* repeated = nullptr);
  static Json parse_or_null(std::string_view text);  // null for invalid JSON
  // Returns one line if indent < 0, else one line per member, with `indent` spaces per level.
  std::string dump(int indent = -1, BadUtf8 on_bad_utf8 = BadUtf8::Reject) const;
  std::string dump_ascii() const;  // one line; escapes non-ASCII, replaces invalid UTF-8

  bool is_null() const { return holds<std::monostate>(); }
  bool is_boolean() const { return holds<bool>(); }
  bool is_number() const { return is_number_integer() || is_number_float(); }
  bool is_number_integer() const { return holds<std::int64_t>() || is_number_unsigned(); }
  bool is_number_unsigned() const { return holds<std::uint64_t>(); }  // parsed without a sign
  bool is_number_float() const { return holds<double>(); }
  bool is_string() const { return holds<std::unique_ptr<std::string>>(); }
  bool is_array() const { return holds<std::unique_ptr<Array>>(); }
  bool is_object() const { return holds<std::unique_ptr<Object>>(); }

  // T: bool, an arithmetic type (numbers are converted), std::string, or a std::vector of these.
  // JsonError if the value has another type.
  template <class T>
  T get() const;
  const std::string& text() const;

  std::size_t size() const;  // number of members; null: 0, other scalars: 1
  bool empty() const { return size() == 0; }

  // Arrays. Null acts as an empty array; JsonError for other types.
  const Json* begin() const;
  const Json* end() const { return begin() + (is_null() ? 0 : size()); }
  const Json& operator[](std::size_t index) const;  // JsonError if out of range
  Json& operator[](std::size_t index);
  void push_back(Json value);  // turns null into an array

  // Objects. Null acts as an empty object. For other types, find() returns nullptr, contains()
  // returns false, and the remaining functions throw JsonError.
  const Object& items() const;
  const Json* find(std::string_view key) const;  // nullptr if absent
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Json& operator[](std::string_view key) const;  // JsonError if absent
  Json& operator[](std::string_view key);              // inserts a missing key
  const Json& at(std::string_view key) const { return (*this)[key]; }
  void erase(std::string_view key);

  // Member at a JSON pointer (RFC 6901), "/model/layers/0". Creates missing members.
  Json& at_pointer(std::string_view pointer);
  // Leaf values by JSON pointer; empty arrays and objects become null.
  Object flatten() const;
  void merge_patch(const Json& patch);  // RFC 7396: a null removes its key

  // Numbers compare by value regardless of type; other types are unordered.
  friend bool operator==(const Json& a, const Json& b) { return equal(a, b); }
  friend std::partial_ordering operator<=>(const Json& a, const Json& b) { return order(a, b); }
  friend std::ostream& operator<<(std::ostream& out, const Json& value) { return value.print(out); }

 private:
  template <class T>
  using Integer = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  template <class T>
  bool holds() const {
    return std::holds_alternative<T>(value_);
  }
  static bool equal(const Json& a, const Json& b);
  static std::partial_ordering order(const Json& a, const Json& b);
  std::ostream& print(std::ostream& out) const;
  [[noreturn]] void fail(const char* expected) const;
  Array& make_array();
  Object& make_object();

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double,
               std::unique_ptr<std::string>, std::unique_ptr<Array>, std::unique_ptr<Object>>
      value_;
};

template <class T>
T Json::get() const {
  if constexpr (std::same_as<T, bool>) {
    if (!is_boolean()) fail("true or false");
    return *std::get_if<bool>(&value_);
  } else if constexpr (std::same_as<T, std::string>) {
    return text();
  } else if constexpr (requires { typename T::value_type; }) {
    T list;
    for (const Json* member = begin(); member != end(); ++member) {
      list.push_back(member->get<typename T::value_type>());
    }
    return list;
  } else {
    static_assert(std::is_arithmetic_v<T>);
    if (const auto* number = std::get_if<std::int64_t>(&value_)) return static_cast<T>(*number);
    if (const auto* number = std::get_if<std::uint64_t>(&value_)) return static_cast<T>(*number);
    if (const auto* number = std::get_if<double>(&value_)) return static_cast<T>(*number);
    fail("a number");
  }
}

// JSON text of a value for messages, at most 60 characters.
std::string shortened(const Json& value);

}  // namespace attnscope
