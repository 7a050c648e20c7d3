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

void add_tap(const AttentionTap& tap, const AddressParts& parts, SafetensorsFile& file) {
  const std::string suffix = name_suffix(tap.address, parts);
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    if (tensor.defined()) file.tensors.emplace(name + suffix, stored(tensor));
  };
  add("log_sum_exp", tap.result.log_sum_exp);
  if (tap.result.part) {
    add("q", tap.result.part->q.value());
    add("k", tap.result.part->k.value());
    add("v", tap.result.part->v.value());
  }
  add("q_plain", tap.input.q);
  add("k_plain", tap.input.k);
  add("output", tap.result.output.value());
  for (const auto& [name, tensor] : tap.result.extra) {
    file.tensors.emplace("extra" + suffix + "." + name, stored(tensor));
  }
  for (const auto& [name, tensor] : tap.result.extra_counts) {
    file.tensors.emplace("extra" + suffix + "." + name, stored(tensor));
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

SafetensorsFile trace_file(const Trace& trace) {
  SafetensorsFile file;
  IntTensor ids({static_cast<Index>(trace.tokens.size())});
  std::ranges::transform(trace.tokens, ids.begin(), &TraceToken::id);
  file.tensors.emplace("ids", stored(ids));
  const std::string omission_note = omitted_attention_note(trace);
  if (omission_note.empty()) {
    for (const NamedTensor& tensor : join_attention(trace)) {
      file.tensors.emplace(tensor.name, stored(tensor.values));
    }
  }
  for (const AttentionTap& tap : trace.attention) add_tap(tap, trace.parts, file);
  for (const NamedTensor& tensor : join_located(trace)) {
    file.tensors.emplace(tensor.name, stored(tensor.values));
  }
  if (trace.logits.defined()) file.tensors.emplace("logits", stored(trace.logits));
  for (const auto& [name, tensor] : trace.taps) file.tensors.emplace(name, stored(tensor));
  for (const auto& [name, tensor] : trace.counts) file.tensors.emplace(name, stored(tensor));
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
