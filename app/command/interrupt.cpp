#include "app/command/interrupt.h"

#include <csignal>

namespace attnscope::command {
namespace {

const Stop& interrupted() {
  static const Stop stop;
  return stop;
}

extern "C" void request_stop(int signal) {
  interrupted().request();  // async-signal-safe, since the Stop already exists
  std::signal(signal, SIG_DFL);
}

}  // namespace

Stop stop_on_interrupt() {
  const Stop& stop = interrupted();
  std::signal(SIGINT, request_stop);
  std::signal(SIGTERM, request_stop);
  std::signal(SIGHUP, request_stop);
  return stop;
}

}  // namespace attnscope::command
