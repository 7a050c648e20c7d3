// Parameters of variants and encodings: what they may be, and what they are.
//
// A Parameter description is the only place where its key, range, default and help are said;
// sliders, command-line help, JSON checking and tests read it from there.
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
                 std::vector<std::vector<Index>>>;  // block lists, permutations: a list per row

struct Parameter {
  enum class Kind { Integer, Real, Choice, Flag, Integers, Reals, IntegerLists };

  // Where no smaller limit is given: products of two integers still fit an Index.
  static constexpr double kMostInteger = 2147483647;
  static constexpr double kMostReal = std::numeric_limits<double>::max();

  std::string key{};     // "window": in JSON and on the command line
  std::string symbol{};  // "w": in equations
  std::string label{};   // "Window": in the window
  std::string help{};    // one sentence
  Kind kind = Kind::Integer;
  bool required = false;  // no default: JSON must give it (the window starts at `initial`)
  bool optional = false;  // may be left out altogether; `initial` is what a window offers then
  std::string left_out = "automatic";  // what holds without an optional one, in a word or two
  bool of_models = false;              // has a meaning in whole models alone
  bool of_segments = false;            // in those that read in segments
  bool of_training = false;            // training alone reads it, and the losses that it would have
  // "width", "height": what it is where the tokens are pixels. A parameter of that very name must
  // be the image's.
  std::string of_image{};
  Value initial{};  // the default; where required, what is offered where nothing else is known
  // What shows at once what it does, on a text of so many tokens; empty: `initial` does.
  std::function<Value(Index length)> telling{};
  // Hard limits (Integer, Real, and members of lists).
  double least = 0, most = kMostInteger;
  bool least_excluded = false;                   // Real: the limit itself is refused
  double slider_least = 0, slider_most = 0;      // what a slider offers (Integer, Real)
  bool slider_logarithmic = false;               // steps of equal ratio: bases, temperatures
  std::vector<std::string> choices{};            // Choice: the first is the default
  std::vector<std::string> choices_of_models{};  // those with a meaning in whole models alone
  std::vector<std::string> choice_labels{};      // what a window calls them; empty: as they are
};

// "an integer of at least 0", "one of first, second": for messages and help.
std::string expected_text(const Parameter& parameter);

// What a window calls one of the choices.
const std::string& choice_label(const Parameter& parameter, const std::string& choice);

// Values by key, complete (defaults filled in) and checked against their descriptions.
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
  // Of values that are about to go: a copy, which outlives them.
  std::string choice(std::string_view key) && { return std::as_const(*this).choice(key); }
  template <class T>
  T get(std::string_view key) && {
    return std::get<T>(at(key));
  }
  void set(std::string_view key, Value value);
  void erase(std::string_view key);  // of an optional parameter
  const std::map<std::string, Value, std::less<>>& all() const { return values_; }
  bool operator==(const Values&) const = default;

 private:
  const Value& at(std::string_view key) const;
  std::map<std::string, Value, std::less<>> values_;
};

// The defaults; of required parameters their `initial`, so that a window can start from them.
Values default_values(const std::vector<Parameter>& parameters);

// What a person starts from who picks this by its name for a text of so many tokens (0: not known).
Values telling_values(const std::vector<Parameter>& parameters, Index length);

// InputError "variant.windw: no such key; expected one of type, window, dilation" and the like.
// `object` may hold a "type" key, which is skipped. `path` ("variant") begins the messages.
Values values_from_json(const std::vector<Parameter>& parameters, const Json& object,
                        std::string_view path);
// The same, but what is required may be missing, until complete() puts in what suits a length.
Values some_values_from_json(const std::vector<Parameter>& parameters, const Json& object,
                             std::string_view path);
void complete(Values& values, const std::vector<Parameter>& parameters, Index length);

// Sets those that an image gives (Parameter::of_image), of which `replace` also those that are
// there.
void set_image_sizes(Values& values, const std::vector<Parameter>& parameters, Index width,
                     Index height, bool replace);

// For `telling`: an n-th of a length, at least 1; about its root, at least 2; of its divisors the
// one nearest to another number, of two the smaller.
Index share_of(Index length, Index n);
Index root_of(Index length);
Index divisor_near(Index length, double wanted);

Json to_json(const Value& value);
Json to_json(const Values& values);

// InputError when `value` is not what `parameter` allows: for values that were not read from JSON.
void check_value(const Parameter& parameter, const Value& value, std::string_view path);

// One value from command-line text, "window" and "3" (lists: JSON).
Value value_from_text(const Parameter& parameter, std::string_view text, std::string_view path);
std::string to_text(const Value& value);  // "3", "0.5", "merged", "[0, 4]"

}  // namespace attnscope
