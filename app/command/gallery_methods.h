// Pictures of the mechanism of every method.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/session.h"

namespace attnscope::command {

struct MethodPicture {
  std::string id;       // "variant-lsh", the file name
  std::string label;    // "LSH"
  std::string group;    // "Learned sparsity"
  std::string summary;  // one sentence
  std::string source;
  RunView viewed;
  std::string refusal;  // reason why this model cannot show it; empty if it can
};

// One picture per variant (view Mechanism, with compatible settings) and per encoding (view
// Position). Replaces the default model by a bundled one trained with the method, if there is one.
// Throws InputError if the session's model cannot be read.
std::vector<MethodPicture> method_pictures(const RunView& now);

}  // namespace attnscope::command
