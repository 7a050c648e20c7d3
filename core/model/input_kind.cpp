#include "core/model/input_kind.h"

#include "core/base/find_by_id.h"

namespace attnscope {

InputKind global_text_input();  // global_text_input.cpp

const std::vector<InputKind>& input_kinds() {
  static const std::vector<InputKind> list{text_input(), global_text_input(), image_input(),
                                           patches_input()};
  return list;
}

const InputKind& input_kind(std::string_view id) {
  return find_by_id(input_kinds(), id, "input.type");
}

InputKind text_input() {
  InputKind kind;
  kind.id = "text";
  kind.label = "Text";
  kind.group = "Inputs";
  kind.equation = "x₀ = E[id]";
  kind.summary = "Text tokens, each with a learned vector.";
  kind.source = "Bengio et al., 2003, A neural probabilistic language model";
  kind.is_text = true;
  kind.batch = [](const std::vector<std::int32_t>& ids, const ModelConfig&) {
    return next_token_batch(IntTensor::from({1, static_cast<Index>(ids.size())}, ids));
  };
  kind.generation_prefix = [](const std::vector<std::int32_t>& ids, const ModelConfig&) {
    return ids;
  };
  kind.max_ids = kind.levels = kind.columns = [](const Values&) { return Index{0}; };
  return kind;
}

}  // namespace attnscope
