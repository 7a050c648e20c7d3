// A single head of a part, for views.
#pragma once

#include "core/part/part.h"

namespace attnscope {

// Copy of the part with this head alone. Requires batch 1; drops gradients.
Part single_head(const Part& part, Index head);

}  // namespace attnscope
