// Beam search: the likeliest continuation among those whose beginnings were always among the
// likeliest `width` (Sutskever et al., 2014, arXiv:1409.3215). With a width of 1 it is greedy, with
// one that no step exceeds it finds the likeliest of all.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/model/model.h"

namespace attnscope {

struct BeamOptions {
  Index width = 1;                     // continuations that are kept from step to step
  Index most = 1;                      // ids that are written, at most
  std::vector<std::int32_t> ends{};    // ids with which a continuation ends, written as its last
  std::vector<std::int32_t> source{};  // of a model that reads one and writes another sequence
  std::optional<double> exit{};        // the threshold at which tokens leave: exits.h
  Backend* backend = nullptr;          // null: the CPU
};

struct Beam {
  std::vector<std::int32_t> ids{};  // written so far, with the end where it ended
  double log_probability = 0;       // natural, the sum over all of ids
  bool ended = false;
};

struct BeamSearch {
  // After each step at most `width` continuations, the likeliest first; one that has ended stays
  // among them as it is. At equal probability the one of the better beginning, then of the lower
  // id, comes first.
  std::vector<std::vector<Beam>> steps;
  const Beam& best() const { return steps.back().front(); }
  // What of the best was there after step n (from 0), as it stood among the others then.
  Index best_at(std::size_t n) const;
};

// prompt: at least one id. Ends when the likeliest has ended (more ids make none likelier) or
// `most` ids are written. Each step computes all again, without a cache. Called after each step:
// written. InputErrors as run(), and for a width or `most` below 1.
BeamSearch beam_search(const Model& model, const std::vector<std::int32_t>& prompt,
                       const BeamOptions& options, const Stop& stop,
                       const std::function<void(Index written)>& progress = {});

}  // namespace attnscope
