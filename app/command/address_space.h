// Adapts the program to a limit of its address space (ulimit -v), under which libraries would abort
// without a message: limits thread stacks, allocator reserves and the share of a graphics driver.
#pragma once

namespace attnscope::command {

// Call before starting threads; no effect without a limit. Throws WorkError if the limit is below
// the minimum for --help.
void fit_into_address_space();

}  // namespace attnscope::command
