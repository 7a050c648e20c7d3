// What views show that need a model of their own kind.
#pragma once

#include <string>

#include "core/experiment/experiment.h"

namespace attnscope {

// The experiment with the bundled model of this name, as it was trained, and what it opens on to
// read (core/view/opening.h); the view, and how it looks, stays. False, and nothing is changed,
// where there is no such model.
bool use_bundled(Experiment& experiment, const std::string& model);

}  // namespace attnscope
