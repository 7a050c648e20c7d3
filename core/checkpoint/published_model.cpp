#include "core/checkpoint/published_model.h"

#include <algorithm>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

const PublishedModel& smollm2() {
  static const PublishedModel model{"smollm2", "SmolLM2-135M", "SmolLM2-135M-Instruct.Q4_1.gguf",
                                    "Apache-2.0", 98};
  return model;
}

const PublishedModel* published_model(std::string_view file) {
  return file == smollm2().file ? &smollm2() : nullptr;
}

bool is_installed(const std::string& model) {
  const std::vector<std::string> models = user_models();
  return std::ranges::find(models, model) != models.end();
}

}  // namespace attnscope
