// Small models in folders, for the tests of runs.
#pragma once

#include <filesystem>

#include "core/checkpoint/checkpoint.h"
#include "core/text/bpe.h"

namespace attnscope::testing {

// A model of bytes with fresh weights.
inline void save_byte_model(const std::filesystem::path& folder, Index layers, Index width,
                            Index context, const Choice& encoding = default_encoding()) {
  Checkpoint checkpoint;
  ModelConfig config;
  config.vocabulary = 256;
  config.context = context;
  config.width = width;
  config.layers = layers;
  config.heads = config.kv_heads = 4;
  config.head_size = width / 4;
  config.hidden = 2 * width;
  config.groups = uniform_groups(config, default_variant(), encoding);
  checkpoint.model = make_model(config, 1);
  checkpoint.tokenizer = train_bpe("bytes", 256);
  save_checkpoint(folder, checkpoint, false);
}

}  // namespace attnscope::testing
