#include "core/view/intervene/intervene_clicks.h"

#include <algorithm>

#include "core/analysis/prediction.h"
#include "core/base/strict_json.h"
#include "core/model/sample.h"
#include "core/view/parts/token_bars.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxReplacements = 12;
constexpr Index kSearchedTokens = 512;  // number of predictions searched for whole words

// Removes the change if present. Otherwise adds it and removes its opposite (forbid or force).
void toggle_pair_change(Session& session, const Intervention& change) {
  Interventions& list = session.run.interventions;
  if (std::erase(list, change) > 0) return;
  Intervention opposite = change;
  opposite.kind = change.kind == Intervention::Kind::Forbid ? Intervention::Kind::Force
                                                            : Intervention::Kind::Forbid;
  std::erase(list, opposite);
  list.push_back(change);
}

void replace_token(Session& session, Index position, std::int32_t token) {
  std::erase_if(session.run.interventions, [&](const Intervention& i) {
    return i.kind == Intervention::Kind::Replace && i.position == position;
  });
  if (token < 0) return;
  Intervention change;
  change.kind = Intervention::Kind::Replace;
  change.position = position;
  change.token = token;
  session.run.interventions.push_back(change);
}

// Change for a click on this pair, or on the label of the key if `query` is -1.
Intervention change_at(const ViewSettings& settings, Index query, Index key) {
  const Values values = view_values(settings, "intervene");
  Intervention change;
  change.kind =
      values.choice("click") == "force" ? Intervention::Kind::Force : Intervention::Kind::Forbid;
  change.query = query;
  change.key = key;
  const std::string& scope = values.choice("heads");
  if (scope != "all") change.layer = settings.layer;
  if (scope == "this head") change.head = settings.head;
  return change;
}

std::string describe_click(const Interventions& list, const Intervention& change) {
  const bool is_applied = std::find(list.begin(), list.end(), change) != list.end();
  const std::string target = change.query >= 0 ? "this pair" : "this key for every query";
  if (is_applied) return "Undo the change of " + target + ".";
  return (change.kind == Intervention::Kind::Force ? "Force " : "Forbid ") + target + ".";
}

// True if an intervention forbids or forces this pair in the selected head.
bool has_change(const Session& session, Index query, Index key) {
  const ViewSettings& settings = session.view;
  return std::ranges::any_of(session.run.interventions, [&](const Intervention& i) {
    const bool changes_pair =
        i.kind == Intervention::Kind::Forbid || i.kind == Intervention::Kind::Force;
    const bool applies_to_head =
        (i.layer < 0 || i.layer == settings.layer) && (i.head < 0 || i.head == settings.head);
    return changes_pair && applies_to_head && i.query == query && i.key == key;
  });
}

// True if the variant allows the pair, even if an intervention forbids it.
bool variant_allows(const Trace& run, const Session& session, Index query, Index key) {
  if (has_change(session, query, key)) return true;
  const ViewSettings& settings = session.view;
  Index head = 0;
  const AttentionTap* tap = run.find(head_ref(run, settings), &head);
  if (tap == nullptr || query >= tap->queries() || key >= tap->keys()) return false;
  const Pattern& pattern = *tap->result.pattern;
  return pattern.allowed(pattern.heads() == 1 ? 0 : head, query, key);
}

Handle select_handle(const Box& area, Index row, bool is_selected) {
  return {
      area,
      is_selected ? "Deselect this token." : "Select this token to replace it.",
      {},
      [row, is_selected](Session& session) { session.view.pinned_query = is_selected ? -1 : row; }};
}

// True for tokens that are probably whole words. Vocabularies of word pieces also contain " p" and
// " tr", which models often predict.
bool is_likely_word(const Trace& trace, std::int32_t id, bool is_first_token) {
  constexpr std::size_t kMinLetters = 3;
  const Tokenizer* tokenizer = trace.tokenizer.get();
  if (tokenizer == nullptr || id < 0 || id >= tokenizer->vocabulary_size()) return false;
  if (tokenizer->is_special(id)) return false;
  std::string word = tokenizer->bytes(id);
  if (word.starts_with(' ')) {
    word.erase(0, 1);
  } else if (!is_first_token) {
    return false;
  }
  const bool has_only_letters = std::ranges::all_of(word, [](unsigned char c) {
    return c >= 0x80 || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
  return has_only_letters && word.size() >= kMinLetters && is_utf8(word);
}

}  // namespace

bool can_replace(const Trace& trace) {
  return trace.streams.empty();
}

std::vector<Handle> pair_handles(const ViewInput& input, const Trace& run, const MatrixPlot& left,
                                 const MatrixPlot& right) {
  std::vector<Handle> handles;
  if (!input.interaction.pointer) return handles;
  const Point pointer = *input.interaction.pointer;
  const ViewSettings& settings = input.session.view;
  for (const MatrixPlot* map : {&left, &right}) {
    const auto [query, key] = pair_at(*map)(pointer);
    const auto add_handle = [&](const Box& area, Index at_query, Index at_key) {
      const Intervention change = change_at(settings, at_query, at_key);
      handles.push_back({area,
                         describe_click(input.session.run.interventions, change),
                         {},
                         [change](Session& session) { toggle_pair_change(session, change); }});
    };
    // In segmented runs, rows and columns of the map do not identify pairs of the text.
    const bool is_unsegmented = !run.parts.segment;
    // Only allowed pairs can be forbidden, forced or restored.
    if (query >= 0 && key >= 0) {
      if (is_unsegmented && variant_allows(run, input.session, query, key))
        add_handle(map->plot, query, key);
      continue;
    }
    const Box key_labels{map->plot.x, map->plot.y - map->top, map->plot.width, map->top};
    if (is_unsegmented && key_labels.contains(pointer)) {
      const auto column = pair_at(*map)({pointer.x, map->plot.y}).second;
      if (column >= 0) add_handle(key_labels, -1, column);
    }
    const Box query_labels{map->plot.x - map->left, map->plot.y, map->left, map->plot.height};
    if (map->row_labels && can_replace(run) && query_labels.contains(pointer)) {
      const auto row = pair_at(*map)({map->plot.x, pointer.y}).first;
      if (row >= 0)
        handles.push_back(select_handle(query_labels, row, settings.pinned_query == row));
    }
  }
  return handles;
}

std::vector<std::int32_t> replacement_candidates(const Trace& run, Index position) {
  std::vector<std::int32_t> words, pieces;
  const std::int32_t original = run.tokens[static_cast<std::size_t>(position)].id;
  const auto add = [&](std::int32_t id) {
    std::vector<std::int32_t>& list = is_likely_word(run, id, position == 0) ? words : pieces;
    if (id != original && std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
  };
  const std::vector<double> expected = next_token_probabilities(run, position - 1);
  for (const Candidate& candidate : likeliest(expected, kSearchedTokens)) add(candidate.id);
  for (const TraceToken& token : run.tokens) add(token.id);
  words.insert(words.end(), pieces.begin(), pieces.end());
  words.resize(std::min(words.size(), kMaxReplacements));
  return words;
}

Handle replacement_handle(const Box& area, Index position, std::int32_t token) {
  return {area,
          token < 0 ? "Restore the original token." : "Replace with this token.",
          {},
          [position, token](Session& session) { replace_token(session, position, token); }};
}

std::vector<double> next_token_probabilities(const Trace& trace, Index position) {
  const LazyTensor& logits = predictions(trace);  // [L, vocabulary]
  if (!logits.defined() || position < 0 || position >= logits.dim(0)) return {};
  return probabilities(logits.row(position), {});
}

}  // namespace attnscope
