// Every architecture with every residual connection, variant and encoding, as models small enough
// to run thousands of them. New registry entries are included automatically.
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

// A compatible architecture and residual connection: the parameter of a test.
struct SweptPair {
  std::string architecture, residual_connection;
  std::string name() const { return architecture + "_" + residual_connection; }
};
void PrintTo(const SweptPair& pair, std::ostream* out);
std::vector<SweptPair> swept_pairs();

// Calls `check` for each compatible variant and encoding, in each supported direction; returns the
// number of calls.
int sweep_models(const SweptPair& pair, const std::function<void(const SweptModel&)>& check);

}  // namespace attnscope::testing
