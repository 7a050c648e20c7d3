// What a model writes to while it runs. Without a trace nothing is kept.
#pragma once

#include "core/autodiff/var.h"
#include "core/trace/trace.h"

namespace attnscope {

// Names are written once; std::logic_error otherwise. Rows of later segments go on below those of
// the earlier ones with finish(), when all are there.
class Recorder {
 public:
  explicit Recorder(Trace* trace) : trace_(trace) {}

  bool on() const { return trace_ != nullptr; }
  void set_parts(AddressParts parts);
  void attention(AttentionTap tap);
  // "embed", "layers.0.residual": [rows, d], of segment `segment`.
  void rows(const std::string& name, const Tensor& values, Index segment);
  void values(const std::string& name, const Tensor& values);
  void counts(const std::string& name, const IntTensor& values);
  // The same with an address: "gate.attention" [rows, d] of a layer.
  void located_rows(const std::string& name, const Address& address, const Tensor& values);
  // Of the heads of a group, of several segments the last one's: "state" [h, ..].
  void located_heads(const std::string& name, const Address& address, const Tensor& values);
  void logits(const Tensor& values, Index segment);  // undefined: there are none
  void finish();

 private:
  Trace* trace_;
  // Of later segments, in order; joined once, since a long text has many.
  std::map<std::string, std::vector<Tensor>> rows_;
  std::map<std::size_t, std::vector<Tensor>> located_;  // by index in the trace
  std::vector<Tensor> logits_;
};

}  // namespace attnscope
