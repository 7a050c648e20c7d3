// How the view of the next token is set, for whoever goes on with the text as it says
// (core/experiment/next_token.h).
#pragma once

#include "core/experiment/next_token.h"
#include "core/view/view.h"

namespace attnscope {

Drawing next_settings(const ViewSettings& view);

}  // namespace attnscope
