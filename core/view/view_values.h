// ViewSettings as JSON, and access to the parameters of views in ViewSettings.
#pragma once

#include <string_view>

#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/experiment/view_settings.h"

namespace attnscope {

// Strict: InputErrors name the key and begin with `path`.
ViewSettings view_settings_from_json(const Json& object, std::string_view path);
Json to_json(const ViewSettings& view);
// Optional keys "stack", "kind", "step", "segment".
PartChoice part_from_json(JsonObject& object);
void add_part(const PartChoice& part, Json& object);

// Names: "percentile", "largest", "one". Other names are InputErrors that begin with `path`.
std::string name_of(ColourEnd end);
ColourEnd colour_end_from_name(std::string_view name, std::string_view path);

// All parameters of the view, including defaults.
Values view_values(const ViewSettings& settings, std::string_view id);
void set_view_values(ViewSettings& settings, std::string_view id, const Values& values);
void set_view_value(ViewSettings& settings, std::string_view id, std::string_view key, Value value);

}  // namespace attnscope
