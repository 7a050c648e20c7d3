// Attention maps that solve a task: the keys that each query should attend to.
//
// A head matches the expected map if its queries put their weight on the expected keys. Its
// contrast is (weight - uniform) / (1 - uniform), where `uniform` is the weight of a head that
// attends equally to all visible keys: 0 for such a head, 1 for a perfect one.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/trace/head_ref.h"

namespace attnscope {

// Expected keys by query; empty: the task expects nothing of the query.
using ExpectedKeys = std::vector<std::vector<Index>>;

struct ExpectedMap {
  std::string description;  // of the keys: "the token after the previous occurrence"
  AttentionKind kind = AttentionKind::Self;
  std::function<ExpectedKeys(const Batch& sequence)> keys;  // of a batch with one sequence
};

// Match of one head, averaged over the queries with expected keys.
struct ExpectedMatch {
  double weight = std::numeric_limits<double>::quiet_NaN();   // on the expected keys
  double uniform = std::numeric_limits<double>::quiet_NaN();  // weight of uniform attention
  Index layer = 0, head = 0;
  Index step = 0;  // of a recurrence over depth, from 1; 0: none
  double contrast() const { return (weight - uniform) / (1 - uniform); }
};

// Contrast from which on a head counts as having found the map.
inline constexpr double kFoundContrast = 0.5;

// The head with the largest contrast among those whose queries see expected keys. Each batch has
// one sequence. NaN if there is no such head.
ExpectedMatch best_match(const Model& model, const ExpectedMap& map,
                         const std::vector<Batch>& sequences);

// "layer 1, head 0"
std::string head_text(const ExpectedMatch& match);

// Tokens after earlier occurrences of the query's token, as far as they equal its target
// (Olsson et al., 2022, arXiv:2209.11895).
ExpectedMap induction_map();

}  // namespace attnscope
