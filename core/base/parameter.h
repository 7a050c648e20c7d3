// Parameters of variants and encodings: what they may be, and what they are.
//
// A Parameter description is the only place where its key, range, default and help are said;
// sliders, command-line help, JSON checking and tests read it from there.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

using Value =
    std::variant<bool, Index, double, std::string,
                 std::vector<Index>,                // positions, slots
                 std::vector<double>,               // ALiBi slopes
                 std::vector<std::vector<Index>>>;  // block lists, permutations: a list per row

struct Parameter {
  enum class Kind { Integer, Real, Choice, Flag, Integers, Reals, IntegerLists };

  std::string key;     // "window": in JSON and on the command line
  std::string symbol;  // "w": in equations
  std::string label;   // "Window": in the window
  std::string help;    // one sentence
  Kind kind = Kind::Integer;
  bool required = false;        // no default: JSON must give it (the window starts at `initial`)
  bool optional = false;        // may be left out altogether; `initial` is not applied
  Value initial;                // the default; where required, what the window starts with
  double least = 0, most = 0;   // hard limits (Integer, Real, and members of lists)
  bool least_excluded = false;  // Real: the limit itself is refused
  double slider_least = 0, slider_most = 0;  // what a slider offers
  std::vector<std::string> choices;          // Choice: the first is the default
};

// Values by key, complete (defaults filled in) and checked against their descriptions.
class Values {
 public:
  bool has(std::string_view key) const;
  Index integer(std::string_view key) const;
  double real(std::string_view key) const;
  bool flag(std::string_view key) const;
  const std::string& choice(std::string_view key) const;
  template <class T>
  const T& get(std::string_view key) const {
    return std::get<T>(at(key));
  }
  void set(std::string_view key, Value value);
  const std::map<std::string, Value, std::less<>>& all() const { return values_; }
  bool operator==(const Values&) const = default;

 private:
  const Value& at(std::string_view key) const;
  std::map<std::string, Value, std::less<>> values_;
};

// The defaults; of required parameters their `initial`, so that a window can start from them.
Values default_values(const std::vector<Parameter>& parameters);

// InputError "variant.windw: unknown key; expected one of window, dilation" and the like.
// `object` may hold a "type" key, which is skipped. `path` ("variant") begins the messages.
Values values_from_json(const std::vector<Parameter>& parameters, const nlohmann::json& object,
                        std::string_view path);
nlohmann::json to_json(const Values& values);
// One value from command-line text, "window" and "3" (lists: JSON).
Value value_from_text(const Parameter& parameter, std::string_view text, std::string_view path);
std::string to_text(const Value& value);  // "3", "0.5", "merged", "[0, 4]"

}  // namespace attnscope
