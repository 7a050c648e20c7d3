// Reduces loop threads, malloc arenas and threads of the graphics driver under a limit of the
// address space (ulimit -v), since libraries abort without a message when they reach it.
#pragma once

namespace attnscope::command {

// Call before starting threads; no effect without a limit. Throws WorkError if the limit is below
// 1024 MB, too little even for --help.
void fit_into_address_space();

}  // namespace attnscope::command
