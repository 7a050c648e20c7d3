// Beam search (Sutskever et al., 2014, arXiv:1409.3215).
//
// Keeps the `width` most likely continuations at each step. Width 1 is greedy decoding; the search
// is exhaustive if no step has more than `width` continuations.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/model/model.h"

namespace attnscope {

struct BeamOptions {
  Index width = 1;                      // number of continuations kept at each step
  Index max_tokens = 1;                 // maximum number of generated ids
  std::vector<std::int32_t> end_ids{};  // the first of these ids ends a continuation
  std::vector<std::int32_t> source{};   // source of an encoder-decoder
  std::optional<double> exit{};         // early-exit confidence threshold (exits.h)
  Backend* backend = nullptr;           // null: the CPU
};

struct Beam {
  std::vector<std::int32_t> ids{};  // generated ids, including the end id
  double log_probability = 0;       // natural logarithm, summed over all ids
  bool ended = false;               // true if the last id is an end id
};

struct BeamSearch {
  // Continuations after each step, at most `width`, most likely first; ended continuations stay
  // unchanged. Ties: better prefix first, then lower id.
  std::vector<std::vector<Beam>> steps;
  const Beam& best() const { return steps.back().front(); }
  // Rank, from 0, that the prefix of the best continuation has after step n (from 0).
  Index rank_of_best_prefix(std::size_t n) const;
};

// prompt: at least one id. Stops when the most likely continuation has `max_tokens` ids or has
// ended, because longer continuations cannot be more likely. Each step recomputes everything; there
// is no cache. `progress` is called after each step. Throws InputError if `width` or `max_tokens`
// is below 1, and as run() does.
BeamSearch beam_search(const Model& model, const std::vector<std::int32_t>& prompt,
                       const BeamOptions& options,
                       const std::function<void(Index generated)>& progress = {});

}  // namespace attnscope
