// Returns freed memory to the system when the window is at rest.
//
// glibc keeps freed memory between blocks that are still in use, and does not return that of its
// further arenas at all: a window's memory would grow with each peak of the work done in it.
#pragma once

namespace attnscope::window {

// Call before the first thread starts. Restricts the allocator to one arena.
void use_one_arena();

class MemoryTrim {
 public:
  // Work has ended at `seconds`: memory is returned kDelay seconds after the last such call.
  void request(double seconds);
  // Time at which trim_if_due() trims next; negative: no work has ended.
  double due() const { return due_; }
  void trim_if_due(double seconds);

 private:
  static constexpr double kDelay = 2;  // seconds; editing and playing reuse the freed memory
  double due_ = -1;
};

}  // namespace attnscope::window
