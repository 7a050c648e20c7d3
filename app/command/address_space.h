// Adapts the program to a limit of its address space (ulimit -v). Libraries abort without a message
// at the limit, so loop threads, malloc arenas and threads of the graphics driver are reduced.
#pragma once

namespace attnscope::command {

// Call before starting threads; no effect without a limit. Throws WorkError if the limit is below
// 1024 MB, too little even for --help.
void fit_into_address_space();

}  // namespace attnscope::command
