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

  std::string refusal(const Part&, const ResultRequest&) const override { return {}; }

  PartResult run(const Part& part, const ResultRequest& wanted) override {
    check(part);
    ResultRequest forward_wanted = wanted;
    forward_wanted.log_sum_exp |= wanted.tiles;
    const bool needs_maps = wanted.attention || wanted.scores;
    const cpu::Purpose purpose = needs_maps ? cpu::Purpose::Maps : cpu::Purpose::Pass;
    PartResult result = cpu::forward(cpu::Prepared(part, purpose), forward_wanted);
    if (wanted.tiles) result.tiles = cpu_tiles(part, result.log_sum_exp);
    return result;
  }
};

}  // namespace

Backend& cpu_backend() {
  static CpuBackend backend;
  return backend;
}

}  // namespace attnscope
