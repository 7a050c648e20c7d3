#include "core/base/parameter.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/base/join_words.h"
#include "core/base/near_match.h"
#include "core/base/strict_json.h"

namespace attnscope {

using Kind = Parameter::Kind;

namespace {

std::string number_text(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);
  return std::string(buffer, end.ptr);
}

// Valid range: "", " greater than 0", " from 1 to 5". `mentions_maximum`: even a default maximum.
std::string range_text(const Parameter& parameter, bool mentions_maximum = false) {
  const bool is_integer = parameter.kind == Kind::Integer || parameter.kind == Kind::Integers ||
                          parameter.kind == Kind::IntegerLists;
  const bool is_bounded_above =
      mentions_maximum ||
      parameter.limits.max < (is_integer ? Parameter::kMaxInteger : Parameter::kMaxReal);
  const bool is_bounded_below = parameter.limits.min > -Parameter::kMaxInteger;
  if (!is_bounded_below)
    return is_bounded_above ? " of at most " + number_text(parameter.limits.max) : "";
  const std::string minimum = (parameter.limits.min_excluded ? " greater than " : " of at least ") +
                              number_text(parameter.limits.min);
  if (!is_bounded_above) return minimum;
  if (parameter.limits.min_excluded)
    return minimum + " and at most " + number_text(parameter.limits.max);
  return " from " + number_text(parameter.limits.min) + " to " + number_text(parameter.limits.max);
}

bool is_within(const Parameter& parameter, double number) {
  return std::isfinite(number) && number <= parameter.limits.max &&
         (parameter.limits.min_excluded ? number > parameter.limits.min
                                        : number >= parameter.limits.min);
}

std::string expected_text(const Parameter& parameter, bool mentions_maximum) {
  switch (parameter.kind) {
    case Kind::Integer:
      return "an integer" + range_text(parameter, mentions_maximum);
    case Kind::Real:
      return "a number" + range_text(parameter, mentions_maximum);
    case Kind::Choice:
      return "one of " + join_words(choice_ids(parameter));
    case Kind::Flag:
      return "true or false";
    case Kind::Integers:
      return "a list of integers" + range_text(parameter, mentions_maximum);
    case Kind::Reals:
      return "a list of numbers" + range_text(parameter, mentions_maximum);
    case Kind::IntegerLists:
      return "a list of lists of " +
             (parameter.list_size > 0 ? std::to_string(parameter.list_size) + " " : "") +
             "integers" + range_text(parameter, mentions_maximum);
  }
  throw std::logic_error("parameter kind");
}

bool have_size(const Parameter& parameter, const std::vector<std::vector<Index>>& lists) {
  return std::ranges::all_of(lists, [&](const std::vector<Index>& list) {
    return parameter.list_size == 0 || static_cast<Index>(list.size()) == parameter.list_size;
  });
}

bool exceeds(const Parameter& parameter, const Json& json) {
  if (json.is_array()) {
    return std::any_of(json.begin(), json.end(),
                       [&](const Json& member) { return exceeds(parameter, member); });
  }
  return json.is_number() && json.get<double>() > parameter.limits.max;
}

[[noreturn]] void fail(const Parameter& parameter, std::string_view path, const Json& json,
                       const std::string& found_text) {
  const bool is_name = parameter.kind == Parameter::Kind::Choice && json.is_string();
  throw InputError(std::string(path) + "." + parameter.key + ": expected " +
                   expected_text(parameter, exceeds(parameter, json)) + ", found " + found_text +
                   (is_name ? suggestion(json.text(), choice_ids(parameter)) : ""));
}

// Converts a JSON number to an integer; accepts 3.0 as 3.
bool to_integer(const Json& number, Index& integer) {
  if (number.is_number_unsigned()) {
    const auto value = number.get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) return false;
    integer = static_cast<Index>(value);
    return true;
  }
  if (number.is_number_integer()) {
    integer = static_cast<Index>(number.get<std::int64_t>());
    return true;
  }
  if (!number.is_number_float()) return false;
  constexpr double kExact = 9007199254740992;  // 2^53
  const double value = number.get<double>();
  if (!(std::abs(value) <= kExact) || value != std::floor(value)) return false;
  integer = static_cast<Index>(value);
  return true;
}

bool to_integers(const Json& list, std::vector<Index>& integers) {
  if (!list.is_array()) return false;
  for (const Json& member : list) {
    integers.emplace_back();
    if (!to_integer(member, integers.back())) return false;
  }
  return true;
}

bool to_reals(const Json& list, std::vector<double>& reals) {
  if (!list.is_array()) return false;
  for (const Json& member : list) {
    if (!member.is_number()) return false;
    reals.push_back(member.get<double>());
  }
  return true;
}

bool to_integer_lists(const Json& list, std::vector<std::vector<Index>>& lists) {
  if (!list.is_array()) return false;
  for (const Json& member : list) {
    lists.emplace_back();
    if (!to_integers(member, lists.back())) return false;
  }
  return true;
}

std::string shortened_key(const std::string& key) {
  const std::string quoted = shortened(key);
  return quoted.size() == key.size() + 2 ? key : quoted;
}

// Id of the choice with this id or earlier id; unknown ids are returned unchanged.
std::string current_id(const Parameter& parameter, const std::string& id) {
  for (const ParameterChoice& choice : parameter.choices) {
    if (std::ranges::find(choice.aliases, id) != choice.aliases.end()) return choice.id;
  }
  return id;
}

Value value_from_json(const Parameter& parameter, const Json& json, std::string_view path) {
  const auto to_valid = [&](auto value, bool has_type) {
    if (!has_type) fail(parameter, path, json, shortened(json));
    Value result = std::move(value);
    check_value(parameter, result, path);
    return result;
  };
  switch (parameter.kind) {
    case Kind::Integer: {
      Index integer = 0;
      const bool has_type = to_integer(json, integer);
      return to_valid(integer, has_type);
    }
    case Kind::Real:
      return to_valid(json.is_number() ? json.get<double>() : 0.0, json.is_number());
    case Kind::Flag:
      return to_valid(json.is_boolean() && json.get<bool>(), json.is_boolean());
    case Kind::Choice:
      return to_valid(json.is_string() ? current_id(parameter, json.get<std::string>()) : "",
                      json.is_string());
    case Kind::Integers: {
      std::vector<Index> integers;
      const bool has_type = to_integers(json, integers);
      return to_valid(std::move(integers), has_type);
    }
    case Kind::Reals: {
      std::vector<double> reals;
      const bool has_type = to_reals(json, reals);
      return to_valid(std::move(reals), has_type);
    }
    case Kind::IntegerLists: {
      std::vector<std::vector<Index>> lists;
      const bool has_type = to_integer_lists(json, lists) && have_size(parameter, lists);
      return to_valid(std::move(lists), has_type);
    }
  }
  throw std::logic_error("parameter kind");
}

}  // namespace

std::vector<std::string> choice_ids(const Parameter& parameter) {
  std::vector<std::string> ids;
  for (const ParameterChoice& choice : parameter.choices) ids.push_back(choice.id);
  return ids;
}

const std::string& choice_label(const Parameter& parameter, const std::string& choice) {
  const auto it = std::ranges::find(parameter.choices, choice, &ParameterChoice::id);
  return it == parameter.choices.end() || it->label.empty() ? choice : it->label;
}

std::string expected_text(const Parameter& parameter) {
  return expected_text(parameter, false);
}

void check_value(const Parameter& parameter, const Value& value, std::string_view path) {
  const auto require = [&](bool holds) {
    if (!holds) fail(parameter, path, to_json(value), to_text(value));
  };
  const auto require_all = [&](const std::vector<Index>& integers) {
    for (const Index i : integers) require(is_within(parameter, static_cast<double>(i)));
  };
  switch (parameter.kind) {
    case Kind::Integer:
      require(std::holds_alternative<Index>(value) &&
              is_within(parameter, static_cast<double>(std::get<Index>(value))));
      break;
    case Kind::Real:
      require(std::holds_alternative<double>(value) &&
              is_within(parameter, std::get<double>(value)));
      break;
    case Kind::Flag:
      require(std::holds_alternative<bool>(value));
      break;
    case Kind::Choice: {
      require(std::holds_alternative<std::string>(value));
      require(std::ranges::find(parameter.choices, std::get<std::string>(value),
                                &ParameterChoice::id) != parameter.choices.end());
      break;
    }
    case Kind::Integers:
      require(std::holds_alternative<std::vector<Index>>(value));
      require_all(std::get<std::vector<Index>>(value));
      break;
    case Kind::Reals:
      require(std::holds_alternative<std::vector<double>>(value));
      for (const double x : std::get<std::vector<double>>(value)) require(is_within(parameter, x));
      break;
    case Kind::IntegerLists:
      require(std::holds_alternative<std::vector<std::vector<Index>>>(value));
      require(have_size(parameter, std::get<std::vector<std::vector<Index>>>(value)));
      for (const auto& list : std::get<std::vector<std::vector<Index>>>(value)) require_all(list);
      break;
  }
}

bool Values::has(std::string_view key) const {
  return values_.find(key) != values_.end();
}
Index Values::integer(std::string_view key) const {
  return get<Index>(key);
}
double Values::real(std::string_view key) const {
  return get<double>(key);
}
bool Values::flag(std::string_view key) const {
  return get<bool>(key);
}
const std::string& Values::choice(std::string_view key) const& {
  return get<std::string>(key);
}
void Values::set(std::string_view key, Value value) {
  values_.insert_or_assign(std::string(key), std::move(value));
}
void Values::erase(std::string_view key) {
  const auto it = values_.find(key);
  if (it != values_.end()) values_.erase(it);
}
const Value& Values::at(std::string_view key) const {
  const auto it = values_.find(key);
  if (it == values_.end()) throw InputError("parameter " + std::string(key) + ": missing");
  return it->second;
}

Values default_values(const std::vector<Parameter>& parameters) {
  Values values;
  for (const Parameter& parameter : parameters) {
    if (!parameter.optional) values.set(parameter.key, parameter.initial);
  }
  return values;
}

Values illustrative_values(const std::vector<Parameter>& parameters, Index length) {
  Values values = default_values(parameters);
  for (const Parameter& parameter : parameters) {
    if (parameter.illustrative_default && length > 0)
      values.set(parameter.key, parameter.illustrative_default(length));
  }
  return values;
}

void fill_unset_values(Values& values, const std::vector<Parameter>& parameters, Index length) {
  const Values illustrative = illustrative_values(parameters, length);
  for (const Parameter& parameter : parameters) {
    if (!parameter.required || values.has(parameter.key)) continue;
    values.set(parameter.key, illustrative.all().find(parameter.key)->second);
  }
}

void set_image_sizes(Values& values, const std::vector<Parameter>& parameters, Index width,
                     Index height, bool replace) {
  for (const Parameter& parameter : parameters) {
    if (parameter.scope.image.empty() || (values.has(parameter.key) && !replace)) continue;
    values.set(parameter.key, parameter.scope.image == "height" ? height : width);
  }
}

Index fraction_of_length(Index length, Index n) {
  return std::max<Index>(1, (length + n / 2) / n);
}

Index rounded_root(Index length) {
  return std::max<Index>(2, std::lround(std::sqrt(static_cast<double>(length))));
}

Index divisor_near(Index length, double target) {
  Index nearest = 1;
  const auto gap = [&](Index divisor) { return std::abs(static_cast<double>(divisor) - target); };
  for (Index divisor = 2; divisor <= length; ++divisor) {
    if (length % divisor == 0 && gap(divisor) < gap(nearest)) nearest = divisor;
  }
  return nearest;
}

Values partial_values_from_json(const std::vector<Parameter>& parameters, const Json& object,
                                std::string_view path) {
  if (!object.is_object()) {
    throw InputError(std::string(path) + ": expected an object, found " + shortened(object));
  }
  std::vector<std::string> known_keys = {"type"};
  for (const Parameter& parameter : parameters) known_keys.push_back(parameter.key);
  for (const auto& [key, member] : object.items()) {
    if (std::find(known_keys.begin(), known_keys.end(), key) != known_keys.end()) continue;
    throw InputError(std::string(path) + "." + shortened_key(key) +
                     ": unknown key, expected one of " + join_words(known_keys) +
                     suggestion(key, known_keys));
  }
  Values values;
  for (const Parameter& parameter : parameters) {
    if (const Json* json = object.find(parameter.key)) {
      values.set(parameter.key, value_from_json(parameter, *json, path));
    } else if (!parameter.optional && !parameter.required) {
      values.set(parameter.key, parameter.initial);
    }
  }
  return values;
}

Values values_from_json(const std::vector<Parameter>& parameters, const Json& object,
                        std::string_view path) {
  Values values = partial_values_from_json(parameters, object, path);
  for (const Parameter& parameter : parameters) {
    if (parameter.required && !values.has(parameter.key)) fail(parameter, path, {}, "nothing");
  }
  return values;
}

Json to_json(const Value& value) {
  return std::visit([](const auto& content) { return Json(content); }, value);
}

Json to_json(const Values& values) {
  Json object = Json::object();
  for (const auto& [key, value] : values.all()) object[key] = to_json(value);
  return object;
}

Value value_from_text(const Parameter& parameter, std::string_view text, std::string_view path) {
  if (parameter.kind == Kind::Choice) {
    return value_from_json(parameter, Json(std::string(text)), path);
  }
  Json value;
  try {
    value = parse_json(text, path);
  } catch (const InputError&) {
    value = std::string(text);  // value_from_json() rejects it and describes valid values
  }
  return value_from_json(parameter, value, path);
}

std::string to_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::string compact = to_json(value).dump();
  if (compact.ends_with(".0")) compact.resize(compact.size() - 2);  // 3.0 becomes 3
  std::string spaced;
  for (const char c : compact) {
    spaced += c;
    if (c == ',') spaced += ' ';
  }
  return spaced;
}

}  // namespace attnscope
