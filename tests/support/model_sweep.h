// Every architecture with every join, variant and encoding, as models small enough to be run by the
// thousand. A new entry of a list is swept without being named here.
#pragma once

#include <functional>
#include <iosfwd>
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

// An architecture and a join that go together: what a test is named by.
struct SweptPair {
  std::string architecture, join;
  std::string name() const { return architecture + "_" + join; }
};
void PrintTo(const SweptPair& pair, std::ostream* out);
std::vector<SweptPair> swept_pairs();

// Calls `check` for each variant and encoding that the pair is not ruled out with, in each
// direction that they have; returns how many those were.
int sweep_models(const SweptPair& pair, const std::function<void(const SweptModel&)>& check);

}  // namespace attnscope::testing
