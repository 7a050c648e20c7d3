#include "tests/app/window/small_model.h"

#include "core/checkpoint/checkpoint.h"
#include "core/position/encoding.h"
#include "core/text/bpe.h"

namespace attnscope::window {

void save_small_model(const std::filesystem::path& folder) {
  ModelConfig config;
  config.context = 64;
  config.width = 32;
  config.layers = 2;
  config.heads = config.kv_heads = 2;
  config.head_size = 16;
  config.hidden = 64;
  HeadGroup group;
  group.heads = 2;
  group.encoding = {"rope", default_values(encoding("rope").parameters)};
  config.groups.assign(2, {group});
  const auto tokenizer = train_bpe("the cat sat on the mat and the dog sat on the log", 280);
  config.vocabulary = tokenizer->vocabulary_size();
  Checkpoint checkpoint;
  checkpoint.model = make_model(config, 3);
  for (auto& [name, weight] : checkpoint.model.weights) {
    if (!name.ends_with(".wq") && !name.ends_with(".wk")) continue;
    for (float& w : weight.mutable_value()) w *= 6;
  }
  checkpoint.tokenizer = tokenizer;
  std::filesystem::create_directories(folder);
  save_checkpoint(folder, checkpoint, false);
}

}  // namespace attnscope::window
