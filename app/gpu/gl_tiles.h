// Tiles of maps that are not kept, by a compute shader: queries, keys and row sums lie on the GPU,
// and only cells come back.
#pragma once

#include "app/gpu/compute_device.h"
#include "core/attention/tiles.h"

namespace attnscope {

// For a part that upload_refusal() accepts. When the device fails, the CPU goes on, and note()
// says why.
std::shared_ptr<const AttentionTiles> gl_tiles(std::shared_ptr<GlThread> thread,
                                               std::shared_ptr<ComputeDevice> device, Part part,
                                               Tensor log_sum_exp);

}  // namespace attnscope
