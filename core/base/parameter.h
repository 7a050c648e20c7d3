// Parameters of variants and encodings: descriptions and values.
//
// A Parameter is the single source of its key, range, default and help text; sliders, command-line
// help, JSON checks and tests read it.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/index.h"
#include "core/base/json.h"

namespace attnscope {

using Value =
    std::variant<bool, Index, double, std::string,
                 std::vector<Index>,                // positions, slots
                 std::vector<double>,               // ALiBi slopes
                 std::vector<std::vector<Index>>>;  // block lists, permutations: one list per row

// Limits of a number, or of each number in a list.
struct ParameterLimits {
  double min = 0, max = 2147483647;  // 2^31 - 1: products of two integers fit an Index
  bool min_excluded = false;         // Real: the interval is open at `min`
};

// Range of a slider; empty if both ends are equal.
struct SliderRange {
  double min = 0, max = 0;
  bool logarithmic = false;  // steps of equal ratio: bases, temperatures
};

// Restrictions of a parameter's effect; none by default.
struct ParameterScope {
  bool models = false;    // has an effect only in whole models
  bool segments = false;  // has an effect only in models that read segments
  bool training = false;  // affects only training and reported training losses
  // "width" or "height": the dimension of an image, with one token per pixel, that is the
  // parameter's default. A parameter whose key is this word must equal the dimension.
  std::string image{};
};

struct ParameterChoice {
  std::string id{};
  std::string label{};                 // empty: the id
  bool models = false;                 // has an effect only in whole models
  std::vector<std::string> aliases{};  // earlier ids, which are still read

  ParameterChoice(const char* name) : id(name) {}  // NOLINT(google-explicit-constructor)
  ParameterChoice(std::string name, std::string text, bool in_models = false,
                  std::vector<std::string> earlier_ids = {})
      : id(std::move(name)),
        label(std::move(text)),
        models(in_models),
        aliases(std::move(earlier_ids)) {}
};

struct Parameter {
  enum class Kind { Integer, Real, Choice, Flag, Integers, Reals, IntegerLists };

  static constexpr double kMaxInteger = ParameterLimits{}.max;
  static constexpr double kMaxReal = std::numeric_limits<double>::max();

  std::string key{};     // "window": in JSON and on the command line
  std::string symbol{};  // "w": in equations
  std::string label{};   // "Window": in the user interface
  std::string help{};    // one sentence
  Kind kind = Kind::Integer;
  bool required = false;                  // no default: JSON must contain the key
  bool optional = false;                  // no default: may be unset
  std::string unset_label = "automatic";  // label of an unset optional parameter, one or two words
  ParameterScope scope{};
  Value initial{};  // default, or else the value that the window offers first
  // A value that shows the parameter's effect on a text of `length` tokens; empty: use `initial`.
  std::function<Value(Index length)> illustrative_default{};
  ParameterLimits limits{};
  SliderRange slider{};                    // for Integer and Real
  std::vector<ParameterChoice> choices{};  // for Choice: the first is the default
  Index list_size = 0;                     // for IntegerLists: length of each list; 0: any length
};

// Description of valid values: "an integer of at least 0", "one of first, second".
std::string expected_text(const Parameter& parameter);

std::vector<std::string> choice_ids(const Parameter& parameter);
const std::string& choice_label(const Parameter& parameter, const std::string& choice);

// Parameter values by key: complete (defaults filled in) and valid.
class Values {
 public:
  bool has(std::string_view key) const;
  Index integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool flag(std::string_view key) const;
  const std::string& choice(std::string_view key) const&;
  template <class T>
  const T& get(std::string_view key) const& {
    return std::get<T>(at(key));
  }
  // Overloads for temporaries return copies.
  std::string choice(std::string_view key) && { return std::as_const(*this).choice(key); }
  template <class T>
  T get(std::string_view key) && {
    return std::get<T>(at(key));
  }
  void set(std::string_view key, Value value);
  void erase(std::string_view key);  // unsets an optional parameter
  const std::map<std::string, Value, std::less<>>& all() const { return values_; }
  bool operator==(const Values&) const = default;

 private:
  const Value& at(std::string_view key) const;
  std::map<std::string, Value, std::less<>> values_;
};

// Default values. Required parameters get `initial`; optional ones stay unset.
Values default_values(const std::vector<Parameter>& parameters);

// Illustrative values for a text of `length` tokens (0: unknown), used when the user selects a
// variant or encoding by name.
Values illustrative_values(const std::vector<Parameter>& parameters, Index length);

// Throws InputError such as "variant.windw: unknown key, expected one of type, window, dilation";
// `path` ("variant") begins the messages. Ignores the key "type".
Values values_from_json(const std::vector<Parameter>& parameters, const Json& object,
                        std::string_view path);
// Like values_from_json(), but required values may be missing; fill_unset_values() fills them with
// illustrative values for `length` tokens.
Values partial_values_from_json(const std::vector<Parameter>& parameters, const Json& object,
                                std::string_view path);
void fill_unset_values(Values& values, const std::vector<Parameter>& parameters, Index length);

// Sets the parameters that are dimensions of an image (ParameterScope::image); overwrites existing
// values only if `replace`.
void set_image_sizes(Values& values, const std::vector<Parameter>& parameters, Index width,
                     Index height, bool replace);

// Helpers for Parameter::illustrative_default.
Index fraction_of_length(Index length, Index n);  // length / n, rounded, at least 1
Index rounded_root(Index length);                 // square root, rounded, at least 2
Index divisor_near(Index length, double target);  // nearest divisor; the smaller one in a tie

Json to_json(const Value& value);
Json to_json(const Values& values);

// Throws InputError if `parameter` does not allow `value`. Call if the value is not from JSON.
void check_value(const Parameter& parameter, const Value& value, std::string_view path);

// Parses a command-line value, such as "3" for "window"; lists are JSON.
Value value_from_text(const Parameter& parameter, std::string_view text, std::string_view path);
std::string to_text(const Value& value);  // "3", "0.5", "merged", "[0, 4]"

}  // namespace attnscope
