// Where the commands get their backends from.
#pragma once

#include "core/experiment/runner.h"

namespace attnscope::command {

BackendProvider backends();

// The backend for --backend, or InputError with the reason why there is none.
Backend& chosen_backend(const BackendProvider& provider, BackendChoice choice);

}  // namespace attnscope::command
