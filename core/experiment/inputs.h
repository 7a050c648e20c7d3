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
  std::vector<TraceToken> tokens;             // tokens of the decoder, or of the only stack
  std::vector<Stream> streams{};              // tokens of the encoder; empty without an encoder
  std::shared_ptr<const PixelGrid> pixels{};  // image read in patches; else null
};

// config: configuration with the choices of `spec`. tokens: result of tokens_to_read().
// needs_losses: adds targets. Throws InputError if `spec` lacks the input that the model needs.
ModelInput model_input(const ModelConfig& config, const Checkpoint& checkpoint, const RunSpec& spec,
                       std::vector<TraceToken> tokens, bool needs_losses);

// Tokens of the run, cut to RunSpec::max_tokens and to the length that the model and
// RunSpec::overlong allow; empty for trajectories. Adds a note about cut tokens. Throws InputError
// if the model cannot read the input.
std::vector<TraceToken> tokens_to_read(const ModelConfig& config, const Checkpoint& checkpoint,
                                       const RunSpec& spec, std::vector<std::string>& notes);

// Sizes that limit the indices of interventions. tokens: number of input tokens.
ModelExtent model_extent(const Checkpoint& checkpoint, const ModelConfig& config,
                         const RunSpec& spec, Index tokens);

// True if the model reads tokens, false if it reads trajectories.
bool reads_tokens(const ModelConfig& config);

// Image that a pixel model reads as `tokens` (start token first); null for other models.
std::shared_ptr<const PixelGrid> pixels_of(const ModelConfig& config,
                                           const std::vector<TraceToken>& tokens);

// Target prefix of an encoder-decoder: spec.target_ids or else the start token and spec.target.
std::vector<std::int32_t> target_so_far(const ModelConfig& config, const Checkpoint& checkpoint,
                                        const RunSpec& spec);
// Pixel ids for an image model. `file` is a .safetensors file with pixels of the model's size, or
// an image, which is resized.
std::vector<std::int32_t> pixel_ids(const ModelConfig& config, const std::string& file);

}  // namespace attnscope
