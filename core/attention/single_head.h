// One head of a part by itself, for whoever looks at one.
#pragma once

#include "core/part/part.h"

namespace attnscope {

// The same with this head alone. The part has batch 1 and needs no gradients.
Part single_head(const Part& part, Index head);

}  // namespace attnscope
