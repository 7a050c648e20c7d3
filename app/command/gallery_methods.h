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
  std::string refusal;  // why the model cannot use the method; empty if it can
};

// One picture per variant (view Mechanism, with compatible settings) and per encoding (view
// Position). A bundled model that was trained with the method replaces the default model. Throws
// InputError if the model of `base` cannot be read.
std::vector<MethodPicture> method_pictures(const RunView& base);

}  // namespace attnscope::command
