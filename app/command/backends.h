// Where the commands get their backends from.
#pragma once

#include "core/experiment/runner.h"

namespace attnscope::command {

BackendProvider backends();

// The backend for --backend, which lives as long as its provider, or InputError with the reason why
// there is none.
Backend& chosen_backend(const BackendProvider& provider, BackendChoice choice);
Backend& chosen_backend(BackendProvider&& provider, BackendChoice choice) = delete;

}  // namespace attnscope::command
