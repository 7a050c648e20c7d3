// What views show that need a model of their own kind.
#pragma once

#include <string>

#include "core/experiment/experiment.h"

namespace attnscope {

// The experiment with the bundled model of this name, as it was trained, and nothing to read yet;
// what is looked at, and how, stays. False, and nothing is changed, where there is no such model.
bool use_bundled(Experiment& experiment, const std::string& model);

}  // namespace attnscope
