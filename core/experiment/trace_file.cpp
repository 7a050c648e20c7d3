#include "core/experiment/trace_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace attnscope {

namespace {

// All heads of a tap.  [h, L_q, L_k]
Tensor all_heads(const AttentionTap& tap) {
  const Index heads = static_cast<Index>(tap.heads.size());
  Tensor all({heads, tap.queries(), tap.keys()});
  for (Index head = 0; head < heads; ++head) {
    const Tensor one = tap.attention(head);
    std::copy_n(one.data(), one.size(), all.data() + head * one.size());
  }
  return all;
}

bool alike(const Trace& trace) {
  const AttentionTap& first = trace.attention.front();
  return std::ranges::all_of(trace.attention, [&](const AttentionTap& tap) {
    return tap.queries() == first.queries() && tap.keys() == first.keys() &&
           trace.head_count(tap.address.layer) == trace.head_count(0);
  });
}

// [layers, h, L_q, L_k]
Tensor stacked(const Trace& trace) {
  const AttentionTap& first = trace.attention.front();
  const Index heads = trace.head_count(0), cells = first.queries() * first.keys();
  Tensor all({trace.layer_count(), heads, first.queries(), first.keys()});
  for (const AttentionTap& tap : trace.attention) {
    for (std::size_t head = 0; head < tap.heads.size(); ++head) {
      const Tensor one = tap.attention(static_cast<Index>(head));
      std::copy_n(one.data(), cells,
                  all.data() + (tap.address.layer * heads + tap.heads[head]) * cells);
    }
  }
  return all;
}

void add_tap(const AttentionTap& tap, bool attention, SafetensorsFile& file) {
  const std::string at =
      "." + std::to_string(tap.address.layer) + "." + std::to_string(tap.address.group);
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    if (tensor.defined()) file.tensors.emplace(name + at, stored(tensor));
  };
  if (attention) add("attention", all_heads(tap));
  add("log_sum_exp", tap.result.log_sum_exp);
  if (tap.result.part) {
    add("q", tap.result.part->q.value());
    add("k", tap.result.part->k.value());
    add("v", tap.result.part->v.value());
  }
  add("q_plain", tap.q_plain);
  add("k_plain", tap.k_plain);
  add("output", tap.result.output.value());
  for (const auto& [name, tensor] : tap.result.extra) {
    file.tensors.emplace("extra" + at + "." + name, stored(tensor));
  }
  for (const auto& [name, tensor] : tap.result.extra_counts) {
    file.tensors.emplace("extra" + at + "." + name, stored(tensor));
  }
}

}  // namespace

std::string attention_left_out(const Trace& trace) {
  constexpr Index kMostNumbers = Index{1} << 30;  // 4 GiB
  Index numbers = 0;
  for (const AttentionTap& tap : trace.attention) {
    numbers += static_cast<Index>(tap.heads.size()) * tap.queries() * tap.keys();
  }
  if (numbers <= kMostNumbers) return "";
  return "attention is left out of the file: " + std::to_string(numbers) + " weights, more than " +
         std::to_string(kMostNumbers) + "; the rows' log_sum_exp is there instead";
}

SafetensorsFile trace_file(const Trace& trace) {
  SafetensorsFile file;
  IntTensor ids({static_cast<Index>(trace.tokens.size())});
  std::ranges::transform(trace.tokens, ids.begin(), &TraceToken::id);
  file.tensors.emplace("ids", stored(ids));
  const std::string left_out = attention_left_out(trace);
  const bool one_tensor = left_out.empty() && !trace.attention.empty() && alike(trace);
  if (one_tensor) file.tensors.emplace("attention", stored(stacked(trace)));
  for (const AttentionTap& tap : trace.attention) {
    add_tap(tap, left_out.empty() && !one_tensor, file);
  }
  if (trace.logits.defined()) file.tensors.emplace("logits", stored(trace.logits));
  for (const auto& [name, tensor] : trace.taps) file.tensors.emplace(name, stored(tensor));
  nlohmann::json labels = nlohmann::json::array();
  for (const TraceToken& token : trace.tokens) labels.push_back(token.label);
  file.metadata["model"] = trace.model;
  file.metadata["backend"] = trace.backend;
  std::vector<std::string> notes = trace.notes;
  if (!left_out.empty()) notes.push_back(left_out);
  file.metadata["notes"] = nlohmann::json(notes).dump();
  file.metadata["tokens"] = labels.dump();
  return file;
}

}  // namespace attnscope
