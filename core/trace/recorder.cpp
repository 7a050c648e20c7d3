#include "core/trace/recorder.h"

#include <algorithm>
#include <stdexcept>

namespace attnscope {
namespace {

// Appends the rows (axis 0) of `more` to `first`.
void append(Tensor& first, const std::vector<Tensor>& more) {
  Shape shape = first.shape();
  for (const Tensor& part : more) shape[0] += part.dim(0);
  Tensor joined(shape);
  float* to = std::copy_n(first.data(), first.size(), joined.data());
  for (const Tensor& part : more) to = std::copy_n(part.data(), part.size(), to);
  first = std::move(joined);
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
    throw std::logic_error("two attention taps have the same address");
  }
  trace_->attention.push_back(std::move(tap));
}

void Recorder::rows(const std::string& name, const Tensor& values, Index segment) {
  if (!trace_) return;
  if (segment == 0) return write_once(trace_->taps, name, values);
  rows_[name].push_back(values);
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
  for (std::size_t n = 0; n < trace_->located.size(); ++n) {
    const Located<Tensor>& tap = trace_->located[n];
    if (tap.name != name || tap.address != first) continue;
    if (address.segment == 0) throw std::logic_error("two taps are named " + name);
    located_[n].push_back(values);
    return;
  }
  trace_->located.push_back({name, first, values});
}

void Recorder::located_heads(const std::string& name, const Address& address,
                             const Tensor& values) {
  if (!trace_) return;
  Address first = address;
  first.segment = 0;
  for (Located<Tensor>& tap : trace_->located) {
    if (tap.name != name || tap.address != first) continue;
    if (address.segment == 0) throw std::logic_error("two taps are named " + name);
    tap.values = values;
    return;
  }
  trace_->located.push_back({name, first, values, true});
}

void Recorder::logits(const Tensor& values, Index segment) {
  if (!trace_) return;
  if (segment == 0) {
    trace_->logits = values;
  } else {
    logits_.push_back(values);
  }
}

void Recorder::finish() {
  if (!trace_) return;
  for (const auto& [name, parts] : rows_) append(trace_->taps.at(name), parts);
  for (const auto& [index, parts] : located_) append(trace_->located[index].values, parts);
  if (!logits_.empty()) append(trace_->logits, logits_);
  rows_.clear();
  located_.clear();
  logits_.clear();
}

}  // namespace attnscope
