// A single head of a part, for views.
#pragma once

#include "core/part/part.h"

namespace attnscope {

// Copy of the part with one head, without gradients. Requires batch 1.
Part single_head(const Part& part, Index head);

}  // namespace attnscope
