// Model inputs of a run.
#pragma once

#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/experiment/run_spec.h"
#include "core/trace/trace.h"

namespace attnscope {

// Input of a model, with the tokens by which views label it.
struct ModelInput {
  Batch batch;                                // one sequence; with targets if losses are needed
  std::vector<TraceToken> tokens;             // of the (decoder) stack
  std::vector<Stream> streams{};              // of the encoder, if any
  std::shared_ptr<const PixelGrid> pixels{};  // of an image that is read in patches; else null
};

// config: the model with the choices of `spec`. tokens: result of tokens_to_read(). Throws
// InputError if `spec` lacks the input that the model needs.
ModelInput model_input(const ModelConfig& config, const Checkpoint& checkpoint, const RunSpec& spec,
                       std::vector<TraceToken> tokens, bool losses);

// Tokens of the run, cut to the model's context; empty for trajectories. Truncation is
// reported in `notes`.
std::vector<TraceToken> tokens_to_read(const ModelConfig& config, const Checkpoint& checkpoint,
                                       const RunSpec& spec, std::vector<std::string>& notes);

// Valid indices of interventions. tokens: number of input tokens.
ModelExtent model_extent(const Checkpoint& checkpoint, const ModelConfig& config,
                         const RunSpec& spec, Index tokens);

// True if the model reads tokens rather than a file.
bool reads_tokens(const ModelConfig& config);

// Image that a pixel model reads; null for other models.
// tokens: input of the model, with the start token first.
std::shared_ptr<const PixelGrid> pixels_of(const ModelConfig& config,
                                           const std::vector<TraceToken>& tokens);

// Target so far of an encoder-decoder: the target ids, or its start token and text (maybe empty).
std::vector<std::int32_t> target_so_far(const ModelConfig& config, const Checkpoint& checkpoint,
                                        const RunSpec& spec);
// Ids for an image model from a file: .safetensors with pixels of its size, or an image that is
// resized.
std::vector<std::int32_t> pixel_ids(const ModelConfig& config, const std::string& file);

}  // namespace attnscope
