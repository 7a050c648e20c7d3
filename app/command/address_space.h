// Limits loop threads, malloc arenas and threads of the graphics driver so that the program fits
// into a limited address space (ulimit -v). Beyond that limit, libraries abort without a message.
#pragma once

namespace attnscope::command {

// Call before starting threads. Has no effect without a limit. Throws WorkError if the limit is
// below 1024 MB, which is too little even for --help.
void fit_into_address_space();

}  // namespace attnscope::command
