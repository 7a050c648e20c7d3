#include "core/trace/recorder.h"

#include <algorithm>
#include <stdexcept>

namespace attnscope {
namespace {

// Appends the rows (axis 0) of `more` to `first`.
template <class Rows>
void append(Rows& rows, const std::vector<Tensor>& more) {
  const Tensor first = rows;
  Shape shape = first.shape();
  for (const Tensor& part : more) shape[0] += part.dim(0);
  Tensor joined(shape);
  float* to = std::copy_n(first.data(), first.size(), joined.data());
  for (const Tensor& part : more) to = std::copy_n(part.data(), part.size(), to);
  rows = std::move(joined);
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
  if (segment == 0) {
    layer_rows_.push_back(name);
    return write_once(trace_->taps, name, values);
  }
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

void Recorder::logits(const LazyTensor& values, Index segment) {
  if (!trace_) return;
  if (segment == 0) {
    trace_->logits = values;
  } else {
    logits_.push_back(values);
  }
}

void Recorder::begin_recomputed_layer() {
  if (!trace_) return;
  first_attention_ = trace_->attention.size();
  layer_rows_.clear();
}

void Recorder::end_recomputed_layer(std::function<Trace()> compute) {
  if (!trace_) return;
  const auto layer = std::make_shared<RecomputedLayer>(std::move(compute), recent_layers_);
  for (std::size_t n = first_attention_; n < trace_->attention.size(); ++n) {
    AttentionTap& tap = trace_->attention[n];
    const std::size_t index = n - first_attention_;  // among the taps of the layer
    tap.vectors = tap.vectors.computed_by([layer, index] {
      const std::shared_ptr<const Trace> taps = layer->taps();
      return std::shared_ptr<const AttentionVectors>(taps->attention[index].vectors.get());
    });
  }
  for (const std::string& name : layer_rows_) {
    LazyTensor& rows = trace_->taps.at(name);
    rows = {rows.shape(), [layer, name](Index first, Index count) {
              return layer->taps()->taps.at(name).rows(first, count);
            }};
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
