#include "app/window/display_loss.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "core/base/file.h"

namespace attnscope::window {
namespace {

using ErrorHandler = int (*)(void* display);  // XIOErrorHandler

int end_program(void*) {
  remove_unfinished_files();
  std::fputs(
      "attnscope: the connection to the display broke; the next start offers unsaved changes\n",
      stderr);
  std::fflush(nullptr);
  std::_Exit(1);
}

}  // namespace

void end_on_display_loss() {
  void* library = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return;
  const auto set_handler =
      reinterpret_cast<ErrorHandler (*)(ErrorHandler)>(dlsym(library, "XSetIOErrorHandler"));
  if (set_handler != nullptr) set_handler(end_program);
}

}  // namespace attnscope::window
