// Tiles of attention maps too large to store, computed by a shader: queries, keys and row sums stay
// on the GPU; only the requested cells are downloaded.
#pragma once

#include "app/gpu/compute_device.h"
#include "core/attention/tiles.h"

namespace attnscope {

// Requires a part that upload_refusal() accepts. If the device fails, the CPU computes the tiles,
// and note() of the result returns the reason.
std::shared_ptr<const AttentionTiles> gl_tiles(std::shared_ptr<GlThread> thread,
                                               std::shared_ptr<ComputeDevice> device, Part part,
                                               Tensor log_sum_exp);

}  // namespace attnscope
