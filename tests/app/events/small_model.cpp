#include "tests/app/events/small_model.h"

#include "core/checkpoint/checkpoint.h"
#include "core/model/exits.h"
#include "core/text/bpe.h"
#include "tests/support/small_config.h"

namespace attnscope::window {

void save_small_model(const std::filesystem::path& folder, const std::string& exits) {
  const auto tokenizer = train_bpe("the cat sat on the mat and the dog sat on the log", 280);
  ModelConfig config = testing::small_config({.vocabulary = tokenizer->vocabulary_size(),
                                              .context = 64,
                                              .layers = 2,
                                              .head_size = 16,
                                              .hidden = 64});
  if (!exits.empty()) {
    config.exits = Choice{exits, default_values(exit_rule(exits).parameters)};
  }
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
