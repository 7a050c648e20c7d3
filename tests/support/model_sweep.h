// Every architecture with every join, variant and encoding, as models small enough to be run by the
// thousand. A new entry of a list is swept without being named here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace attnscope::testing {

struct SweptModel {
  std::string name;  // "universal, gru, local with alibi"
  Model model;
  Batch batch;  // of one item, with targets
};

// The pairs of an architecture and a join: what a test is named by.
struct SweptPair {
  std::string architecture, join;
};
std::vector<SweptPair> swept_pairs();

// Calls `check` for each variant and encoding that the pair is not ruled out with, in each
// direction that they have; returns how many those were.
int sweep_models(const SweptPair& pair, const std::function<void(const SweptModel&)>& check);

}  // namespace attnscope::testing
