// From an experiment to what its model is given.
#pragma once

#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/experiment/experiment.h"
#include "core/trace/trace.h"

namespace attnscope {

// What is read, and the tokens by which views call it.
struct ModelInput {
  Batch batch;                                // of one sequence; targets where losses are wanted
  std::vector<TraceToken> tokens;             // of the (decoder's) stack
  std::vector<Stream> streams{};              // of the encoder, where there is one
  std::shared_ptr<const PixelGrid> pixels{};  // of an image that is seen as a whole; else null
};

// config: the model as chosen. tokens: those of the experiment's ids or text, as the model has room
// for; of a trajectory none. InputError where the model needs something else than the experiment
// has.
ModelInput model_input(const ModelConfig& config, const Checkpoint& checkpoint,
                       const Experiment& experiment, std::vector<TraceToken> tokens, bool losses);

// The experiment's tokens, as many as the model has room for; of a trajectory none. What was left
// out is said in `notes`.
std::vector<TraceToken> tokens_to_read(const ModelConfig& config, const Checkpoint& checkpoint,
                                       const Experiment& experiment,
                                       std::vector<std::string>& notes);

// What interventions can speak of; `tokens`: how many are read.
ModelExtent model_extent(const Checkpoint& checkpoint, const ModelConfig& config,
                         const Experiment& experiment, Index tokens);

// Whether the model reads tokens at all, and not a file.
bool reads_tokens(const ModelConfig& config);

// The image that a model of pixels reads; null where it is none, or not all of its tokens are
// levels. tokens: as it sees them, the start first.
std::shared_ptr<const PixelGrid> pixels_of(const ModelConfig& config,
                                           const std::vector<TraceToken>& tokens);

// What an encoder-decoder has written: the target's ids, or its start and text (maybe none).
std::vector<std::int32_t> target_so_far(const ModelConfig& config, const Checkpoint& checkpoint,
                                        const Experiment& experiment);
// The ids that a file gives an image model: .safetensors with pixels of its size, or a picture that
// is stretched to it.
std::vector<std::int32_t> pixel_ids(const ModelConfig& config, const std::string& file);

}  // namespace attnscope
