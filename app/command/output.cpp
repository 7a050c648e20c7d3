#include "app/command/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

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

}  // namespace attnscope::command
