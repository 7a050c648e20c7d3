// Ctrl-C and termination as a request to stop.
#pragma once

#include "core/base/stop.h"

namespace attnscope::command {

// A Stop that SIGINT, SIGTERM and SIGHUP request from now on. A second signal ends the program at once.
Stop stop_on_interrupt();

}  // namespace attnscope::command
