#include "core/model/id_label.h"

#include "core/model/global_tokens.h"
#include "core/model/input_kind.h"

namespace attnscope {

std::string id_label(const ModelConfig* config, std::int32_t id) {
  std::string number = std::to_string(id);
  if (config != nullptr && input_kind(config->input.id).uses_patches) {
    const Index extra = config->input.values.integer("extra");
    if (id < 0 || id >= extra) return "patch";
    return id == 0 ? "[class]" : id == 1 ? "[teacher]" : "[" + number + "]";
  }
  if (config != nullptr && !input_kind(config->input.id).is_text && id >= 0) {
    return id == config->input.values.integer("levels") ? kBoundary : number;
  }
  if (config != nullptr && global_tokens(*config) > 0 && id >= first_global_id(*config)) {
    return "[g" + std::to_string(id - first_global_id(*config) + 1) + "]";
  }
  const auto is_id_of = [&](const char* key) {
    const Values& values = config->architecture.values;
    return values.has(key) && values.integer(key) == id;
  };
  if (config != nullptr && is_id_of("start")) return kBoundary;
  if (config != nullptr && id >= 0 && id == mask_id(*config)) return kMask;
  return "#" + number;
}

}  // namespace attnscope
