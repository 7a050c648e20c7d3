// Window: time from start to the first picture, under Xvfb with Mesa's software rasteriser. The
// time includes the report that the benchmark waits for, with a screenshot as PNG.
// `processor_seconds` is the program's CPU time over all cores.
#include <benchmark/benchmark.h>

#include "core/base/json.h"
#include "tests/app/events/desktop.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace {

// Starts the program and waits for the first picture; returns its CPU time.
double start(const Display& display, const std::filesystem::path& folder) {
  Program program(display, folder,
                  {"--text", "the old house stood by the sea and nobody knew why it was empty",
                   "--size", "1280x800", "--scale", "1"});
  program.wait_for("a first picture", [](const Program::Report& r) {
    return r["has_trace"].get<bool>() && r["current"].get<bool>();
  });
  const double seconds = program.processor_seconds();
  program.kill_hard();
  return seconds;
}

void start_up(benchmark::State& state) {
  const Display display(1400, 900);
  const testing::TemporaryFolder folder;
  start(display, folder.path());  // warm-up: calibrates and compiles shaders
  for (auto _ : state) {
    state.counters["processor_seconds"] = start(display, folder.path());
  }
}
BENCHMARK(start_up)->Name("StartUp")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace attnscope::window

BENCHMARK_MAIN();
