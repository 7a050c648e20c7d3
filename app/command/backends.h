// Backends of the commands: CPU and headless GPU.
#pragma once

#include "core/experiment/run.h"

namespace attnscope::command {

BackendProvider backends();

// Backend for --device, owned by `provider`. Throws InputError if the backend is unavailable.
Backend& require_backend(const BackendProvider& provider, BackendChoice choice);
Backend& require_backend(BackendProvider&& provider, BackendChoice choice) = delete;

}  // namespace attnscope::command
