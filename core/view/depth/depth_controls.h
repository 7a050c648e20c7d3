// Settings of the Depth view and their controls.
#pragma once

#include "core/view/view.h"

namespace attnscope {

// Parameters of both pictures; each picture removes the controls that it does not use.
ViewOptions depth_options();

}  // namespace attnscope
