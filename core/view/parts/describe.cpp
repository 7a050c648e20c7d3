#include "core/view/parts/describe.h"

#include <algorithm>

#include "core/analysis/encoded.h"
#include "core/analysis/words.h"
#include "core/attention/variants/shared/implied_rows.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/model/capability.h"
#include "core/model/config.h"
#include "core/model/id_label.h"
#include "core/view/parts/focus.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxValueSize = 32;  // bytes; longer values are shortened

// True if the value means "not used" and is the default: "in every layer: no".
bool is_off(const Parameter& parameter, const Value& value) {
  return value == parameter.initial && (value == Value{false} || value == Value{Index{0}});
}

std::string describe(const Info& info, const Values& values) {
  std::string text;
  for (const Parameter& parameter : info.parameters) {
    if (!values.has(parameter.key)) continue;
    const auto entry = values.all().find(parameter.key);
    if (is_off(parameter, entry->second)) continue;
    std::string value = to_text(entry->second);
    if (value.size() > kMaxValueSize && parameter.kind == Parameter::Kind::IntegerLists) {
      value = std::to_string(std::get<std::vector<std::vector<Index>>>(entry->second).size()) +
              " lists";
    } else if (value.size() > kMaxValueSize) {
      value.resize(kMaxValueSize);
      value += "…";
    }
    text += (text.empty() ? "" : ", ") + parameter.key + " = " + value;
  }
  return text.empty() ? info.label : info.label + " (" + text + ")";
}

// Different labels in order of appearance: "A", "A, B", "3 variants".
std::string join_distinct(const std::vector<std::string>& labels, const std::string& plural) {
  std::vector<std::string> distinct;
  for (const std::string& label : labels) {
    if (std::find(distinct.begin(), distinct.end(), label) == distinct.end()) {
      distinct.push_back(label);
    }
  }
  if (distinct.empty()) return "";
  if (distinct.size() == 1) return distinct[0];
  if (distinct.size() == 2) return distinct[0] + ", " + distinct[1];
  return std::to_string(distinct.size()) + " " + plural;
}

// "self or cross" for names; "1 to 4" for consecutive numbers.
std::string list_alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " or ") + name;
  return text;
}
template <class Value>
std::string list_alternatives(const std::vector<Value>& values) {
  std::vector<std::string> names;
  for (const Value& value : values) names.push_back(name_of(value));
  return list_alternatives(names);
}
std::string list_alternatives(const std::vector<Index>& numbers) {
  if (numbers.size() == 1) return std::to_string(numbers.front());
  return std::to_string(numbers.front()) + " to " + std::to_string(numbers.back());
}

}  // namespace

std::string as_sentence(std::string headline) {
  return headline.empty() ? headline : std::move(headline) + ".";
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

std::string describe_head(const Trace& trace, const ViewSettings& view) {
  return describe_head(trace.parts, head_ref(trace, view));
}

std::string describe_part(const Trace& trace, const ViewSettings& view) {
  const std::string part_name = describe_part(trace.parts, trace.part(view.part));
  return part_name.empty() ? part_name : part_name + ", ";
}

std::string describe_variant(const AttentionTap& tap) {
  return describe(variant(tap.variant.id), tap.variant.values);
}

std::string describe_encoding(const AttentionTap& tap) {
  return describe(encoding(tap.encoding.id), encoding_of(tap).values);
}

std::string describe(const AttentionTap& tap) {
  std::string text = describe_variant(tap) + "; position: " + describe_encoding(tap);
  if (averaged_channels(tap.result) > 0) {
    text += "; implied weights: the mean over the head's channels";
  }
  const PartSettings* part = tap.settings();
  if (part == nullptr) return text;
  if (part->score_cap > 0) {
    text += "; scores capped at ±" + brief(static_cast<double>(part->score_cap), 2);
  }
  if (part->sinks.defined()) text += "; each head with a sink that absorbs a share of each row";
  return text;
}

std::string describe(const Trace& trace, const AttentionTap& tap) {
  return trace.is_imported ? "as stored in the file" : describe(tap);
}

bool have_same_labels(const Trace& a, const Trace& b) {
  return std::equal(a.tokens.begin(), a.tokens.end(), b.tokens.begin(), b.tokens.end(),
                    [](const TraceToken& x, const TraceToken& y) { return x.label == y.label; });
}

bool predicts_next_tokens(const Trace& trace) {
  if (trace.config && has_continuous_actions(*trace.config)) return false;
  return !trace.logits.defined() || trace.logits.dim(0) == static_cast<Index>(trace.tokens.size());
}

bool predicts_masked_tokens(const Trace& trace) {
  return trace.config && is_masked_model(*trace.config);
}

std::string token_label(const Trace& trace, std::int32_t id) {
  if (trace.tokenizer && id >= 0 && id < trace.tokenizer->vocabulary_size()) {
    return trace.tokenizer->label(id);
  }
  return id_label(trace.config.get(), id);
}

std::string describe_layers_and_heads(const Trace& trace, const TracePart& part) {
  const Index layers = trace.layer_count(part);
  const std::string text = count_text(layers, "layer");
  const Index heads = layers > 0 ? trace.head_count(part, 0) : 0;
  for (Index layer = 1; layer < layers; ++layer) {
    if (trace.head_count(part, layer) != heads) return text;
  }
  return text + " of " + count_text(heads, "head");
}

std::string describe_token_count(const Trace& trace) {
  const auto count = static_cast<long long>(trace.tokens.size());
  const bool has_words = has_merged_words(trace);
  const std::string unit = has_words ? " word" : " token";
  std::string tokens = count == 1 ? unit : unit + "s";
  if (has_words) {
    const IntTensor& starts = trace.counts.at(kWordStarts);
    tokens += " of " + grouped(starts[starts.size() - 1]) + " tokens";
  }
  if (!trace.parts.kind || trace.streams.empty()) return grouped(count) + tokens;
  const Stream& source = trace.streams.front();
  return grouped(static_cast<long long>(source.tokens.size())) + " " + source.id + " and " +
         grouped(count) + " target" + tokens;
}

std::string caption(const Trace& trace, const std::string& subject) {
  std::string text = subject + " " + describe_token_count(trace) + ".";
  if (has_merged_words(trace)) {
    text +=
        " Word pieces are merged: weights summed over the keys of a word, mean over its queries.";
  }
  if (const auto removed = trace.counts.find(kRemovedTokens); removed != trace.counts.end()) {
    const std::int32_t count = removed->second[0];
    text += " " + std::to_string(count) + " special token" + (count == 1 ? "" : "s") +
            " added by the tokenizer " + (count == 1 ? "is" : "are") +
            " hidden, with the weights from and to " + (count == 1 ? "it." : "them.");
  }
  for (const std::string& note : trace.notes) {
    if (note.empty()) continue;
    text += " " + capitalised(note);
    if (note.back() != '.') text += ".";
  }
  return text;
}

std::optional<MissingPart> find_missing_part(const Trace& trace, const PartChoice& choice) {
  if (trace.attention.empty()) return std::nullopt;
  const auto is_in = [](const auto& list, const auto& value) {
    return std::ranges::find(list, value) != list.end();
  };
  // Each choice restricts the alternatives of the next.
  PartChoice requested;
  PartAlternatives available = trace.alternatives(trace.part(requested));
  if (choice.stack && !is_in(available.stacks, *choice.stack)) {
    return MissingPart{"no " + name_of(*choice.stack), list_alternatives(available.stacks),
                       "stack"};
  }
  requested.stack = choice.stack;
  available = trace.alternatives(trace.part(requested));
  if (choice.kind && !is_in(available.kinds, *choice.kind)) {
    const std::string where = choice.stack ? " in the " + name_of(*choice.stack) : "";
    return MissingPart{"no " + name_of(*choice.kind) + "-attention" + where,
                       list_alternatives(available.kinds), "kind"};
  }
  requested.kind = choice.kind;
  available = trace.alternatives(trace.part(requested));
  if (choice.step && (!trace.parts.step || !is_in(available.steps, *choice.step))) {
    return MissingPart{trace.parts.step ? "no step " + std::to_string(*choice.step) : "no steps",
                       trace.parts.step ? list_alternatives(available.steps) : "none", "step"};
  }
  requested.step = choice.step;
  available = trace.alternatives(trace.part(requested));
  if (choice.segment && (!trace.parts.segment || !is_in(available.segments, *choice.segment))) {
    const bool any = trace.parts.segment;
    return MissingPart{any ? "no segment " + std::to_string(*choice.segment) : "no segments",
                       any ? list_alternatives(available.segments) : "none", "segment"};
  }
  return std::nullopt;
}

SelectedTap find_tap(const ViewInput& input) {
  return find_tap(input.trace, input.session.view);
}

std::string objection_to_all(const Trace& trace,
                             const std::function<std::string(const AttentionTap&)>& objection_to) {
  std::string objection = "This run has no attention.";
  for (const AttentionTap& tap : trace.attention) {
    objection = objection_to(tap);
    if (objection.empty()) break;
  }
  return objection;
}

std::string objection_without_attention(const Trace& trace) {
  return objection_to_all(trace, [](const AttentionTap&) { return ""; });
}

SelectedTap require_tap(const ViewInput& input) {
  SelectedTap found = find_tap(input);
  if (found.tap == nullptr) throw InputError(found.headline + ". " + found.advice);
  return found;
}

SelectedTap find_tap(const Trace& trace, const ViewSettings& view) {
  SelectedTap found;
  if (trace.attention.empty()) {
    found.headline = "No attention to show yet";
    found.advice = trace.tokens.empty()
                       ? "Type a text, or choose one of the samples, and the model's attention "
                         "appears here."
                       : "This run recorded no attention. Choose a model with attention layers.";
    return found;
  }
  if (const std::optional<MissingPart> missing = find_missing_part(trace, view.part)) {
    found.headline = "This run has " + missing->found;
    found.advice =
        "Choose another " + std::string(missing->category) + ": " + missing->expected + ".";
    return found;
  }
  const HeadRef head = head_ref(trace, view);
  found.tap = trace.find(head, &found.head);
  if (found.tap != nullptr && (found.tap->queries() < 1 || found.tap->keys() < 1)) {
    found.tap = nullptr;
    found.headline = "Nothing to attend to";
    found.advice = "The text has no tokens. Type a longer one.";
  } else if (found.tap == nullptr) {
    found.headline =
        "No layer " + std::to_string(view.layer) + " with a head " + std::to_string(view.head);
    const std::string part_name = describe_part(trace.parts, head.part);
    found.advice = (part_name.empty() ? "The model" : capitalised(part_name)) + " has " +
                   describe_layers_and_heads(trace, head.part) +
                   ", counted from 0. Choose another layer or head.";
  }
  return found;
}

std::string title_with_head(const ViewInput& input) {
  return picture_title(input.trace, input.part()) + " · " +
         describe_head(input.trace, input.session.view);
}

std::string title_with_part(const ViewInput& input) {
  const Trace& trace = input.trace;
  const std::string words = describe_part(trace.parts, trace.part(input.session.view.part));
  return picture_title(trace, input.part()) + (words.empty() ? "" : " · " + words);
}

std::string picture_title(const Trace& trace, const std::optional<TracePart>& part) {
  std::vector<std::string> variants, encodings;
  for (const AttentionTap& tap : trace.attention) {
    if (part && part_of(tap.address) != *part) continue;
    variants.push_back(variant(tap.variant.id).label);
    encodings.push_back(encoding(tap.encoding.id).label);
  }
  std::string title = trace.model;
  if (variants.empty() || trace.is_imported) return title;
  return title + " · " + join_distinct(variants, "variants") +
         " · position: " + join_distinct(encodings, "encodings");
}

InterventionNames intervention_names(const Trace& trace, const AttentionTap* tap) {
  InterventionNames names;
  names.token = [&trace](std::int32_t id) {
    return trace.tokenizer ? token_label(trace, id) : std::string();
  };
  names.position = [&trace](Index n) {
    const bool known = n < static_cast<Index>(trace.tokens.size());
    return known ? trace.tokens[static_cast<std::size_t>(n)].label : std::string();
  };
  if (tap == nullptr) return names;
  names.query = [&trace, tap](Index i) {
    return i < tap->queries() ? query_label(trace, *tap, i) : std::string();
  };
  names.key = [&trace, tap](Index j) {
    return j < tap->keys() ? key_label(trace, *tap, j) : std::string();
  };
  return names;
}

}  // namespace attnscope
