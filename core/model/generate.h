// Continuing a sequence token by token.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace attnscope {

struct GeneratorOptions {
  Backend* backend = nullptr;  // null: the CPU
  // When the context is full, the older half of the tokens is forgotten and the rest taken in
  // anew, with positions from 0. The first `kept` ones (BOS) are never forgotten.
  Index kept = 0;
};

// Computes only the new tokens, with the keys and values of the earlier ones from a cache; models
// whose attention does not allow that compute the whole sequence again.
class Generator {
 public:
  explicit Generator(const Model& model, GeneratorOptions options = {});

  // Takes in tokens, at least one, and returns the logits of what may follow the last one,
  // [vocabulary]. A trace gets the rows of the new tokens over all keys so far (all rows where
  // nothing is cached); its attention taps have the number of the step in their address.
  // After Stopped or an error the generator is as before. InputError as forward().
  Tensor step(const std::vector<std::int32_t>& ids, const Stop& stop, Trace* trace = nullptr);

  // What the next token follows from: at most as many as the context holds.
  const std::vector<std::int32_t>& tokens() const { return tokens_; }
  Index forgotten() const { return forgotten_; }  // how many were dropped from the beginning
  // Why every step computes the whole sequence; empty: keys and values are cached.
  const std::string& recomputes() const { return recomputes_; }

 private:
  Tensor run(const std::vector<std::int32_t>& ids, State* cache, const Stop& stop,
             Trace* trace) const;

  const Model& model_;
  GeneratorOptions options_;
  std::string recomputes_;
  State cache_;
  std::vector<std::int32_t> tokens_;
  Index forgotten_ = 0, steps_ = 0;
};

}  // namespace attnscope
