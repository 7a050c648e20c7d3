#include "app/command/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "core/base/file.h"
#include "core/text/terminal_text.h"
#include "core/view/export/export_format.h"

namespace attnscope::command {
namespace {

bool has_no_reader(int descriptor) {
  pollfd pipe{descriptor, POLLOUT, 0};
  return ::poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

}  // namespace

void flush_output() {
  std::cout.flush();
  const int flush_status = std::fflush(stdout);
  const std::string reason = flush_status != 0 ? std::string(": ") + std::strerror(errno) : "";
  if (flush_status == 0 && std::ferror(stdout) == 0 && std::cout.good()) return;
  if (has_no_reader(STDOUT_FILENO)) throw OutputClosed();
  throw WorkError("standard output cannot be written" + reason);
}

void print(std::string_view text) {
  static const bool is_terminal = ::isatty(STDOUT_FILENO) != 0;
  const std::string shown = is_terminal ? terminal_text(text) : std::string();
  if (is_terminal) text = shown;
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print_note(std::string_view text) {
  std::fprintf(stderr, "note: %s\n", terminal_line(text).c_str());
}

void check_safetensors_output(const std::filesystem::path& path) {
  check_writable(path);
  const ExportFormat* format = export_format(path);
  if (format == nullptr || format->ending == ".safetensors") return;
  throw InputError("--output: expected a safetensors file, found " + path.filename().string() +
                   " (pictures, tables and arrays: attnscope render)");
}

}  // namespace attnscope::command
