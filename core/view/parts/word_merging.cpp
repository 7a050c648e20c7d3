#include "core/view/parts/word_merging.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/figure/plain_text.h"
#include "core/view/parts/focus.h"

namespace attnscope {
namespace {

WordMergeOptions choice_of(const ViewInput& input) {
  const ViewSettings& view = input.session.view;
  return {.merged = view.words && words_refusal(input.trace).empty(),
          .without_special = view.hides_special && special_refusal(input.trace).empty()};
}

std::shared_ptr<const WordTrace> words_of(const ViewInput& input, const WordMergeOptions& choice) {
  return input.cache != nullptr ? input.cache->words(input.trace, choice)
                                : merge_words(input.trace, choice);
}

// Converts pins to rows and columns of words.
void pin_words(ViewSettings& view, const WordPairs& pairs) {
  view.pinned_query = pairs.queries.of(view.pinned_query);
  view.pinned_key = pairs.keys.of(view.pinned_key);
}

ViewSettings settings_in_words(const ViewSettings& view, const WordPairs& pairs) {
  ViewSettings result = view;
  pin_words(result, pairs);
  if (!(view.width > 0) || !(view.height > 0)) return result;
  result.row = pairs.queries.to_words(view.row);
  result.height = pairs.queries.to_words(view.row + view.height) - result.row;
  result.column = pairs.keys.to_words(view.column);
  result.width = pairs.keys.to_words(view.column + view.width) - result.column;
  return result;
}

// The strongest pair of tokens of two words.
Pair strongest_pair(const AttentionTap& tap, Index head, const WordPairs& pairs,
                    const Pair& words) {
  Pair best{pairs.queries.begin(words.query), pairs.keys.begin(words.key)};
  float largest = -1;
  for (Index i = pairs.queries.begin(words.query); i < pairs.queries.end(words.query); ++i) {
    const Tensor row = attention_row(tap, head, i);
    for (Index c = pairs.keys.begin(words.key); c < pairs.keys.end(words.key); ++c) {
      if (!(std::abs(row[c]) > largest)) continue;
      largest = std::abs(row[c]);
      best = {i, c};
    }
  }
  return best;
}

// Maps hits on words to hits on their tokens. May outlive the input, but not the run.
class TokenHits {
 public:
  TokenHits(std::shared_ptr<const WordTrace> words, const ViewInput& input)
      : words_(std::move(words)), view_(input.session.view) {
    for (const AttentionTap& tap : input.trace.attention) {
      if (part_of(tap.address) == input.trace.part(view_.part)) taps_.push_back(tap);
    }
  }

  Hit operator()(Hit hit) const {
    if (hit.query < 0 && hit.key < 0) return hit;
    for (const AttentionTap& tap : taps_) {
      const auto found = std::ranges::find(tap.heads, hit.head);
      if (tap.address.layer != hit.layer || found == tap.heads.end()) continue;
      hit.words = words_;
      hit.word_query = hit.query;
      hit.word_key = hit.key;
      set_tokens(tap, found - tap.heads.begin(), words_->of(tap), hit);
    }
    return hit;
  }

 private:
  void set_tokens(const AttentionTap& tap, Index head, const WordPairs& pairs, Hit& hit) const {
    const auto pinned = [](Index pin, const WordGroups& groups, Index word) {
      return pin >= 0 && groups.of(pin) == word;
    };
    const bool has_query = hit.word_query >= 0, has_key = hit.word_key >= 0;
    const bool query_pinned =
        has_query && pinned(view_.pinned_query, pairs.queries, hit.word_query);
    const bool key_pinned = has_key && pinned(view_.pinned_key, pairs.keys, hit.word_key);
    if (has_query && has_key) {
      const bool both = query_pinned && key_pinned;
      const Pair pair = both ? Pair{view_.pinned_query, view_.pinned_key}
                             : strongest_pair(tap, head, pairs, {hit.word_query, hit.word_key});
      hit.query = pair.query;
      hit.key = pair.key;
      if (!hit.shown.empty()) return;
      const AttentionTap& merged = *word_tap(tap);
      hit.shown =
          brief(static_cast<double>(attention_row(merged, head, hit.word_query)[hit.word_key]), 4);
      return;
    }
    if (has_query)
      hit.query = query_pinned ? view_.pinned_query : pairs.queries.begin(hit.word_query);
    if (has_key) hit.key = key_pinned ? view_.pinned_key : pairs.keys.begin(hit.word_key);
  }

  const AttentionTap* word_tap(const AttentionTap& tap) const {
    const auto& taps = words_->trace.attention;
    return &*std::ranges::find(taps, tap.address, &AttentionTap::address);
  }

  std::shared_ptr<const WordTrace> words_;
  ViewSettings view_;
  std::vector<AttentionTap> taps_;  // taps of the selected part; copies share their tensors
};

// Applies a handle's action to pins of words, then converts them back to tokens.
void act_on_words(const WordPairs& pairs, Session& session,
                  const std::function<void(Session&)>& act) {
  const ViewSettings previous = session.view;
  pin_words(session.view, pairs);
  const ViewSettings in_words = session.view;
  act(session);
  ViewSettings& view = session.view;
  const auto token_pin = [](Index word_pin, Index previous_word_pin, Index previous_pin,
                            const WordGroups& groups) {
    if (word_pin == previous_word_pin) return previous_pin;  // unchanged
    return word_pin >= 0 && word_pin < groups.count() ? groups.begin(word_pin) : -1;
  };
  view.pinned_query =
      token_pin(view.pinned_query, in_words.pinned_query, previous.pinned_query, pairs.queries);
  view.pinned_key =
      token_pin(view.pinned_key, in_words.pinned_key, previous.pinned_key, pairs.keys);
}

void convert_to_tokens(ViewLayout& layout, const MergedWordsInput& merged, const ViewInput& input) {
  layout.words = merged.pairs();
  layout.to_token_hit = TokenHits(merged.words(), input);
  if (layout.hit) {
    layout.hit = [hit = std::move(layout.hit), to_tokens = layout.to_token_hit](Point p) {
      std::optional<Hit> found = hit(p);
      return found ? to_tokens(*found) : found;
    };
  }
  for (Handle& handle : layout.handles) {
    if (handle.click) {
      handle.click = [act = std::move(handle.click), pairs = layout.words](Session& session) {
        act_on_words(*pairs, session, act);
      };
    }
    if (!handle.drag) continue;
    handle.drag = [act = std::move(handle.drag), pairs = layout.words](Point p, Session& session) {
      act_on_words(*pairs, session, [&](Session& word_session) { act(p, word_session); });
    };
  }
}

}  // namespace

MergedWordsInput::MergedWordsInput(const View& view, const ViewInput& input) : tokens_(input) {
  if (!view.cells.merge_words || input.merged) return;
  const WordMergeOptions choice = choice_of(input);
  if (!choice.merged && !choice.without_special) return;
  words_ = words_of(input, choice);
  const AttentionTap* tap = input.trace.find(head_ref(input.trace, input.session.view));
  pairs_ = {words_, tap != nullptr ? &words_->of(*tap) : &words_->pairs.front()};
  session_ = input.session;
  session_.view = settings_in_words(input.session.view, *pairs_);
  word_input_.emplace(input.with_words(*words_, session_));
}

View with_word_merging(View view) {
  view.cells.merge_words = true;
  view.lay_out = [unmerged = view](const ViewInput& input) {
    const MergedWordsInput merged(unmerged, input);
    ViewLayout layout = unmerged.lay_out(merged.input());
    if (merged.words() != nullptr) convert_to_tokens(layout, merged, input);
    return layout;
  };
  if (!view.data) return view;
  view.data = [unmerged = view](const ViewInput& input) {
    const MergedWordsInput merged(unmerged, input);
    return unmerged.data(merged.input());
  };
  return view;
}

std::string describe_pieces(const WordGroups& groups, Index word) {
  const Index first = groups.begin(word), last = groups.end(word) - 1;
  if (first == last) return "token " + std::to_string(first);
  return "tokens " + std::to_string(first) + " to " + std::to_string(last);
}

}  // namespace attnscope
