// Where parts are computed: the CPU kernels here, or compute shaders that live outside of core.
#pragma once

#include <memory>
#include <string>

#include "core/attention/tiles.h"
#include "core/base/progress.h"
#include "core/base/stop.h"
#include "core/part/part.h"
#include "core/tensor/device_tensor.h"

namespace attnscope {

// What a caller wants beside the output. Probabilities and scores cost L_q x L_k memory; the
// log-sum-exp of the rows costs L_q and lets any tile be derived later.
struct Wanted {
  bool output = true;
  bool attention = false;         // on the host
  bool device_attention = false;  // kept where it was computed, if that is a GPU
  bool scores = false;
  bool log_sum_exp = false;
  bool tiles = false;            // a way to derive any of it later, in place of `attention`
  Progress* progress = nullptr;  // is told how much is done
};

struct PartResult {
  Tensor output;       // [B h, L_q, d_v]
  Tensor attention;    // [B h, L_q, L_k], exactly 0 where not allowed
  Tensor scores;       // [B h, L_q, L_k], 0 where not allowed
  Tensor log_sum_exp;  // [B h, L_q]; -infinity for empty rows
  std::shared_ptr<const DeviceTensor> device;
  std::shared_ptr<const AttentionTiles> tiles;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;  // "CPU (2 threads, AVX-512)", "llvmpipe (LLVM 15)"
  // Why it cannot run this part; empty when it can.
  virtual std::string refusal(const Part& part, const Wanted& wanted) const = 0;
  // Throws Stopped within 50 ms of a request, WorkError when the device fails.
  virtual PartResult run(const Part& part, const Wanted& wanted, const Stop& stop) = 0;
};

Backend& cpu_backend();

// What a person asked for: --backend auto|cpu|gpu.
enum class BackendChoice { Auto, Cpu, Gpu };
std::string_view to_string(BackendChoice choice);
BackendChoice backend_choice(std::string_view text);  // InputError

}  // namespace attnscope
