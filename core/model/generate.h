// Autoregressive generation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace attnscope {

struct GeneratorOptions {
  Backend* backend = nullptr;  // null: the CPU
  // When the context is full, the generator retains half a context of tokens: the first `kept`
  // tokens (BOS) and the latest tokens. It processes these tokens again, with positions from 0.
  Index kept = 0;
  std::vector<std::int32_t> source{};    // source of an encoder-decoder
  std::optional<double> exit{};          // early-exit confidence threshold (exits.h)
  const Retrieval* retrieval = nullptr;  // null: no retrieval
};

// Processes only new tokens, with cached keys and values of earlier tokens. Models whose attention
// does not allow caching recompute the whole sequence; models with segments recompute the current
// segment only, however long the text is.
class Generator {
 public:
  explicit Generator(const Model& model, GeneratorOptions options = {});

  // Processes at least one token and returns the next-token logits, [vocabulary]; with retrieval,
  // log-probabilities. A trace receives the attention of the new tokens over all keys so far, or of
  // all tokens if nothing is cached. The addresses of its attention taps have the step number.
  // After Stopped or an error the generator is unchanged. Throws InputError as forward() does.
  Tensor step(const std::vector<std::int32_t>& ids, Trace* trace = nullptr);

  // Tokens on which the next prediction depends: at most the context, except with segments.
  const std::vector<std::int32_t>& tokens() const { return tokens_; }
  Index forgotten() const { return forgotten_; }  // number of tokens dropped so far
  // Reason why every step recomputes the whole sequence; empty: keys and values are cached.
  const std::string& recompute_reason() const { return recompute_reason_; }
  // Exit layer of the last token, from 1; 0 without a threshold.
  Index exit_layer() const { return exit_layer_; }

 private:
  struct Step {
    Tensor logits;  // [vocabulary]
    Index exit_layer = 0;
  };
  Step run(const std::vector<std::int32_t>& ids, State* cache, State* memory, Trace* trace) const;
  Step read_segments(const std::vector<std::int32_t>& all, State& memory, Trace* trace) const;

  const Model& model_;
  GeneratorOptions options_;
  std::string recompute_reason_;
  State cache_;
  State memory_;  // memory of the completed segments
  std::vector<std::int32_t> tokens_;
  Index forgotten_ = 0, steps_ = 0, exit_layer_ = 0;
};

}  // namespace attnscope
