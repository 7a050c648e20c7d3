// Declarations of all views; view.cpp lists them in order.
#pragma once

#include "core/view/view.h"

namespace attnscope {

View map_view();
View grid_view();
View pattern_view();
View depth_view();
View next_view();
View intervene_view();
View compare_view();
View rope_view();
View lines_view();
View scores_view();
View position_view();
View vectors_view();
View span_view();
View mechanism_view();
View graph_view();
View image_view();
View memory_view();
View steps_view();
View gates_view();
View alignment_view();
View trajectory_view();
View retrieval_view();
View architecture_view();
View block_view();
View flow_view();
View train_view();

}  // namespace attnscope
