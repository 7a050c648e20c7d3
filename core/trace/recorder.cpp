#include "core/trace/recorder.h"

#include <algorithm>
#include <stdexcept>

namespace attnscope {

namespace {

// b below a.  [rows of both, ...]
Tensor below(const Tensor& a, const Tensor& b) {
  Shape shape = a.shape();
  shape[0] += b.dim(0);
  Tensor joined(shape);
  std::copy_n(a.data(), a.size(), joined.data());
  std::copy_n(b.data(), b.size(), joined.data() + a.size());
  return joined;
}

template <class Map, class Values>
void write_once(Map& map, const std::string& name, const Values& values) {
  if (!map.emplace(name, values).second) throw std::logic_error("two taps are named " + name);
}

}  // namespace

void Recorder::set_parts(AddressParts parts) {
  if (trace_) trace_->parts = parts;
}

void Recorder::attention(AttentionTap tap) {
  if (!trace_) return;
  if (std::ranges::find(trace_->attention, tap.address, &AttentionTap::address) !=
      trace_->attention.end()) {
    throw std::logic_error("two taps of attention have one address");
  }
  trace_->attention.push_back(std::move(tap));
}

void Recorder::rows(const std::string& name, const Tensor& values, Index segment) {
  if (!trace_) return;
  if (segment == 0) return write_once(trace_->taps, name, values);
  Tensor& all = trace_->taps.at(name);
  all = below(all, values);
}

void Recorder::values(const std::string& name, const Tensor& values) {
  if (trace_) write_once(trace_->taps, name, values);
}

void Recorder::counts(const std::string& name, const IntTensor& values) {
  if (trace_) write_once(trace_->counts, name, values);
}

void Recorder::located_rows(const std::string& name, const Address& address, const Tensor& values) {
  if (!trace_) return;
  Address first = address;
  first.segment = 0;
  for (Located<Tensor>& known : trace_->located) {
    if (known.name != name || known.address != first) continue;
    if (address.segment == 0) throw std::logic_error("two taps are named " + name);
    known.values = below(known.values, values);
    return;
  }
  trace_->located.push_back({name, first, values});
}

void Recorder::located_heads(const std::string& name, const Address& address,
                             const Tensor& values) {
  if (!trace_) return;
  Address first = address;
  first.segment = 0;
  for (Located<Tensor>& known : trace_->located) {
    if (known.name != name || known.address != first) continue;
    if (address.segment == 0) throw std::logic_error("two taps are named " + name);
    known.values = values;
    return;
  }
  trace_->located.push_back({name, first, values, true});
}

void Recorder::logits(const Tensor& values, Index segment) {
  if (!trace_) return;
  if (segment == 0) {
    trace_->logits = values;
  } else {
    trace_->logits = below(trace_->logits, values);
  }
}

}  // namespace attnscope
