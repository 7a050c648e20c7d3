// Continuing a sequence token by token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace attnscope {

struct GeneratorOptions {
  Backend* backend = nullptr;  // null: the CPU
  // When the context is full, the older half of the tokens is forgotten and the rest taken in
  // anew, with positions from 0. The first `kept` ones (BOS) are never forgotten.
  Index kept = 0;
  std::vector<std::int32_t> source{};    // of a model that reads one and writes another sequence
  std::optional<double> exit{};          // the threshold at which tokens leave: exits.h
  const Retrieval* retrieval = nullptr;  // what helps to predict
};

// Computes only the new tokens, with the keys and values of the earlier ones from a cache; models
// whose attention does not allow that compute the whole sequence again. Of models that read in
// segments only the present one is read again, however long the text is.
class Generator {
 public:
  explicit Generator(const Model& model, GeneratorOptions options = {});

  // Takes in tokens, at least one, and returns the logits of what may follow the last one,
  // [vocabulary]; with retrieval the logarithms of their probabilities. A trace gets the rows of
  // the new tokens over all keys so far (all rows where nothing is cached); its attention taps have
  // the number of the step in their address. After Stopped or an error the generator is as before.
  // InputError as forward().
  Tensor step(const std::vector<std::int32_t>& ids, const Stop& stop, Trace* trace = nullptr);

  // What the next token follows from: at most as many as the context holds, but for segments.
  const std::vector<std::int32_t>& tokens() const { return tokens_; }
  Index forgotten() const { return forgotten_; }  // how many were dropped from the beginning
  // Why every step computes the whole sequence; empty: keys and values are cached.
  const std::string& recomputes() const { return recomputes_; }
  // The layer at which the last token left, from 1; 0 without a threshold.
  Index exit_layer() const { return exit_layer_; }

 private:
  struct Step {
    Tensor logits;  // [vocabulary]
    Index exit_layer = 0;
  };
  Step run(const std::vector<std::int32_t>& ids, State* cache, State* memory, const Stop& stop,
           Trace* trace) const;
  Step read_segments(const std::vector<std::int32_t>& all, State& memory, const Stop& stop,
                     Trace* trace) const;

  const Model& model_;
  GeneratorOptions options_;
  std::string recomputes_;
  State cache_;
  State memory_;  // of the whole segments so far
  std::vector<std::int32_t> tokens_;
  Index forgotten_ = 0, steps_ = 0, exit_layer_ = 0;
};

}  // namespace attnscope
