// Execution of one part on the GPU. For the GL thread only.
#pragma once

#include <memory>

#include "app/gpu/compute_device.h"
#include "core/attention/backend.h"

namespace attnscope {

// Computes the part in chunks of a few milliseconds. After each chunk, serves the thread's urgent
// work, and throws Stopped if a stop was requested. Textures in the result keep `thread` alive.
// Throws WorkError if the device fails.
PartResult run_part(ComputeDevice& device, const std::shared_ptr<GlThread>& thread,
                    const Part& part, const ResultRequest& wanted);

}  // namespace attnscope
