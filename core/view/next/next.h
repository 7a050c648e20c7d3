// Sampling settings of the Next view, for text generation (core/experiment/next_token.h).
#pragma once

#include "core/experiment/next_token.h"
#include "core/view/view.h"

namespace attnscope {

SeededSampling next_settings(const ViewSettings& view);

}  // namespace attnscope
