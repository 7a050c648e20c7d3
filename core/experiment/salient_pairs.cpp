#include "core/experiment/salient_pairs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "core/analysis/columns.h"
#include "core/analysis/words.h"
#include "core/base/error.h"
#include "core/base/lower_case.h"
#include "core/base/stop.h"
#include "core/figure/plain_text.h"
#include "core/trace/key_token.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxPerHead = 8;  // candidates per head
constexpr double kKindFactor = 2;       // factor of induction, brackets and pronouns
constexpr double kMaxOtherShare = 0.5;  // maximum of other_weight / weight
constexpr double kNamedShare = 0.5;     // max_other / weight above which sentence() names the word
constexpr Index kFirstWord = 0;         // first word, often an attention sink

// True if a word is more than punctuation; tokens without text count as words.
bool has_content(const TraceToken& word) {
  if (word.special) return false;
  return word.bytes.empty() || std::ranges::any_of(word.bytes, [](unsigned char c) {
           return std::isalnum(c) != 0 || c >= 0x80;
         });
}

bool is_pronoun(const TraceToken& word) {
  static const std::set<std::string, std::less<>> kPronouns{
      "he",      "him",        "himself", "his",    "she",  "her",  "hers",
      "herself", "it",         "its",     "itself", "they", "them", "their",
      "theirs",  "themselves", "who",     "whom",   "whose"};
  return kPronouns.contains(lower_case(word_name(word)));
}

// Opening mark that matches a closing bracket or quotation mark; empty for other words.
std::string_view opening_of(const TraceToken& word) {
  static const std::map<std::string, std::string_view, std::less<>> kBrackets{
      {")", "("}, {"]", "["}, {"}", "{"}, {">", "<"}, {"”", "“"}, {"»", "«"}};
  const auto found = kBrackets.find(word_name(word));
  return found == kBrackets.end() ? std::string_view() : found->second;
}

// Factors ln(1 + surprisal), [words]; empty without predictions.
std::vector<double> surprisals(const Trace& trace, const WordTrace& words) {
  const Tensor& bits = trace.token_bits;
  if (!bits.defined() || bits.dim(0) != static_cast<Index>(trace.tokens.size())) return {};
  const IntTensor& starts = words.trace.counts.at(kWordStarts);
  std::vector<double> factors;
  for (Index word = 0; word + 1 < starts.size(); ++word) {
    double sum = 0;
    for (Index token = starts[word]; token < starts[word + 1]; ++token) {
      if (std::isfinite(bits[token])) sum += static_cast<double>(bits[token]);
    }
    factors.push_back(std::log1p(sum));
  }
  return factors;
}

// Search for salient pairs in a run with merged words.
class PairSearch {
 public:
  PairSearch(const Trace& trace, const WordTrace& words)
      : words_(words), trace_(words.trace), surprisals_(surprisals(trace, words)) {}

  void add_pairs(const AttentionTap& tap) {
    tokens_ = &trace_.tokens_of(tap.query_rows);
    has_surprisals_ = tap.query_rows.stream.empty() && surprisals_.size() == tokens_->size();
    const WordPairs& word_ranges = words_.of(tap);
    const Tensor sum = sum_of_heads(tap);
    for (std::size_t n = 0; n < tap.heads.size(); ++n) {
      check_stop();
      const HeadRef head{tap.address.layer, tap.heads[n], part_of(tap.address)};
      std::vector<SalientPair> best = find_best(tap, static_cast<Index>(n), sum);
      for (SalientPair& pair : best) {
        pair.at = head;
        const Index query = pair.query, key = pair.key;
        pair.query = word_ranges.queries.begin(query);
        pair.key = word_ranges.keys.begin(key);
        pair.is_merged = word_ranges.queries.size(query) > 1 || word_ranges.keys.size(key) > 1;
        pairs_.push_back(std::move(pair));
      }
    }
  }

  const std::vector<SalientPair>& pairs() const { return pairs_; }

 private:
  const TraceToken& word(Index index) const { return (*tokens_)[static_cast<std::size_t>(index)]; }

  // Sum of the group's maps, [words, keys]; empty for a single head.
  static Tensor sum_of_heads(const AttentionTap& tap) {
    if (tap.heads.size() < 2) return {};
    Tensor sum;
    for (std::size_t n = 0; n < tap.heads.size(); ++n) {
      check_stop();
      const Tensor weights = tap.attention(static_cast<Index>(n));
      if (n == 0) sum = Tensor::zeros(weights.shape());
      std::transform(sum.begin(), sum.end(), weights.begin(), sum.begin(), std::plus<>());
    }
    return sum;
  }

  // Index of the word of each column; -1 for the first word and for columns outside the text.
  std::vector<Index> key_words(const AttentionTap& tap, Index columns) const {
    std::vector<Index> words;
    for (Index c = 0; c < columns; ++c) {
      const Index index = key_token(trace_, tap, c);
      words.push_back(index > kFirstWord ? index : -1);
    }
    return words;
  }

  std::size_t distance_index(Index gap) const {
    return static_cast<std::size_t>(gap + static_cast<Index>(tokens_->size()));
  }

  // Sums of weights by distance between query and key: high for heads with a preferred distance.
  std::vector<ColumnSum> distance_sums(const AttentionTap& tap, const Tensor& weights,
                                       const std::vector<Index>& keys) const {
    std::vector<ColumnSum> sums(2 * tokens_->size());
    for (Index row = 0; row < weights.dim(0); ++row) {
      const Index query = trace_.token_index(tap.query_rows, weights.dim(0), row);
      for (Index c = 0; c < weights.dim(1); ++c) {
        const Index key = keys[static_cast<std::size_t>(c)];
        const auto weight = static_cast<double>(weights(row, c));
        if (key < 0 || !(weight >= 0)) continue;
        ColumnSum& sum = sums[distance_index(query - key)];
        sum.sum += weight;
        ++sum.count;
      }
    }
    return sums;
  }

  std::vector<SalientPair> find_best(const AttentionTap& tap, Index head,
                                     const Tensor& sum_of_heads) const {
    const Tensor weights = tap.attention(head);  // [words, keys]
    const std::vector<Index> keys = key_words(tap, weights.dim(1));
    const std::vector<ColumnSum> columns = column_sums(tap, weights);
    const std::vector<ColumnSum> distances = distance_sums(tap, weights, keys);
    const auto other_count = static_cast<double>(tap.heads.size()) - 1;
    std::vector<SalientPair> best;
    for (Index row = 0; row < weights.dim(0); ++row) {
      const Index query = trace_.token_index(tap.query_rows, weights.dim(0), row);
      if (query <= kFirstWord) continue;
      for (Index c = 0; c < weights.dim(1); ++c) {
        const Index key = keys[static_cast<std::size_t>(c)];
        const auto weight = static_cast<double>(weights(row, c));
        if (key < 0 || key == query || !(weight > 0)) continue;
        const double other_weight = columns[static_cast<std::size_t>(c)].mean_without(weight);
        if (!(other_weight <= kMaxOtherShare * weight)) continue;
        const double other_heads =
            other_count > 0
                ? std::max(0.0, static_cast<double>(sum_of_heads(row, c)) - weight) / other_count
                : 0;
        const Index gap = query - key;
        const double at_distance = distances[distance_index(gap)].mean_without(weight);
        const double baseline =
            std::max({other_weight, other_heads, std::isnan(at_distance) ? 0 : at_distance});
        const double base_score = (weight - baseline) *
                                  std::log1p(static_cast<double>(std::abs(gap))) *
                                  surprisal_of(key);
        const double score_limit = best.size() == kMaxPerHead ? best.back().score : 0;
        if (!(kKindFactor * base_score > score_limit)) continue;  // skips the slower classification
        if (!may_pair(query, key)) continue;
        const double score = base_score * kind_factor(query, key);
        if (!(score > score_limit)) continue;
        SalientPair pair;
        pair.query = row;
        pair.key = c;
        pair.words = gap;
        pair.weight = weight;
        pair.other_weight = other_weight;
        pair.other_heads = other_heads;
        pair.score = score;
        insert(std::move(pair), query, key, best);
      }
    }
    for (SalientPair& pair : best) {
      add_strongest_other(tap, weights, keys[static_cast<std::size_t>(pair.key)], pair);
    }
    return best;
  }

  // Finds the word that gives the pair's key most, besides the pair's query and the key itself.
  void add_strongest_other(const AttentionTap& tap, const Tensor& weights, Index key,
                           SalientPair& pair) const {
    for (Index row = 0; row < weights.dim(0); ++row) {
      const auto weight = static_cast<double>(weights(row, pair.key));
      const Index query = trace_.token_index(tap.query_rows, weights.dim(0), row);
      if (row == pair.query || query == key || !(weight > pair.max_other)) continue;
      pair.max_other = weight;
      pair.max_word = word_name(word(query));
    }
  }

  void insert(SalientPair pair, Index query, Index key, std::vector<SalientPair>& best) const {
    pair.kind = kind(query, key);
    pair.query_word = word_name(word(query));
    pair.key_word = word_name(word(key));
    const auto position = std::ranges::upper_bound(best, pair.score, std::greater(),
                                                   [](const SalientPair& p) { return p.score; });
    best.insert(position, std::move(pair));
    if (best.size() > kMaxPerHead) best.pop_back();
  }

  double surprisal_of(Index word) const {
    return has_surprisals_ ? surprisals_[static_cast<std::size_t>(word)] : 1;
  }
  double kind_factor(Index query, Index key) const {
    const PairKind pair_kind = kind(query, key);
    const bool is_known = pair_kind == PairKind::Induction || pair_kind == PairKind::Bracket ||
                          pair_kind == PairKind::Pronoun;
    return is_known ? kKindFactor : 1;
  }

  bool is_bracket_pair(Index query, Index key) const {
    const std::string_view opening = opening_of(word(query));
    return key < query && !opening.empty() && word_name(word(key)) == opening;
  }
  bool may_pair(Index query, Index key) const {
    return (has_content(word(query)) && has_content(word(key))) || is_bracket_pair(query, key);
  }

  // Equal texts have equal ids; unknown ids are -1. The key must not be the first word.
  PairKind kind(Index query, Index key) const {
    const std::int32_t id = word(query).id;
    if (id >= 0 && word(key).id == id) return PairKind::SameWord;
    if (query < key) return PairKind::Distant;
    if (is_bracket_pair(query, key)) return PairKind::Bracket;
    if (id >= 0 && word(key - 1).id == id) return PairKind::Induction;
    if (is_pronoun(word(query)) && !is_pronoun(word(key))) return PairKind::Pronoun;
    return PairKind::Distant;
  }

  const WordTrace& words_;
  const Trace& trace_;
  const std::vector<double> surprisals_;
  const std::vector<TraceToken>* tokens_ = nullptr;
  bool has_surprisals_ = false;  // surprisals_ belong to tokens_
  std::vector<SalientPair> pairs_;
};

bool is_within_text(const AttentionTap& tap) {
  return tap.address.kind == AttentionKind::Self && tap.query_rows.stream == tap.key_rows.stream;
}

// Selects pairs by score; each halves the scores of remaining pairs with its head, query or key.
std::vector<SalientPair> select_diverse(std::vector<SalientPair> pairs, std::size_t count) {
  std::vector<SalientPair> result;
  while (!pairs.empty() && result.size() < count) {
    const auto next = std::ranges::max_element(pairs, {}, &SalientPair::score);
    result.push_back(*next);
    pairs.erase(next);
    for (SalientPair& pair : pairs) {
      for (const bool is_same : {pair.at == result.back().at, pair.query == result.back().query,
                                 pair.key == result.back().key}) {
        if (is_same) pair.score /= 2;
      }
    }
  }
  return result;
}

// Candidates of all heads, in any order.
std::vector<SalientPair> search(const Trace& trace, Progress* progress) {
  const std::string refusal = salient_pairs_refusal(trace);
  if (!refusal.empty()) throw InputError(refusal);
  const std::shared_ptr<const WordTrace> words = merge_words(trace);
  PairSearch search(trace, *words);
  const std::vector<AttentionTap>& taps = words->trace.attention;
  if (progress != nullptr) progress->begin_stage("searching for pairs of words", 0, 1);
  double progress_fraction = 0;
  for (const AttentionTap& tap : taps) {
    if (is_within_text(tap)) search.add_pairs(tap);
    progress_fraction += 1 / static_cast<double>(taps.size());
    if (progress != nullptr) progress->set_stage_fraction(progress_fraction);
  }
  return search.pairs();
}

}  // namespace

std::string word_name(const TraceToken& word) {
  const std::size_t first = word.bytes.find_first_not_of(' ');
  return first == std::string::npos ? word.label : visible(word.bytes.substr(first));
}

std::string name_of(PairKind kind) {
  switch (kind) {
    case PairKind::Induction:
      return "goes_on";
    case PairKind::SameWord:
      return "same_word";
    case PairKind::Bracket:
      return "bracket";
    case PairKind::Pronoun:
      return "pronoun";
    default:
      return "looks_far";
  }
}

std::string salient_pairs_refusal(const Trace& trace) {
  if (trace.pixels != nullptr) return "The tokens of this run are pixels, not words.";
  if (std::ranges::none_of(trace.attention, is_within_text)) {
    return "This run has no attention between words of one text.";
  }
  const std::size_t length = std::max(trace.text_tokens().size(), trace.tokens.size());
  if (static_cast<Index>(length) > kMaxSalientTokens) {
    return "This text has more than " + grouped(kMaxSalientTokens) + " tokens: too many to search.";
  }
  return "";
}

std::vector<SalientPair> find_salient_pairs(const Trace& trace, std::size_t max_pairs,
                                            Progress* progress) {
  std::vector<SalientPair> pairs = select_diverse(search(trace, progress), max_pairs);
  std::ranges::stable_partition(pairs, std::not_fn(is_exceeded));
  return pairs;
}

std::optional<SalientPair> most_salient_pair(const Trace& trace, Index query) {
  std::optional<SalientPair> best;
  for (SalientPair& pair : search(trace, nullptr)) {
    if (pair.query == query && (!best || pair.score > best->score)) best = std::move(pair);
  }
  return best;
}

void point_at(const SalientPair& pair, const AddressParts& parts, ViewSettings& settings) {
  settings.layer = pair.at.layer;
  settings.head = pair.at.head;
  settings.part = {};
  if (parts.stack) settings.part.stack = pair.at.part.stack;
  if (parts.kind) settings.part.kind = pair.at.part.kind;
  if (parts.step) settings.part.step = pair.at.part.step;
  if (parts.segment) settings.part.segment = pair.at.part.segment;
  settings.pinned_query = settings.found_query = pair.query;
  settings.pinned_key = settings.found_key = pair.key;
  settings.row = settings.column = settings.height = settings.width = 0;
  if (pair.is_merged) settings.words = true;
}

bool is_exceeded(const SalientPair& pair) {
  return pair.max_other > pair.weight;
}

std::string sentence(const SalientPair& pair) {
  const std::string query = "“" + pair.query_word + "”", key = "“" + pair.key_word + "”";
  std::string text = query + " looks at ";
  if (pair.kind == PairKind::SameWord) text += pair.words > 0 ? "the earlier " : "the later ";
  text += key;
  if (pair.kind == PairKind::Induction) text += ", which followed the earlier " + query + ",";
  text += " with " + percent(pair.weight) + "; the other words give " + key + " " +
          percent(pair.other_weight) + " on average";
  if (pair.max_other > kNamedShare * pair.weight) {
    text += ", “" + pair.max_word + "” " + percent(pair.max_other);
  }
  return text;
}

}  // namespace attnscope
