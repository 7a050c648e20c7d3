// The end of the program if the X server closes the connection.
#pragma once

namespace attnscope::window {

// Replaces Xlib's own message, and its exit() with all threads running: incomplete files are
// removed, one line goes to stderr, and the exit status is 1. The autosave remains. Call after GLFW
// has loaded Xlib; without Xlib (Wayland) the call has no effect.
void end_on_display_loss();

}  // namespace attnscope::window
