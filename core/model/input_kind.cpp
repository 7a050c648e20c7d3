#include "core/model/input_kind.h"

#include "core/base/find_by_id.h"

namespace attnscope {

const std::vector<InputKind>& input_kinds() {
  static const std::vector<InputKind> list{text_input(), image_input(), patches_input()};
  return list;
}

const InputKind& input_kind(std::string_view id) {
  return find_by_id(input_kinds(), id, "input.type");
}

InputKind text_input() {
  InputKind k;
  k.id = "text";
  k.label = "Text";
  k.group = "Inputs";
  k.equation = "x₀ = E[id]";
  k.summary = "Text tokens, each with a learned vector.";
  k.is_text = true;
  k.batch = [](const std::vector<std::int32_t>& ids, const ModelConfig&) {
    return next_token_batch(IntTensor::from({1, static_cast<Index>(ids.size())}, ids));
  };
  k.generation_prefix = [](const std::vector<std::int32_t>& ids, const ModelConfig&) {
    return ids;
  };
  k.max_ids = k.levels = k.columns = [](const Values&) { return Index{0}; };
  return k;
}

}  // namespace attnscope
