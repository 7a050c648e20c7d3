#include "app/command/choice_text.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/strict_json.h"

namespace attnscope::command {
namespace {

// Splits at commas outside brackets.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  int bracket_depth = 0;
  for (const char c : text) {
    if (c == '[') ++bracket_depth;
    if (c == ']') --bracket_depth;
    if (c == ',' && bracket_depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

Json choice_json(const std::string& text, std::string_view path,
                 const ParameterLookup& parameters_of) {
  if (text.starts_with('{')) return parse_json(text, path);
  const std::vector<std::string> parts = split(text);
  const std::vector<Parameter> parameters = parameters_of(parts[0]);
  Json object = {{"type", parts[0]}};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto equals = parts[i].find('=');
    if (equals == std::string::npos) {
      throw InputError(std::string(path) + ": expected KEY=VALUE after \"" + parts[0] +
                       "\", found \"" + parts[i] + "\"");
    }
    const std::string key = parts[i].substr(0, equals);
    if (object.contains(key)) {
      throw InputError(std::string(path) + "." + key + ": expected once, found twice");
    }
    const auto parameter = std::ranges::find(parameters, key, &Parameter::key);
    if (parameter == parameters.end()) {
      object[key] = parts[i].substr(equals + 1);  // unknown: the reader of the JSON rejects the key
      continue;
    }
    Values value;
    value.set(key, value_from_text(*parameter, parts[i].substr(equals + 1), path));
    object[key] = to_json(value)[key];
  }
  return object;
}

}  // namespace attnscope::command
