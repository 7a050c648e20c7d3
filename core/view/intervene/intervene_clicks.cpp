#include "core/view/intervene/intervene_clicks.h"

#include <algorithm>

#include "core/analysis/prediction.h"
#include "core/base/strict_json.h"
#include "core/model/sample.h"
#include "core/view/parts/token_bars.h"

namespace attnscope {
namespace {

constexpr std::size_t kCandidates = 12;  // replacement candidates
constexpr Index kLookedThrough = 512;    // most likely tokens that are searched for whole words

// Adds or removes a change; removes the opposite change of the same pairs.
void toggle(Session& session, const Intervention& change) {
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

// Change made by a click on this pair, or on this column if there is no query.
Intervention change_at(const ViewSettings& settings, Index query, Index key) {
  const Values set = view_values(settings, "intervene");
  Intervention change;
  change.kind =
      set.choice("click") == "force" ? Intervention::Kind::Force : Intervention::Kind::Forbid;
  change.query = query;
  change.key = key;
  const std::string& where = set.choice("heads");
  if (where != "all") change.layer = settings.layer;
  if (where == "this head") change.head = settings.head;
  return change;
}

std::string help(const Interventions& list, const Intervention& change) {
  const bool there = std::find(list.begin(), list.end(), change) != list.end();
  const std::string what = change.query >= 0 ? "this pair" : "this key for every query";
  if (there) return "Undo the change of " + what + ".";
  return (change.kind == Intervention::Kind::Force ? "Force " : "Forbid ") + what + ".";
}

// True if a change of the shown head covers the pair.
bool is_changed(const Session& session, Index query, Index key) {
  const ViewSettings& settings = session.view;
  return std::ranges::any_of(session.run.interventions, [&](const Intervention& i) {
    const bool of_pairs =
        i.kind == Intervention::Kind::Forbid || i.kind == Intervention::Kind::Force;
    const bool here =
        (i.layer < 0 || i.layer == settings.layer) && (i.head < 0 || i.head == settings.head);
    return of_pairs && here && i.query == query && i.key == key;
  });
}

// True if the variant allows the pair, even if a change has removed it from the run's pattern.
bool allowed(const Trace& run, const Session& session, Index query, Index key) {
  if (is_changed(session, query, key)) return true;
  const ViewSettings& settings = session.view;
  Index head = 0;
  const AttentionTap* tap = run.find(head_ref(run, settings), &head);
  if (tap == nullptr || query >= tap->queries() || key >= tap->keys()) return false;
  const Pattern& pattern = *tap->result.pattern;
  return pattern.allowed(pattern.heads() == 1 ? 0 : head, query, key);
}

Handle selection(const Box& area, Index row, bool selected) {
  return {area,
          selected ? "Deselect this token." : "Select this token to replace it.",
          {},
          [row, selected](Session& e) { e.view.pinned_query = selected ? -1 : row; }};
}

// True for tokens that are likely whole words: vocabularies of word pieces also contain " p" and
// " tr", which models often predict.
bool begins_word(const Trace& trace, std::int32_t id, bool first) {
  constexpr std::size_t kLetters = 3;
  const Tokenizer* tokenizer = trace.tokenizer.get();
  if (tokenizer == nullptr || id < 0 || id >= tokenizer->vocabulary_size()) return false;
  if (tokenizer->is_special(id)) return false;
  std::string word = tokenizer->bytes(id);
  if (word.starts_with(' ')) {
    word.erase(0, 1);
  } else if (!first) {
    return false;
  }
  const bool letters = std::ranges::all_of(word, [](unsigned char c) {
    return c >= 0x80 || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
  return letters && word.size() >= kLetters && is_utf8(word);
}

}  // namespace

bool can_replace(const Trace& trace) {
  return trace.streams.empty();
}

std::vector<Handle> pair_handles(const ViewInput& input, const Trace& run, const MatrixPlot& left,
                                 const MatrixPlot& right) {
  std::vector<Handle> handles;
  if (!input.interaction.pointer) return handles;
  const Point p = *input.interaction.pointer;
  const ViewSettings& settings = input.session.view;
  for (const MatrixPlot* m : {&left, &right}) {
    const auto [query, key] = pair_at(*m)(p);
    const auto offer = [&](const Box& area, Index at_query, Index at_key) {
      const Intervention change = change_at(settings, at_query, at_key);
      handles.push_back(
          {area, help(input.session.run.interventions, change), {}, [change](Session& e) {
             toggle(e, change);
           }});
    };
    // In segmented texts, pairs are not identified by positions of the text.
    const bool whole = !run.parts.segment;
    // Only allowed pairs can be forbidden, forced or restored.
    if (query >= 0 && key >= 0) {
      if (whole && allowed(run, input.session, query, key)) offer(m->plot, query, key);
      continue;
    }
    const Box above{m->plot.x, m->plot.y - m->top, m->plot.width, m->top};
    if (whole && above.contains(p)) {
      const auto column = pair_at(*m)({p.x, m->plot.y}).second;
      if (column >= 0) offer(above, -1, column);
    }
    const Box beside{m->plot.x - m->left, m->plot.y, m->left, m->plot.height};
    if (m->row_labels && can_replace(run) && beside.contains(p)) {
      const auto row = pair_at(*m)({m->plot.x, p.y}).first;
      if (row >= 0) handles.push_back(selection(beside, row, settings.pinned_query == row));
    }
  }
  return handles;
}

std::vector<std::int32_t> replacements(const Trace& before, Index at) {
  std::vector<std::int32_t> words, others;
  const std::int32_t own = before.tokens[static_cast<std::size_t>(at)].id;
  const auto take = [&](std::int32_t id) {
    std::vector<std::int32_t>& list = begins_word(before, id, at == 0) ? words : others;
    if (id != own && std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
  };
  const std::vector<double> expected = next_tokens(before, at - 1);
  for (const Candidate& c : likeliest(expected, kLookedThrough)) take(c.id);
  for (const TraceToken& token : before.tokens) take(token.id);
  words.insert(words.end(), others.begin(), others.end());
  words.resize(std::min(words.size(), kCandidates));
  return words;
}

Handle replacement_handle(const Box& area, Index position, std::int32_t token) {
  return {area,
          token < 0 ? "Restore the original token." : "Replace by this token.",
          {},
          [position, token](Session& e) { replace_token(e, position, token); }};
}

std::vector<double> next_tokens(const Trace& trace, Index position) {
  const Tensor& all = predictions(trace);  // [L, vocabulary]
  if (!all.defined() || position < 0 || position >= all.dim(0)) return {};
  return probabilities(all.slice(position, 1).reshaped({all.dim(1)}), {});
}

}  // namespace attnscope
