// Pictures of every method, each by its mechanism.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/experiment.h"

namespace attnscope::command {

struct MethodPicture {
  std::string id;       // "variant-lsh": of its file
  std::string label;    // "LSH"
  std::string group;    // "Learned sparsity"
  std::string summary;  // what it does
  std::string source;
  Experiment experiment;
  std::string refusal;  // why this model cannot show it; empty: it can
};

// Every variant with what suits it, in Mechanism, and every encoding, in Position. Instead of the
// default model the bundled one that was trained with it, where there is one. InputError where the
// experiment's model cannot be read.
std::vector<MethodPicture> method_pictures(const Experiment& now);

}  // namespace attnscope::command
