// Backends that compute parts (core/part/part.h): CPU kernels, and compute shaders outside of core.
#pragma once

#include <memory>
#include <string>

#include "core/attention/tiles.h"
#include "core/base/progress.h"
#include "core/part/part.h"
#include "core/tensor/device_tensor.h"

namespace attnscope {

// Requested results. A map of probabilities or scores has L_q x L_k numbers per head. The
// log-sum-exp of the rows has only L_q numbers; AttentionTiles computes rectangles of maps from it.
struct ResultRequest {
  bool output = true;
  bool attention = false;         // probabilities in host memory
  bool device_attention = false;  // probabilities in the memory of the GPU that computes them
  bool scores = false;
  bool log_sum_exp = false;
  bool tiles = false;            // AttentionTiles
  Progress* progress = nullptr;  // may be null
};

// Attention maps of an operation. Unless requested, tensors are undefined and pointers null.
struct AttentionMaps {
  Tensor attention{};                             // [B h, L_q, L_k], exactly 0 where not allowed
  Tensor scores{};                                // [B h, L_q, L_k], 0 where not allowed
  Tensor log_sum_exp{};                           // [B h, L_q]; -infinity for empty rows
  std::shared_ptr<const DeviceTensor> device{};   // probabilities in GPU memory
  std::shared_ptr<const AttentionTiles> tiles{};  // null for operations of several parts
};

struct PartResult : AttentionMaps {
  Tensor output;  // [B h, L_q, d_v]
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;  // "CPU (2 threads, AVX-512)", "llvmpipe (LLVM 15)"
  // Reason why the backend cannot compute the part; empty if it can.
  virtual std::string refusal(const Part& part, const ResultRequest& wanted) const = 0;
  // Throws Stopped within 50 ms of a stop request, WorkError if the device fails.
  virtual PartResult run(const Part& part, const ResultRequest& wanted) = 0;
};

Backend& cpu_backend();

// Requested device: --device auto|cpu|gpu.
enum class BackendChoice { Auto, Cpu, Gpu };
std::string_view to_string(BackendChoice choice);
BackendChoice backend_choice(std::string_view text);  // throws InputError

}  // namespace attnscope
