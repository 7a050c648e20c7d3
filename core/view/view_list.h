// The views, one file each. view.cpp puts them in order.
#pragma once

#include "core/view/view.h"

namespace attnscope {

View map_view();
View grid_view();
View pattern_view();

}  // namespace attnscope
