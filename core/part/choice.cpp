#include "core/part/choice.h"

#include "core/base/error.h"

namespace attnscope {

const std::string& type_of(const Json& object, std::string_view path) {
  if (!object.is_object()) {
    throw InputError(std::string(path) + ": expected an object, found " + shortened(object));
  }
  const Json* type = object.find("type");
  if (type == nullptr || !type->is_string()) {
    throw InputError(std::string(path) + ".type: expected a name, found " +
                     (type == nullptr ? "nothing" : shortened(*type)));
  }
  return type->text();
}

Choice choice_from_json(const Info& info, const Json& object, std::string_view path) {
  return {info.id, values_from_json(info.parameters, object, path)};
}

Choice incomplete_choice_from_json(const Info& info, const Json& object, std::string_view path) {
  return {info.id, partial_values_from_json(info.parameters, object, path)};
}

Json to_json(const Choice& choice) {
  Json object = to_json(choice.values);
  object["type"] = choice.id;
  return object;
}

Choice default_choice(const Info& info) {
  return {info.id, default_values(info.parameters)};
}

void check_values(const Info& info, const Values& values, std::string_view path) {
  for (const Parameter& parameter : info.parameters) {
    if (values.has(parameter.key)) {
      check_value(parameter, values.all().find(parameter.key)->second, path);
    } else if (!parameter.optional) {
      throw InputError(std::string(path) + "." + parameter.key + ": expected " +
                       expected_text(parameter) + ", found nothing");
    }
  }
}

}  // namespace attnscope
