// Execution of one part on the GPU. For the GL thread only.
#pragma once

#include <memory>

#include "app/gpu/compute_device.h"
#include "core/attention/backend.h"

namespace attnscope {

// Computes in chunks, each a few milliseconds long; after each, serves the thread's urgent work and
// throws Stopped on request. Textures in the result keep `thread` alive. Throws WorkError if the
// device fails.
PartResult run_part(ComputeDevice& device, const std::shared_ptr<GlThread>& thread,
                    const Part& part, const ResultRequest& wanted);

}  // namespace attnscope
