// Architectures: decoder, encoder-decoder, Universal Transformer, recurrent networks with and
// without attention, Decision Transformer (spec-models.md, section 2). Each architecture has a file
// in architectures/.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/batch.h"
#include "core/model/config.h"
#include "core/trace/address.h"

namespace attnscope {

class Pass;
class WeightList;

enum class Reads {
  Tokens,           // one sequence
  SourceAndTarget,  // a source sequence, and the target tokens generated so far
  Trajectories,     // returns, states and actions
};

// Input length of a run in tokens; `target` is 0 unless the architecture generates a target.
struct RunLength {
  Index tokens = 0, target = 0;
};

// Layers of equal cost, for memory estimates before a run.
struct LayerRuns {
  double times = 0;           // number of runs of the whole stack
  Index rows = 0, keys = 0;   // L_q, L_k
  bool is_encoder = false;    // true: head groups of the encoder; false: of the decoder
  bool has_attention = true;  // false: recurrent layers
};

struct Architecture : Info {
  Reads reads = Reads::Tokens;
  bool has_encoder = false;  // JSON has "encoder_variant", "encoder_position"
  bool has_exits = false;    // supports early exits
  bool has_segments = false;
  bool has_self_attention = true;  // the decoder has self-attention
  bool is_single_stack = false;    // a single stack of layers that runs once
  bool can_cache = false;          // keys and values can be cached if the variants allow it
  // Reason why a model cannot have this architecture ("architecture: ..."); empty if it can.
  std::function<std::string(const ModelConfig&)> refusal;
  // Adjusts other settings of a model that is switched to this architecture; empty: no changes.
  std::function<void(ModelConfig&)> adapt;
  std::function<void(WeightList&)> add_weights;
  std::function<Output(Pass&, const Batch&)> run;
  // Layers that run for an input length. Empty: all layers run once, on all tokens.
  std::function<std::vector<LayerRuns>(const ModelConfig&, RunLength)> layer_runs;
  // Components of Address in which the architecture's taps differ.
  std::function<AddressParts(const ModelConfig&)> parts;
};

const std::vector<Architecture>& architectures();       // "decoder" first
const Architecture& architecture(std::string_view id);  // InputError "architecture.type: ..."

// Parameter "start": first id of every target. start_refusal() validates it.
Parameter start_parameter();
std::string start_refusal(const ModelConfig& config);

Architecture decoder_architecture();
Architecture encoder_decoder_architecture();
Architecture universal_architecture();
Architecture universal_encoder_decoder_architecture();
Architecture rnn_attention_architecture();
Architecture recurrent_architecture();
Architecture trajectory_architecture();

}  // namespace attnscope
