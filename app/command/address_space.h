// Limits of a process's address space (ulimit -v), under which libraries end a program without a
// word: threads' stacks, allocators' reserves and a graphics driver's share of them are kept small.
#pragma once

namespace attnscope::command {

// Before any thread begins. WorkError where the limit is below what even --help may need. Does
// nothing without a limit.
void fit_into_address_space();

}  // namespace attnscope::command
