// Stop requests by Ctrl-C and termination signals.
#pragma once

#include "core/base/stop.h"

namespace attnscope::command {

// Returns a Stop that SIGINT, SIGTERM and SIGHUP request. A second signal exits immediately.
Stop stop_on_interrupt();

}  // namespace attnscope::command
