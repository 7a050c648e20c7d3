#include "core/attention/cpu/passes.h"
#include "core/base/parallel.h"

namespace attnscope {

namespace {

class CpuBackend : public Backend {
 public:
  std::string name() const override {
    const int threads = thread_count();
    return "CPU (" + std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") +
           cpu::row_kernels().name + ")";
  }

  std::string refusal(const Part&, const Wanted&) const override { return {}; }

  PartResult run(const Part& part, const Wanted& wanted, const Stop& stop) override {
    check(part);
    return cpu::forward(cpu::Prepared(part, false), wanted, stop);
  }
};

}  // namespace

Backend& cpu_backend() {
  static CpuBackend backend;
  return backend;
}

}  // namespace attnscope
