#include "core/experiment/notes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "core/analysis/sinks.h"
#include "core/base/join_words.h"
#include "core/base/lower_case.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/residual_connection.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

constexpr const char* kSeparator = "; ";  // names may contain commas

// Shortens "encoder.layers.3.groups.0.pos.bias" to "pos.bias".
std::string short_name(std::string name) {
  const auto drop = [&](std::string_view prefix, bool has_number) {
    if (!name.starts_with(prefix)) return;
    name.erase(0, prefix.size());
    if (has_number) name.erase(0, name.find('.') + 1);
  };
  drop("embed.", false);
  drop("encoder.", false);
  drop("layers.", true);
  drop("groups.", true);
  return name;
}

// Converts a sentence, "The span of each head.", to a phrase, "the span of each head".
std::string to_phrase(std::string phrase) {
  if (phrase.ends_with('.')) phrase.pop_back();
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  if (phrase.size() > 1 && (is_lower(phrase[1]) || phrase[1] == ' ')) {
    phrase[0] = lower_case(phrase[0]);
  }
  return phrase;
}

// Descriptions of the untrained weights, "the span of each head (span.z)", merged over layers.
std::set<std::string> untrained_weights(const Model& model) {
  const std::set<std::string> untrained(model.untrained.begin(), model.untrained.end());
  std::map<std::string, std::set<std::string>> names_by_help;
  for (const WeightSpec& spec : weight_specs(model.config)) {
    if (untrained.contains(spec.name)) names_by_help[spec.help].insert(short_name(spec.name));
  }
  std::set<std::string> result;
  for (const auto& [help, names] : names_by_help) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    result.insert(help.empty() ? list : to_phrase(help) + " (" + list + ")");
  }
  return result;
}

std::set<std::string> collect_labels(const ModelConfig& config,
                                     const std::string& (*label)(const HeadGroup&)) {
  std::set<std::string> result;
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) result.insert(label(group));
  }
  return result;
}

const std::string& variant_label(const HeadGroup& group) {
  return variant(group.variant.id).label;
}
const std::string& encoding_label(const HeadGroup& group) {
  return encoding(group.encoding.id).label;
}

void note_change(const std::set<std::string>& stored, const std::set<std::string>& used,
                 const std::string& subject, std::vector<std::string>& notes) {
  if (stored == used) return;
  std::set<std::string> added;
  std::ranges::set_difference(used, stored, std::inserter(added, added.end()));
  if (std::ranges::includes(used, stored)) {
    notes.push_back("some heads have the " + subject + " \"" + join_words(added, kSeparator) +
                    "\"; the model was trained with \"" + join_words(stored, kSeparator) + "\"");
    return;
  }
  notes.push_back("the model was trained with the " + subject + " \"" +
                  join_words(stored, kSeparator) + "\", not \"" + join_words(used, kSeparator) +
                  "\"");
}

// Notes of the form "the model was trained with the exits none, not Saturation".
void note_structure(const ModelConfig& stored, const ModelConfig& used,
                    std::vector<std::string>& notes) {
  const auto note = [&](const std::string& trained, const std::string& chosen, const char* phrase) {
    if (trained == chosen) return;
    notes.push_back(std::string("the model was trained ") + phrase + " \"" + trained +
                    "\", not \"" + chosen + "\"");
  };
  const auto exits_label = [](const ModelConfig& config) {
    return config.exits ? exit_rule(config.exits->id).label : std::string("none");
  };
  note(architecture(stored.architecture.id).label, architecture(used.architecture.id).label,
       "with the architecture");
  note(residual_connection(stored.residual_connection.id).label,
       residual_connection(used.residual_connection.id).label, "with the residual connection");
  note(norm_name(stored.norm), norm_name(used.norm), "with the norm");
  note(exits_label(stored), exits_label(used), "with the exits");
  if (stored.segment != used.segment) {
    notes.push_back(stored.segment == 0 ? "the model was trained on whole texts, not in segments"
                                        : "the model was trained in segments of " +
                                              std::to_string(stored.segment) + " tokens");
  }
}

}  // namespace

std::vector<std::string> notes_on_model(const Model& stored, const Model& used) {
  std::vector<std::string> notes = stored.notes;
  if (!used.untrained.empty()) {
    notes.push_back("untrained: " + join_words(untrained_weights(used), kSeparator));
  }
  note_structure(stored.config, used.config, notes);
  note_change(collect_labels(stored.config, variant_label),
              collect_labels(used.config, variant_label), "attention", notes);
  note_change(collect_labels(stored.config, encoding_label),
              collect_labels(used.config, encoding_label), "positional encoding", notes);
  if (stored.config.causal != used.config.causal) {
    notes.push_back(stored.config.causal ? "the model was trained with a causal mask"
                                         : "the model was trained without a causal mask");
  }
  const bool predicts = used.config.model_options.output_head;
  if (predicts && leaks_future(used.config) && !is_masked_model(used.config)) {
    notes.push_back(
        "without a causal mask, positions see the token that they predict: the loss and the "
        "probabilities of this text are meaningless");
  }
  return notes;
}

std::string note_on_retrieval(const RetrievalChoice& choice, const Store& store) {
  const Index count = choice.retrieval_head.values.integer("k");
  return "predictions are mixed with the tokens that followed the " +
         (count == 1 ? "nearest" : std::to_string(count) + " nearest") + " of " +
         std::to_string(store.keys.dim(0)) +
         " contexts: " + retrieval_head(choice.retrieval_head.id).label;
}

namespace {

bool keeps_state(const Variant& variant) {
  return std::ranges::any_of(variant.weights,
                             [](const WeightInfo& weight) { return weight.file.state; });
}

bool has_memory(const OperationRecord& result) {
  return std::ranges::any_of(result.columns, [](const auto& keys) {
    return (keys.first == KeyKind::Memory || keys.first == KeyKind::Compressed) && keys.second > 0;
  });
}

}  // namespace

std::string note_on_bytes(const Trace& trace) {
  constexpr double kMinByteFraction = 0.4;          // fraction of tokens that are single bytes
  constexpr Index kMinBytes = 8;                    // ignores short foreign names
  constexpr std::int32_t kMinVocabulary = 2 * 256;  // smaller: mostly bytes in any language
  if (!trace.tokenizer || trace.tokenizer->vocabulary_size() < kMinVocabulary) return "";
  const std::vector<TraceToken>& tokens = trace.text_tokens();
  Index bytes = 0;
  for (const TraceToken& token : tokens) {
    const bool is_ascii =
        token.bytes.size() == 1 && static_cast<unsigned char>(token.bytes[0]) < 0x80;
    if (token.bytes.size() == 1 && !is_ascii) ++bytes;
  }
  const auto count = static_cast<double>(tokens.size());
  if (bytes < kMinBytes || static_cast<double>(bytes) < kMinByteFraction * count) return "";
  return "most of this text is split into single bytes: this model's vocabulary and training "
         "data are of another language (the bundled models read English only)";
}

std::string note_on_unknown_tokens(const Trace& trace) {
  const std::int32_t unknown = trace.tokenizer ? trace.tokenizer->unknown_token() : -1;
  if (unknown < 0) return "";
  Index unknown_count = 0, count = 0;
  for (const TraceToken& token : trace.text_tokens()) {
    if (token.id == unknown) ++unknown_count;
    if (token.id == unknown || !token.special) ++count;
  }
  if (unknown_count == 0) return "";
  return grouped(unknown_count) + " of " + count_text(count, "token") +
         (unknown_count == 1 ? " is" : " are") +
         " unknown: the model's vocabulary lacks this text and the model reads " +
         trace.tokenizer->label(unknown) + " instead";
}

std::vector<std::string> notes_on_attention(const Trace& trace) {
  std::set<std::string> notes, empty_labels, filled_labels;
  for (const AttentionTap& tap : trace.attention) {
    if (trace.is_imported) continue;
    const Variant& v = variant(tap.variant.id);
    if (keeps_state(v)) (has_memory(tap.result) ? filled_labels : empty_labels).insert(v.label);
    if (!tap.result.leaks_future.empty()) {
      notes.insert(v.label + " leaks future tokens: " + tap.result.leaks_future);
    }
    for (const std::string& remark : tap.result.remarks) notes.insert(v.label + ": " + remark);
  }
  double sinks = 0;
  Index sink_tap_count = 0;
  for (const AttentionTap& tap : trace.attention) {
    if (tap.settings() == nullptr || !tap.settings()->sinks.defined()) continue;
    sinks += sink_weight(tap);
    ++sink_tap_count;
  }
  if (sink_tap_count > 0) {
    const long sink_percent = std::lround(100 * sinks / static_cast<double>(sink_tap_count));
    notes.insert("heads have attention sinks: on average " + std::to_string(sink_percent) +
                 "% of a row's weight goes to no token, so that rows sum to less than 1");
  }
  for (const std::string& label : empty_labels) {
    if (!filled_labels.contains(label)) notes.insert(label + ": the memory is empty");
  }
  return {notes.begin(), notes.end()};
}

std::vector<std::string> notes_on_patterns(const Trace& trace) {
  std::set<std::string> ineffective_labels;
  Index empty_rows = 0, rows = 0;  // counts over all heads and layers
  for (const AttentionTap& tap : trace.attention) {
    if (!tap.result.pattern) continue;
    const Pattern& pattern = *tap.result.pattern;
    const Index heads = static_cast<Index>(tap.heads.size());
    rows += heads * pattern.queries();
    for (Index head = 0; head < pattern.heads(); ++head) {
      for (Index i = 0; i < pattern.queries(); ++i) {
        if (pattern.row(head, i).empty()) empty_rows += pattern.heads() == 1 ? heads : 1;
      }
    }
    const Index length = pattern.queries(), pairs = pattern.pair_count(heads);
    const bool is_square = length == pattern.keys() && length > 1;
    const bool is_full = pairs == heads * length * length;
    const bool is_causal = pairs == heads * length * (length + 1) / 2 && !pattern.allowed(0, 0, 1);
    // In the first segment, a full pattern is expected: there is no memory yet.
    const bool has_memory_later = trace.parts.segment && variant(tap.variant.id).memory.remember;
    const bool has_special_rules = pattern.rules() != Pattern::all(1, 1).rules() &&
                                   pattern.rules() != Pattern::causal(1, 1).rules();
    if (is_square && (is_full || is_causal) && !trace.is_imported && !has_memory_later &&
        has_special_rules) {
      ineffective_labels.insert(variant(tap.variant.id).label);
    }
  }
  std::vector<std::string> notes;
  if (!ineffective_labels.empty()) {
    notes.push_back(join_words(ineffective_labels, kSeparator) +
                    ": masks no pair at this length, as with " +
                    variant(default_variant().id).label);
  }
  if (empty_rows > 0) {
    notes.push_back("no key is allowed in " + grouped(empty_rows) + " of " + grouped(rows) +
                    " rows (queries × heads × layers): " +
                    (empty_rows == 1 ? "it is" : "they are") + " all zero");
  }
  return notes;
}

}  // namespace attnscope
