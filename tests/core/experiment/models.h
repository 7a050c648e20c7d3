// Small model folders for tests of runs.
#pragma once

#include <filesystem>
#include <string>

#include "core/checkpoint/checkpoint.h"
#include "core/text/bpe.h"
#include "tests/support/small_config.h"

namespace attnscope::testing {

// Saves a byte model with fresh weights.
inline void save_byte_model(const std::filesystem::path& folder, Index layers, Index width,
                            Index context, const std::string& encoding = default_encoding().id) {
  Checkpoint checkpoint;
  checkpoint.model = make_model(small_config({.context = context,
                                              .layers = layers,
                                              .heads = 4,
                                              .head_size = width / 4,
                                              .hidden = 2 * width,
                                              .encoding = encoding}),
                                1);
  checkpoint.tokenizer = train_bpe("bytes", 256);
  save_checkpoint(folder, checkpoint, false);
}

// Saves a model with large weights, so that the predictions of its layers differ.
inline void save_lively_model(const std::filesystem::path& folder, const ModelConfig& config) {
  Checkpoint checkpoint;
  checkpoint.model = make_model(config, 1);
  for (auto& [name, weight] : checkpoint.model.weights) {
    Tensor values = weight.value().copy();
    for (float& x : values) x *= name.ends_with("norm.weight") ? 1.0F : 6.0F;
    weight = Var(values);
  }
  checkpoint.tokenizer = train_bpe("bytes", 256);
  save_checkpoint(folder, checkpoint, false);
}

}  // namespace attnscope::testing
