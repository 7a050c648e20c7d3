// JSON values. A class of our own, since the parser's header (nlohmann/json) takes seconds to
// compile wherever it is included: json.cpp alone does. Objects keep their keys sorted, integers
// keep whether they are signed, so that what is written is what that library would write.
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

// A value is not of the type that was asked for, a text is no JSON, or a text to write no UTF-8.
struct JsonError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::map<std::string, Json, std::less<>>;
  static constexpr int kDeepest = 100;  // nesting that is read
  enum class BadUtf8 { Refuse, Replace };

  Json() = default;  // null
  Json(std::nullptr_t) {}
  template <std::same_as<bool> T>  // no pointer
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
  // An object when each is a pair that begins with a text, as in {{"type", "full"}, {"k", 3}}; else
  // an array.
  Json(std::initializer_list<Json> list);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();
  static Json array(std::initializer_list<Json> list = {});  // also of such pairs
  static Json object();

  // JsonError says at which byte the text is no JSON, or that it is nested too deeply. Of keys that
  // occur twice in one object the last one counts; the first such key goes to `repeated`.
  static Json parse(std::string_view text, std::string* repeated = nullptr);
  static Json parse_or_null(std::string_view text);  // null when it is no JSON
  // In one line, or with members on lines of their own, indented by `indent` for each level.
  std::string dump(int indent = -1, BadUtf8 bad = BadUtf8::Refuse) const;
  std::string dump_ascii() const;  // in one line, all else escaped or replaced

  bool is_null() const { return holds<std::monostate>(); }
  bool is_boolean() const { return holds<bool>(); }
  bool is_number() const { return is_number_integer() || is_number_float(); }
  bool is_number_integer() const { return holds<std::int64_t>() || is_number_unsigned(); }
  bool is_number_unsigned() const { return holds<std::uint64_t>(); }  // read without a sign
  bool is_number_float() const { return holds<double>(); }
  bool is_string() const { return holds<std::unique_ptr<std::string>>(); }
  bool is_array() const { return holds<std::unique_ptr<Array>>(); }
  bool is_object() const { return holds<std::unique_ptr<Object>>(); }

  // A bool, a number (any number, converted), a std::string or a std::vector of these; JsonError
  // when it is none.
  template <class T>
  T get() const;
  const std::string& text() const;

  std::size_t size() const;  // of an array or an object; 0 of null
  bool empty() const { return size() == 0; }

  // Arrays; null is an empty one. What is no array is a JsonError.
  const Json* begin() const;
  const Json* end() const { return begin() + (is_null() ? 0 : size()); }
  const Json& operator[](std::size_t index) const;  // JsonError when there is none
  Json& operator[](std::size_t index);
  void push_back(Json value);  // makes an array of null

  // Objects; null is an empty one. What is no object is a JsonError, except to find() and
  // contains(), which find nothing.
  const Object& items() const;
  const Json* find(std::string_view key) const;  // nullptr when it is not there
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Json& operator[](std::string_view key) const;  // JsonError when it is not there
  Json& operator[](std::string_view key);              // makes it, and an object of null
  const Json& at(std::string_view key) const { return (*this)[key]; }
  void erase(std::string_view key);

  // RFC 6901: "/model/layers/0", "~1" for a slash in a key. Members on the way are made.
  Json& at_pointer(std::string_view pointer);
  // The values by pointer that are neither array nor object, and null where one of these is empty.
  Object flatten() const;
  void merge_patch(const Json& patch);  // RFC 7396: null removes

  // Numbers are equal by value, whatever their type; only numbers have an order.
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

// A value for a message: at most 60 characters of its text.
std::string shortened(const Json& value);

}  // namespace attnscope
