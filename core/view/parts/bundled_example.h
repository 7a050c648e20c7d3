// Bundled example models for views that need a particular kind of model.
#pragma once

#include <string>

#include "core/experiment/session.h"

namespace attnscope {

// Opens the bundled model `model` with its trained settings and its input (core/view/opening.h),
// keeping the view and its appearance. Returns false and changes nothing if the model is missing.
bool open_bundled_model(Session& session, const std::string& model);

}  // namespace attnscope
