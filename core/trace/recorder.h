// Recorder: writes a model's intermediate results into a trace. Without a trace: no effect.
#pragma once

#include "core/autodiff/var.h"
#include "core/trace/recomputed_layer.h"
#include "core/trace/trace.h"

namespace attnscope {

// Throws std::logic_error if a name is written twice. finish() appends the rows of later segments
// to those of the first.
class Recorder {
 public:
  explicit Recorder(Trace* trace) : trace_(trace) {}

  bool on() const { return trace_ != nullptr; }
  void set_parts(AddressParts parts);
  void attention(AttentionTap tap);
  // Rows [rows, d] of one segment, e.g. "embed" or "layers.0.residual".
  void rows(const std::string& name, const Tensor& values, Index segment);
  void values(const std::string& name, const Tensor& values);
  void counts(const std::string& name, const IntTensor& values);
  // Rows [rows, d] with an address, e.g. "gate.attention" of a layer.
  void located_rows(const std::string& name, const Address& address, const Tensor& values);
  // Tensor [h, ..] of a head group, e.g. "state". Values of a later segment replace earlier ones.
  void located_heads(const std::string& name, const Address& address, const Tensor& values);
  void logits(const LazyTensor& values, Index segment);  // `values` may be undefined
  // Taps recorded between these calls are not kept. compute: computes them again, see
  // RecomputedLayer. Keeps attention maps and tensors with an address. Texts of one segment only.
  void begin_recomputed_layer();
  void end_recomputed_layer(std::function<Trace()> compute);
  void finish();

 private:
  Trace* trace_;
  // Rows of later segments, in order. finish() concatenates them once: texts have many segments.
  std::map<std::string, std::vector<Tensor>> rows_;
  std::map<std::size_t, std::vector<Tensor>> located_;  // by index in Trace::located
  std::vector<Tensor> logits_;
  std::size_t first_attention_ = 0;      // first attention tap of the recomputed layer
  std::vector<std::string> layer_rows_;  // names of rows() in the recomputed layer
  std::shared_ptr<RecentLayers> recent_layers_ = std::make_shared<RecentLayers>();
};

}  // namespace attnscope
