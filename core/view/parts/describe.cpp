#include "core/view/parts/describe.h"

#include <algorithm>

#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

constexpr std::size_t kMostValue = 32;  // bytes of a parameter's value; lists can be long

std::string describe(const Info& info, const Values& values) {
  std::string text;
  for (const Parameter& parameter : info.parameters) {
    if (!values.has(parameter.key)) continue;
    const auto entry = values.all().find(parameter.key);
    std::string value = to_text(entry->second);
    if (value.size() > kMostValue) {
      value.resize(kMostValue);
      value += "…";
    }
    text += (text.empty() ? "" : ", ") + parameter.key + " = " + value;
  }
  return text.empty() ? info.label : info.label + " (" + text + ")";
}

// Different labels in order of appearance: "A", "A, B", "3 variants".
std::string joined(const std::vector<std::string>& labels, const std::string& many) {
  std::vector<std::string> different;
  for (const std::string& label : labels) {
    if (std::find(different.begin(), different.end(), label) == different.end()) {
      different.push_back(label);
    }
  }
  if (different.empty()) return "";
  if (different.size() == 1) return different[0];
  if (different.size() == 2) return different[0] + ", " + different[1];
  return std::to_string(different.size()) + " " + many;
}

// Notes are also shown after a colon, and so begin as it comes.
std::string sentence(std::string note) {
  if (note[0] >= 'a' && note[0] <= 'z') note[0] = static_cast<char>(note[0] - 'a' + 'A');
  return note;
}

}  // namespace

std::string describe_variant(const AttentionTap& tap) {
  return describe(variant(tap.variant.id), tap.variant.values);
}

std::string describe_encoding(const AttentionTap& tap) {
  return describe(encoding(tap.encoding.id), tap.encoding.values);
}

std::string describe(const AttentionTap& tap) {
  return describe_variant(tap) + "; position: " + describe_encoding(tap);
}

std::string describe(const Trace& trace, const AttentionTap& tap) {
  return trace.given ? "as it stands in the file" : describe(tap);
}

bool same_tokens(const Trace& a, const Trace& b) {
  return std::equal(a.tokens.begin(), a.tokens.end(), b.tokens.begin(), b.tokens.end(),
                    [](const TraceToken& x, const TraceToken& y) { return x.label == y.label; });
}

std::string token_label(const Trace& trace, std::int32_t id) {
  if (trace.tokenizer && id >= 0 && id < trace.tokenizer->vocabulary_size()) {
    return visible(trace.tokenizer->bytes(id));
  }
  return std::string("#").append(std::to_string(id));
}

std::string layers_and_heads(const Trace& trace) {
  const Index layers = trace.layer_count();
  std::string text = std::to_string(layers) + (layers == 1 ? " layer" : " layers");
  const Index heads = layers > 0 ? trace.head_count(0) : 0;
  for (Index layer = 1; layer < layers; ++layer) {
    if (trace.head_count(layer) != heads) return text;
  }
  return text + " of " + std::to_string(heads) + (heads == 1 ? " head" : " heads");
}

std::string caption(const Trace& trace, const std::string& about) {
  const auto count = static_cast<long long>(trace.tokens.size());
  std::string text = about + " " + grouped(count) + (count == 1 ? " token." : " tokens.");
  if (!trace.backend.empty()) text += " Computed by " + trace.backend + ".";
  for (const std::string& note : trace.notes) {
    if (note.empty()) continue;
    text += " " + sentence(note);
    if (note.back() != '.') text += ".";
  }
  return text;
}

Found find_tap(const ViewInput& input) {
  return find_tap(input.trace, input.experiment.view);
}

Found find_tap(const Trace& trace, const ViewSettings& view) {
  Found found;
  if (trace.attention.empty()) {
    found.headline = "No attention to show yet";
    found.advice = trace.tokens.empty()
                       ? "Type a text, or choose one of the samples, and the model's attention "
                         "appears here."
                       : "This run kept no attention. Choose a model with attention layers.";
    return found;
  }
  found.tap = trace.find(view.layer, view.head, &found.head);
  if (found.tap != nullptr && (found.tap->queries() < 1 || found.tap->keys() < 1)) {
    found.tap = nullptr;
    found.headline = "Nothing to attend to";
    found.advice = "The text gives no tokens. Type a longer one.";
  } else if (found.tap == nullptr) {
    found.headline =
        "No layer " + std::to_string(view.layer) + " with a head " + std::to_string(view.head);
    found.advice = "The model has " + layers_and_heads(trace) +
                   ", counted from 0. Choose another layer or head.";
  }
  return found;
}

std::string head_title(const ViewInput& input) {
  const ViewSettings& view = input.experiment.view;
  return picture_title(input.trace) + " · layer " + std::to_string(view.layer) + ", head " +
         std::to_string(view.head);
}

std::string picture_title(const Trace& trace) {
  std::vector<std::string> variants, encodings;
  for (const AttentionTap& tap : trace.attention) {
    variants.push_back(variant(tap.variant.id).label);
    encodings.push_back(encoding(tap.encoding.id).label);
  }
  std::string title = trace.model;
  if (variants.empty() || trace.given) return title;
  return title + " · " + joined(variants, "variants") +
         " · position: " + joined(encodings, "encodings");
}

}  // namespace attnscope
