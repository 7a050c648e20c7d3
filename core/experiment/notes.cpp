#include "core/experiment/notes.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace attnscope {

namespace {

// "layers.3.groups.0.pos.bias" is "pos.bias" to a reader.
std::string short_name(const std::string& name) {
  if (name.starts_with("embed.")) return name.substr(6);
  std::size_t at = 0;
  for (int dots = 0; dots < 4; ++dots) {
    at = name.find('.', at);
    if (at == std::string::npos) return name;
    ++at;
  }
  return name.substr(at);
}

std::set<std::string> names(const ModelConfig& config,
                            const std::string& (*name_of)(const HeadGroup&)) {
  std::set<std::string> result;
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) result.insert(name_of(group));
  }
  return result;
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "; ") + word;
  return text;
}

const std::string& variant_label(const HeadGroup& group) {
  return variant(group.variant.id).label;
}
const std::string& encoding_label(const HeadGroup& group) {
  return encoding(group.encoding.id).label;
}

void note_change(const std::set<std::string>& stored, const std::set<std::string>& used,
                 const std::string& what, std::vector<std::string>& notes) {
  if (stored == used) return;
  std::set<std::string> others;
  std::ranges::set_difference(used, stored, std::inserter(others, others.end()));
  if (std::ranges::includes(used, stored)) {
    notes.push_back("some heads have the " + what + " \"" + joined(others) +
                    "\"; the model was trained with \"" + joined(stored) + "\"");
    return;
  }
  notes.push_back("the model was trained with the " + what + " \"" + joined(stored) + "\", not \"" +
                  joined(used) + "\"");
}

}  // namespace

std::vector<std::string> notes_on_model(const Model& stored, const Model& used) {
  std::vector<std::string> notes;
  if (!used.untrained.empty()) {
    std::set<std::string> weights;
    for (const std::string& name : used.untrained) weights.insert(short_name(name));
    notes.push_back("untrained: " + joined(weights));
  }
  note_change(names(stored.config, variant_label), names(used.config, variant_label), "attention",
              notes);
  note_change(names(stored.config, encoding_label), names(used.config, encoding_label),
              "positional encoding", notes);
  if (stored.config.causal != used.config.causal) {
    notes.push_back(stored.config.causal ? "the model was trained with a causal mask"
                                         : "the model was trained without a causal mask");
  }
  return notes;
}

std::vector<std::string> notes_on_patterns(const Trace& trace) {
  std::set<std::string> without_effect;
  Index empty_rows = 0;
  for (const AttentionTap& tap : trace.attention) {
    if (!tap.result.pattern) continue;
    const Pattern& pattern = *tap.result.pattern;
    const Index heads = static_cast<Index>(tap.heads.size());
    for (Index head = 0; head < pattern.heads(); ++head) {
      for (Index i = 0; i < pattern.queries(); ++i) {
        if (pattern.row(head, i).empty()) empty_rows += pattern.heads() == 1 ? heads : 1;
      }
    }
    const Index length = pattern.queries(), pairs = pattern.pair_count(heads);
    const bool square = length == pattern.keys() && length > 1;
    const bool everything = pairs == heads * length * length;
    const bool everything_before =
        pairs == heads * length * (length + 1) / 2 && !pattern.allowed(0, 0, 1);
    if (square && (everything || everything_before) && !trace.given &&
        tap.variant.id != default_variant().id) {
      without_effect.insert(variant(tap.variant.id).label);
    }
  }
  std::vector<std::string> notes;
  if (!without_effect.empty()) {
    notes.push_back(joined(without_effect) + ": no pair is masked at this length, as with " +
                    variant(default_variant().id).label);
  }
  if (empty_rows > 0) {
    notes.push_back("no key is allowed in " + std::to_string(empty_rows) +
                    (empty_rows == 1 ? " row, which is all zero" : " rows, which are all zero"));
  }
  return notes;
}

}  // namespace attnscope
