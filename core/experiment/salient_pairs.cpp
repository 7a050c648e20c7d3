#include "core/experiment/salient_pairs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "core/analysis/words.h"
#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/figure/plain_text.h"
#include "core/trace/key_token.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxPerHead = 8;  // candidates per head
constexpr double kKindFactor = 2;       // factor of induction and pronouns
constexpr Index kFirstWord = 0;         // first word, often an attention sink

// True if a word is more than punctuation; tokens without text count as words.
bool has_content(const TraceToken& word) {
  if (word.special) return false;
  return word.bytes.empty() || std::ranges::any_of(word.bytes, [](unsigned char c) {
           return std::isalnum(c) != 0 || c >= 0x80;
         });
}

std::string name_of(const TraceToken& word) {
  const std::size_t first = word.bytes.find_first_not_of(' ');
  return first == std::string::npos ? word.label : visible(word.bytes.substr(first));
}

bool is_pronoun(const TraceToken& word) {
  static const std::set<std::string, std::less<>> kPronouns{
      "he",      "him",        "himself", "his",    "she",  "her",  "hers",
      "herself", "it",         "its",     "itself", "they", "them", "their",
      "theirs",  "themselves", "who",     "whom",   "whose"};
  std::string name = name_of(word);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return kPronouns.contains(name);
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
    for (std::size_t n = 0; n < tap.heads.size(); ++n) {
      check_stop();
      const HeadRef head{tap.address.layer, tap.heads[n], part_of(tap.address)};
      std::vector<SalientPair> best = find_best(tap, static_cast<Index>(n));
      for (SalientPair& pair : best) {
        pair.at = head;
        pair.query = word_ranges.queries.begin(pair.query);
        pair.key = word_ranges.keys.begin(pair.key);
        pairs_.push_back(std::move(pair));
      }
    }
  }

  const std::vector<SalientPair>& pairs() const { return pairs_; }

 private:
  const TraceToken& word(Index index) const { return (*tokens_)[static_cast<std::size_t>(index)]; }

  std::vector<SalientPair> find_best(const AttentionTap& tap, Index head) const {
    const Tensor weights = tap.attention(head);  // [words, keys]
    std::vector<Index> key_words;                // word of each column; -1 if outside the text
    for (Index c = 0; c < weights.dim(1); ++c) {
      const Index index = key_token(trace_, tap, c);
      key_words.push_back(index > kFirstWord && has_content(word(index)) ? index : -1);
    }
    const std::vector<ColumnSum> columns = column_sums(tap, weights);
    std::vector<SalientPair> best;
    for (Index row = 0; row < weights.dim(0); ++row) {
      const Index query = trace_.token_index(tap.query_rows, weights.dim(0), row);
      if (query <= kFirstWord || !has_content(word(query))) continue;
      for (Index c = 0; c < weights.dim(1); ++c) {
        const Index key = key_words[static_cast<std::size_t>(c)];
        const auto weight = static_cast<double>(weights(row, c));
        if (key < 0 || key == query || !(weight > 0)) continue;
        const Index gap = query - key;
        const ColumnSum& column = columns[static_cast<std::size_t>(c)];
        const double excess = weight - column.mean() / 2;
        const double base_score = excess * std::log1p(static_cast<double>(std::abs(gap))) *
                                  surprisal_of(query) * surprisal_of(key);
        const double score_limit = best.size() == kMaxPerHead ? best.back().score : 0;
        if (!(kKindFactor * base_score > score_limit)) continue;  // skips the slower classification
        const double score = base_score * kind_factor(query, key);
        if (!(score > score_limit)) continue;
        insert({{}, row, c, gap, weight, column.mean_without(weight), score}, query, key, best);
      }
    }
    return best;
  }

  // Weights of a key over the queries that may see it. Their mean is high for attention sinks.
  struct ColumnSum {
    double sum = 0;
    Index count = 0;
    double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
    double mean_without(double weight) const {
      return count > 1 ? std::max(0.0, (sum - weight) / static_cast<double>(count - 1))
                       : std::numeric_limits<double>::quiet_NaN();
    }
  };

  static std::vector<ColumnSum> column_sums(const AttentionTap& tap, const Tensor& weights) {
    std::vector<ColumnSum> columns(static_cast<std::size_t>(weights.dim(1)));
    const Index offset = weights.dim(1) - weights.dim(0);  // keys before the first query
    for (Index row = 0; row < weights.dim(0); ++row) {
      for (Index c = 0; c < weights.dim(1); ++c) {
        const auto weight = static_cast<double>(weights(row, c));
        if ((tap.causal && c > row + offset) || !(weight >= 0)) continue;
        columns[static_cast<std::size_t>(c)].sum += weight;
        ++columns[static_cast<std::size_t>(c)].count;
      }
    }
    return columns;
  }

  void insert(SalientPair pair, Index query, Index key, std::vector<SalientPair>& best) const {
    pair.kind = kind(query, key);
    pair.query_word = name_of(word(query));
    pair.key_word = name_of(word(key));
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
    return pair_kind == PairKind::Induction || pair_kind == PairKind::Pronoun ? kKindFactor : 1;
  }

  // Equal texts have equal ids; unknown ids are -1. The key must not be the first word.
  PairKind kind(Index query, Index key) const {
    const std::int32_t id = word(query).id;
    if (id >= 0 && word(key).id == id) return PairKind::SameWord;
    if (query < key) return PairKind::Distant;
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

}  // namespace

std::string name_of(PairKind kind) {
  switch (kind) {
    case PairKind::Induction:
      return "goes_on";
    case PairKind::SameWord:
      return "same_word";
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
  return select_diverse(search.pairs(), max_pairs);
}

void point_at(const SalientPair& pair, const AddressParts& parts, ViewSettings& settings) {
  settings.layer = pair.at.layer;
  settings.head = pair.at.head;
  settings.part = {};
  if (parts.stack) settings.part.stack = pair.at.part.stack;
  if (parts.kind) settings.part.kind = pair.at.part.kind;
  if (parts.step) settings.part.step = pair.at.part.step;
  if (parts.segment) settings.part.segment = pair.at.part.segment;
  settings.pinned_query = pair.query;
  settings.pinned_key = pair.key;
  settings.row = settings.column = settings.height = settings.width = 0;
}

std::string sentence(const SalientPair& pair) {
  const Index count = std::abs(pair.words);
  std::string weight_text = ": " + percent(pair.weight);
  if (!std::isnan(pair.other_weight)) {
    weight_text += " (other words: " + percent(pair.other_weight) + " on average)";
  }
  const std::string direction = pair.words > 0 ? " back" : " ahead";
  const std::string distance = grouped(count) + (count == 1 ? " word" : " words") + direction;
  const std::string query = "“" + pair.query_word + "” attends " + distance;
  if (pair.kind == PairKind::SameWord) return query + " to the same word" + weight_text;
  const std::string key = " to “" + pair.key_word + "”";
  if (pair.kind == PairKind::Induction) {
    return query + key + ", which followed the last “" + pair.query_word + "”" + weight_text;
  }
  return query + key + weight_text;
}

}  // namespace attnscope
