// Models of every architecture with every residual connection, variant and encoding, and with every
// choice of its own, small enough to run thousands of them. New registry entries are included
// automatically.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"

namespace attnscope::testing {

struct SweepModel {
  std::string name;  // "universal, gru, local with alibi"
  Model model;
  Batch batch;  // one sequence with targets
  // Whether to include the model in checks that are too slow for all: about one in kSweepShare, and
  // all decoders with plain residuals. The residual connections of an architecture take turns, so
  // that each of its combinations of variant and encoding is selected with some of them.
  bool is_selected = true;
};
inline constexpr int kSweepShare = 5;

// A compatible architecture and residual connection: the parameter of a test.
struct SweepPair {
  std::string architecture, residual_connection;
  // A parameter of the architecture with another value than its default; empty: none.
  std::string key{}, value{};
  std::string name() const {
    return architecture + "_" + residual_connection + (key.empty() ? "" : "_" + key + "_" + value);
  }
};
void PrintTo(const SweepPair& pair, std::ostream* out);
std::vector<SweepPair> sweep_pairs();

// Calls `check` for each compatible variant and encoding, in each supported direction, and in
// segments for variants with a memory; with a SweepPair::key, only for the default variant. Returns
// the number of calls.
int sweep_models(const SweepPair& pair, const std::function<void(const SweepModel&)>& check);

}  // namespace attnscope::testing
