// Architectures: how layers make a model (SPEC-MODELS section 2). One file each in architectures/;
// architectures() is their ordered list.
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
  SourceAndTarget,  // a source and what was made of it so far
  Trajectories,     // returns, states and actions
};

// How long what a run reads is, in tokens; a target of architectures that write one, else 0.
struct RunLength {
  Index tokens = 0, target = 0;
};

// Layers that are run and recorded alike: what they take is counted before a run begins.
struct LayerRuns {
  double times = 0;           // how often all layers of the stack are run
  Index rows = 0, keys = 0;   // L_q, L_k
  bool of_encoder = false;    // else of the decoder's head groups
  bool has_attention = true;  // else of something recurrent
};

struct Architecture : Info {
  Reads reads = Reads::Tokens;
  bool has_encoder = false;  // of layers: "encoder_variant", "encoder_position" in its JSON
  bool has_exits = false;    // can have exits
  bool has_segments = false;
  bool has_self_attention = true;  // in its decoder
  bool one_stack = false;  // all its layers are one stack that runs once: Join::run_layers may
  bool caches = false;     // keys and values of earlier tokens can be kept, attention allowing
  // Why a model cannot be so: "architecture: ..."; empty: it can.
  std::function<std::string(const ModelConfig&)> refusal;
  // What else a model of another architecture must be to be run as this one; empty: nothing.
  std::function<void(ModelConfig&)> adapt;
  std::function<void(WeightList&)> add_weights;
  std::function<Output(Pass&, const Batch&)> run;
  // What is run for so many tokens. Empty: all layers, once, on all tokens.
  std::function<std::vector<LayerRuns>(const ModelConfig&, RunLength)> layer_runs;
  // Which parts of addresses tell its taps apart.
  std::function<AddressParts(const ModelConfig&)> parts;
};

const std::vector<Architecture>& architectures();       // "decoder" first
const Architecture& architecture(std::string_view id);  // InputError "architecture.type: ..."

// The id that a target begins with, of architectures that write one: parameter and check.
Parameter start_parameter();
std::string start_refusal(const ModelConfig& config);

Architecture decoder_architecture();
Architecture encoder_decoder_architecture();
Architecture universal_architecture();
Architecture rnn_attention_architecture();
Architecture trajectory_architecture();

}  // namespace attnscope
