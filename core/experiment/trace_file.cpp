#include "core/experiment/trace_file.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/memory_budget.h"
#include "core/trace/tap_names.h"

namespace attnscope {
namespace {

// ".0.1" for layer 0, head group 1; other address components precede these: ".encoder", ".cross",
// ".segment.2", ".step.1".
std::string name_suffix(const Address& address, const AddressParts& parts) {
  std::string suffix;
  if (parts.stack && address.stack == Stack::Encoder) suffix += ".encoder";
  if (address.kind == AttentionKind::Cross) suffix += ".cross";
  if (parts.segment) suffix += ".segment." + std::to_string(address.segment);
  if (parts.step) suffix += ".step." + std::to_string(address.step);
  return suffix + "." + std::to_string(address.layer) + "." + std::to_string(address.group);
}

// A tensor whose parts are computed while the file is written.
void add(std::string name, Shape shape, const std::vector<std::function<Tensor()>>& parts,
         SafetensorsOutput& file) {
  SafetensorsOutput::Entry entry{std::move(name), DType::F32, std::move(shape), {}};
  for (const auto& part : parts) entry.parts.emplace_back([part] { return stored(part()); });
  file.tensors.push_back(std::move(entry));
}

void add(const NamedTensor& tensor, SafetensorsOutput& file) {
  add(tensor.name, tensor.values.shape, tensor.values.parts, file);
}

void add(const std::string& name, const LazyTensor& tensor, SafetensorsOutput& file) {
  if (tensor.kept().defined()) return file.add(name, stored(tensor.kept()));
  std::vector<std::function<Tensor()>> parts;
  for (Index first = 0; first < tensor.dim(0); first += kLogitsRows) {
    const Index count = std::min(kLogitsRows, tensor.dim(0) - first);
    parts.emplace_back([&tensor, first, count] { return tensor.rows(first, count); });
  }
  add(name, tensor.shape(), parts, file);
}

// Vectors of a tap. read: returns one of them.
void add_vectors(const std::string& name, const AttentionTap& tap, const Shape& shape,
                 Tensor (*read)(const AttentionVectors&), SafetensorsOutput& file) {
  if (shape.empty()) return;
  add(name, shape, {[&tap, read] { return read(*tap.vectors.get()); }}, file);
}

void add_tap(const AttentionTap& tap, const AddressParts& parts, SafetensorsOutput& file) {
  const std::string suffix = name_suffix(tap.address, parts);
  if (tap.result.log_sum_exp.defined()) {
    file.add("log_sum_exp" + suffix, stored(tap.result.log_sum_exp));
  }
  using Vectors = AttentionVectors;
  const RecordedVectors::Shapes& shapes = tap.shapes();
  const auto add_vector = [&](const char* name, const Shape& shape, auto read) {
    add_vectors(name + suffix, tap, shape, read, file);
  };
  add_vector("q", shapes.part.q, [](const Vectors& v) { return v.part->q.value(); });
  add_vector("k", shapes.part.k, [](const Vectors& v) { return v.part->k.value(); });
  add_vector("v", shapes.part.v, [](const Vectors& v) { return v.part->v.value(); });
  add_vector("q_plain", shapes.input.q, [](const Vectors& v) { return v.input.q; });
  add_vector("k_plain", shapes.input.k, [](const Vectors& v) { return v.input.k; });
  add_vector("output", shapes.output, [](const Vectors& v) { return v.output; });
  for (const auto& [name, tensor] : tap.result.extra) {
    file.add("extra" + suffix + "." + name, stored(tensor));
  }
  for (const auto& [name, tensor] : tap.result.extra_counts) {
    file.add("extra" + suffix + "." + name, stored(tensor));
  }
}

}  // namespace

std::string omitted_attention_note(const Trace& trace) {
  // At most 4 GiB, and within the memory budget while heads are concatenated.
  const Index max_numbers =
      std::min(Index{1} << 30, static_cast<Index>(memory_budget() / (4 * sizeof(float))));
  Index numbers = 0;
  for (const AttentionTap& tap : trace.attention) {
    numbers += static_cast<Index>(tap.heads.size()) * tap.queries() * tap.keys();
  }
  if (numbers <= max_numbers) return "";
  return "attention is omitted from the file: " + std::to_string(numbers) + " weights, more than " +
         std::to_string(max_numbers) + "; log_sum_exp of the rows is included instead";
}

SafetensorsOutput trace_file(const Trace& trace) {
  SafetensorsOutput file;
  IntTensor ids({static_cast<Index>(trace.tokens.size())});
  std::ranges::transform(trace.tokens, ids.begin(), &TraceToken::id);
  file.add("ids", stored(ids));
  const std::string omission_note = omitted_attention_note(trace);
  if (omission_note.empty()) {
    for (const NamedTensor& tensor : join_attention(trace)) add(tensor, file);
  }
  for (const AttentionTap& tap : trace.attention) add_tap(tap, trace.parts, file);
  for (const NamedTensor& tensor : join_located(trace)) {
    if (!tensor.name.starts_with(kLayerLoss)) add(tensor, file);
  }
  if (trace.logits.defined()) add("logits", trace.logits, file);
  for (const auto& [name, tensor] : trace.taps) add(name, tensor, file);
  for (const auto& [name, tensor] : trace.counts) file.add(name, stored(tensor));
  Json labels = Json::array();
  for (const TraceToken& token : trace.tokens) labels.push_back(token.label);
  file.metadata["model"] = trace.model;
  file.metadata["backend"] = trace.backend;
  std::vector<std::string> notes = trace.notes;
  if (!omission_note.empty()) notes.push_back(omission_note);
  file.metadata["notes"] = Json(notes).dump();
  file.metadata["tokens"] = labels.dump();
  return file;
}

}  // namespace attnscope
