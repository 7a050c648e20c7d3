#include "core/experiment/striking.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "core/analysis/words.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/trace/key_token.h"

namespace attnscope {
namespace {

constexpr std::size_t kMostOfHead = 8;  // that are compared with those of other heads
constexpr double kLiked = 2;            // what habits are worth that have a name
constexpr Index kFirstRefused = 0;      // the word at which heads rest

// Whether there is more to it than punctuation. What stands for no text counts.
bool says_something(const TraceToken& word) {
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

// What each word cost, as a factor of the score; empty: nothing was predicted.  [words]
std::vector<double> surprise(const Trace& trace, const WordTrace& words) {
  const Tensor& bits = trace.token_bits;
  if (!bits.defined() || bits.dim(0) != static_cast<Index>(trace.tokens.size())) return {};
  const IntTensor& starts = words.trace.counts.at(kWordStarts);
  std::vector<double> factors;
  for (Index w = 0; w + 1 < starts.size(); ++w) {
    double sum = 0;
    for (Index at = starts[w]; at < starts[w + 1]; ++at) {
      if (std::isfinite(bits[at])) sum += static_cast<double>(bits[at]);
    }
    factors.push_back(std::log1p(sum));
  }
  return factors;
}

// Searches one run of words.
class Search {
 public:
  Search(const Trace& trace, const WordTrace& words)
      : words_(words), trace_(words.trace), surprise_(surprise(trace, words)) {}

  void look_through(const AttentionTap& tap, const Stop& stop) {
    tokens_ = &trace_.tokens_of(tap.query_rows);
    predicted_ = tap.query_rows.stream.empty() && surprise_.size() == tokens_->size();
    const WordPairs& pieces = words_.of(tap);
    for (std::size_t n = 0; n < tap.heads.size(); ++n) {
      stop.check();
      const HeadRef at{tap.address.layer, tap.heads[n], part_of(tap.address)};
      std::vector<StrikingPair> best = of_head(tap, static_cast<Index>(n));
      for (StrikingPair& pair : best) {
        pair.at = at;
        pair.query = pieces.queries.begin(pair.query);
        pair.key = pieces.keys.begin(pair.key);
        found_.push_back(std::move(pair));
      }
    }
  }

  const std::vector<StrikingPair>& found() const { return found_; }

 private:
  const TraceToken& word(Index at) const { return (*tokens_)[static_cast<std::size_t>(at)]; }

  std::vector<StrikingPair> of_head(const AttentionTap& tap, Index head) const {
    const Tensor weights = tap.attention(head);  // [words, keys]
    std::vector<Index> key_words;                // of each column; -1: none of the text
    for (Index c = 0; c < weights.dim(1); ++c) {
      const Index at = key_token(trace_, tap, c);
      key_words.push_back(at > kFirstRefused && says_something(word(at)) ? at : -1);
    }
    const std::vector<double> usual = usual_weights(tap, weights);
    std::vector<StrikingPair> best;
    for (Index row = 0; row < weights.dim(0); ++row) {
      const Index query = trace_.token_index(tap.query_rows, weights.dim(0), row);
      if (query <= kFirstRefused || !says_something(word(query))) continue;
      for (Index c = 0; c < weights.dim(1); ++c) {
        const Index key = key_words[static_cast<std::size_t>(c)];
        const auto weight = static_cast<double>(weights(row, c));
        if (key < 0 || key == query || !(weight > 0)) continue;
        const Index words = query - key;
        const double more = weight - usual[static_cast<std::size_t>(c)] / 2;
        const double unliked =
            more * std::log1p(static_cast<double>(std::abs(words))) * worth(query) * worth(key);
        const double enough = best.size() == kMostOfHead ? best.back().score : 0;
        if (!(kLiked * unliked > enough)) continue;  // what habit it is takes longer to say
        const double score = unliked * liking(query, key);
        if (score > enough) insert({{}, row, c, words, weight, score}, query, key, best);
      }
    }
    return best;
  }

  // What a key gets from the queries that may see it, their mean: some are looked at by all.
  static std::vector<double> usual_weights(const AttentionTap& tap, const Tensor& weights) {
    std::vector<double> sums(static_cast<std::size_t>(weights.dim(1)), 0);
    std::vector<Index> counts(sums.size(), 0);
    const Index late = weights.dim(1) - weights.dim(0);  // of the first query behind the first key
    for (Index row = 0; row < weights.dim(0); ++row) {
      for (Index c = 0; c < weights.dim(1); ++c) {
        const auto weight = static_cast<double>(weights(row, c));
        if ((tap.causal && c > row + late) || !(weight >= 0)) continue;
        sums[static_cast<std::size_t>(c)] += weight;
        ++counts[static_cast<std::size_t>(c)];
      }
    }
    for (std::size_t c = 0; c < sums.size(); ++c) {
      if (counts[c] > 0) sums[c] /= static_cast<double>(counts[c]);
    }
    return sums;
  }

  void insert(StrikingPair pair, Index query, Index key, std::vector<StrikingPair>& best) const {
    pair.habit = habit(query, key);
    pair.query_word = name_of(word(query));
    pair.key_word = name_of(word(key));
    const auto after = std::ranges::upper_bound(best, pair.score, std::greater(),
                                                [](const StrikingPair& p) { return p.score; });
    best.insert(after, std::move(pair));
    if (best.size() > kMostOfHead) best.pop_back();
  }

  double worth(Index word) const {
    return predicted_ ? surprise_[static_cast<std::size_t>(word)] : 1;
  }
  double liking(Index query, Index key) const {
    const Habit shown = habit(query, key);
    return shown == Habit::GoesOn || shown == Habit::Pronoun ? kLiked : 1;
  }

  // Of equal texts the ids are equal, those that are not known are -1. The key is not the first
  // word.
  Habit habit(Index query, Index key) const {
    const std::int32_t id = word(query).id;
    if (id >= 0 && word(key).id == id) return Habit::SameWord;
    if (query < key) return Habit::LooksFar;
    if (id >= 0 && word(key - 1).id == id) return Habit::GoesOn;
    if (is_pronoun(word(query)) && !is_pronoun(word(key))) return Habit::Pronoun;
    return Habit::LooksFar;
  }

  const WordTrace& words_;
  const Trace& trace_;
  const std::vector<double> surprise_;
  const std::vector<TraceToken>* tokens_ = nullptr;
  bool predicted_ = false;  // whether surprise_ is of these tokens
  std::vector<StrikingPair> found_;
};

bool is_within_text(const AttentionTap& tap) {
  return tap.address.kind == AttentionKind::Self && tap.query_rows.stream == tap.key_rows.stream;
}

// Takes them one by one: each makes those of its head, its query and its key count half.
std::vector<StrikingPair> in_turn(std::vector<StrikingPair> pairs, std::size_t most) {
  std::vector<StrikingPair> taken;
  while (!pairs.empty() && taken.size() < most) {
    const auto next = std::ranges::max_element(pairs, {}, &StrikingPair::score);
    taken.push_back(*next);
    pairs.erase(next);
    for (StrikingPair& pair : pairs) {
      for (const bool alike : {pair.at == taken.back().at, pair.query == taken.back().query,
                               pair.key == taken.back().key}) {
        if (alike) pair.score /= 2;
      }
    }
  }
  return taken;
}

}  // namespace

std::string name_of(Habit habit) {
  switch (habit) {
    case Habit::GoesOn:
      return "goes_on";
    case Habit::SameWord:
      return "same_word";
    case Habit::Pronoun:
      return "pronoun";
    default:
      return "looks_far";
  }
}

std::string striking_refusal(const Trace& trace) {
  if (trace.pixels != nullptr) return "Its tokens are pixels: there are no words to point at.";
  if (std::ranges::none_of(trace.attention, is_within_text)) {
    return "No attention of this run is between words of one text.";
  }
  const std::size_t length = std::max(trace.text_tokens().size(), trace.tokens.size());
  if (static_cast<Index>(length) > kMostStrikingTokens) {
    return "This text has more than " + grouped(kMostStrikingTokens) +
           " tokens: too many to look through.";
  }
  return "";
}

std::vector<StrikingPair> striking_pairs(const Trace& trace, std::size_t most, const Stop& stop,
                                         Progress* progress) {
  const std::string refusal = striking_refusal(trace);
  if (!refusal.empty()) throw InputError(refusal);
  const std::shared_ptr<const WordTrace> words = in_words(trace);
  Search search(trace, *words);
  const std::vector<AttentionTap>& taps = words->trace.attention;
  if (progress != nullptr) progress->enter("looking for pairs of words", 0, 1);
  double done = 0;
  for (const AttentionTap& tap : taps) {
    if (is_within_text(tap)) search.look_through(tap, stop);
    done += 1 / static_cast<double>(taps.size());
    if (progress != nullptr) progress->reach(done);
  }
  return in_turn(search.found(), most);
}

void point_at(const StrikingPair& pair, const AddressParts& parts, ViewSettings& settings) {
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

std::string sentence(const StrikingPair& pair) {
  const Index words = std::abs(pair.words);
  const std::string share = ", with " + fixed(100 * pair.weight, 0) + "% of its weight";
  const std::string way = pair.words > 0 ? "back " : "ahead ";
  const std::string far = way + grouped(words) + (words == 1 ? " word" : " words");
  const std::string query = "“" + pair.query_word + "” looks " + far;
  if (pair.habit == Habit::SameWord) return query + " at where the same word stood" + share;
  const std::string key = " at “" + pair.key_word + "”";
  if (pair.habit == Habit::GoesOn) {
    return query + key + ", which followed the last “" + pair.query_word + "”" + share;
  }
  return query + key + share;
}

}  // namespace attnscope
