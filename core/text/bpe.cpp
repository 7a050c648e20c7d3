#include "core/text/bpe.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/text/byte_alphabet.h"
#include "core/text/expression.h"
#include "core/text/file/tokenizer_files.h"
#include "core/text/split/pieces.h"

namespace attnscope {
namespace {

constexpr std::int32_t kBytes = 256;

using Pair = std::pair<std::int32_t, std::int32_t>;
struct PairHash {
  std::size_t operator()(const Pair& p) const {
    return (static_cast<std::size_t>(p.first) << 32 ^ static_cast<std::size_t>(p.second)) *
           0x9e3779b97f4a7c15u;
  }
};

// A distinct piece of the text after the merges learned so far.
struct Word {
  std::vector<std::int32_t> ids;
  std::int64_t count = 0;  // occurrences in the text
};

struct PairCount {
  std::int64_t count = 0;
  std::vector<std::uint32_t> words;  // words that contain or contained the pair
};

struct QueuedPair {
  std::int64_t count;
  Pair pair;
  bool operator<(const QueuedPair& other) const {
    return std::tie(count, other.pair) < std::tie(other.count, pair);
  }
};

std::vector<Word> distinct_pieces(std::string_view text) {
  std::unordered_map<std::string_view, std::size_t> word_indices;
  std::vector<Word> words;
  Expression(kGpt2Expression, "GPT-2").each(text, [&](std::size_t begin, std::size_t end) {
    const std::string_view piece = text.substr(begin, end - begin);
    const auto [entry, is_new] = word_indices.emplace(piece, words.size());
    if (is_new) {
      words.emplace_back();
      for (const char c : piece) words.back().ids.push_back(static_cast<unsigned char>(c));
    }
    ++words[entry->second].count;
  });
  return words;
}

// Vocabulary and merges in the order in which they were learned.
struct LearnedVocabulary {
  std::vector<std::string> tokens;  // by id; the 256 bytes first
  std::vector<Pair> merges;
};

LearnedVocabulary byte_vocabulary() {
  LearnedVocabulary learned;
  for (int b = 0; b < kBytes; ++b) learned.tokens.emplace_back(1, static_cast<char>(b));
  return learned;
}

class Trainer {
 public:
  explicit Trainer(std::string_view text) : words_(distinct_pieces(text)) {
    for (std::int32_t b = 0; b < kBytes; ++b)
      ids_[learned_.tokens[static_cast<std::size_t>(b)]] = b;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      const Word& word = words_[w];
      for (std::size_t i = 0; i + 1 < word.ids.size(); ++i) {
        count({word.ids[i], word.ids[i + 1]}, word.count, w);
      }
    }
    for (const auto& [pair, entry] : pairs_) queue_.push({entry.count, pair});
  }

  // Merges the most frequent pair. Returns false if no pair remains.
  bool merge() {
    while (!queue_.empty()) {
      const QueuedPair best = queue_.top();
      queue_.pop();
      const auto found = pairs_.find(best.pair);
      const std::int64_t current_count = found == pairs_.end() ? 0 : found->second.count;
      if (current_count == 0) continue;
      if (current_count != best.count) {  // other merges changed the count
        queue_.push({current_count, best.pair});
        continue;
      }
      learned_.merges.push_back(best.pair);
      merge_in_words(best.pair, merge_id(best.pair));
      return true;
    }
    return false;
  }

  const LearnedVocabulary& learned() const { return learned_; }

 private:
  // Id of the merged token. Equal tokens share an id: "a" + "bc" and "ab" + "c".
  std::int32_t merge_id(Pair pair) {
    std::string token = learned_.tokens[static_cast<std::size_t>(pair.first)] +
                        learned_.tokens[static_cast<std::size_t>(pair.second)];
    const auto id = static_cast<std::int32_t>(learned_.tokens.size());
    const auto [entry, is_new] = ids_.emplace(token, id);
    if (is_new) learned_.tokens.push_back(std::move(token));
    return entry->second;
  }

  void count(Pair pair, std::int64_t change, std::size_t word) {
    PairCount& entry = pairs_[pair];
    entry.count += change;
    if (change > 0 && (entry.words.empty() || entry.words.back() != word)) {
      entry.words.push_back(static_cast<std::uint32_t>(word));
    }
  }

  void merge_in_words(Pair pair, std::int32_t id) {
    std::vector<std::uint32_t> words = std::move(pairs_[pair].words);
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::vector<Pair> new_pairs;
    for (const std::uint32_t w : words) merge_in_word(w, pair, id, new_pairs);
    pairs_.erase(pair);
    // Only pairs with `id` became more frequent; merge() corrects queued counts that decreased.
    std::sort(new_pairs.begin(), new_pairs.end());
    new_pairs.erase(std::unique(new_pairs.begin(), new_pairs.end()), new_pairs.end());
    for (const Pair& p : new_pairs) {
      const auto found = pairs_.find(p);
      if (found != pairs_.end()) queue_.push({found->second.count, p});
    }
  }

  void merge_in_word(std::uint32_t w, Pair pair, std::int32_t id, std::vector<Pair>& new_pairs) {
    Word& word = words_[w];
    std::vector<std::int32_t>& ids = word.ids;
    std::vector<std::int32_t> merged;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool is_pair = i + 1 < ids.size() && ids[i] == pair.first && ids[i + 1] == pair.second;
      merged.push_back(is_pair ? id : ids[i]);
      i += is_pair;
    }
    if (merged.size() == ids.size()) return;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) count({ids[i], ids[i + 1]}, -word.count, w);
    for (std::size_t i = 0; i + 1 < merged.size(); ++i) {
      const Pair p{merged[i], merged[i + 1]};
      count(p, word.count, w);
      if (p.first == id || p.second == id) new_pairs.push_back(p);
    }
    ids = std::move(merged);
  }

  LearnedVocabulary learned_ = byte_vocabulary();
  std::unordered_map<std::string, std::int32_t> ids_;
  std::vector<Word> words_;
  std::unordered_map<Pair, PairCount, PairHash> pairs_;
  std::priority_queue<QueuedPair> queue_;
};

// Builds the tokenizer through tokenizer.json, so that a saved tokenizer equals the trained one.
std::shared_ptr<const Tokenizer> build_tokenizer(const LearnedVocabulary& learned) {
  const auto list = [](std::string& lines, const std::string& line) {
    lines += (lines.empty() ? "\n   " : ",\n   ") + line;
  };
  std::string vocabulary, merges;  // in order of id and merge, as in published files
  for (std::size_t id = 0; id < learned.tokens.size(); ++id) {
    list(vocabulary, Json(to_byte_alphabet(learned.tokens[id])).dump() + ": " + std::to_string(id));
  }
  for (const auto& [left, right] : learned.merges) {
    list(merges, Json(to_byte_alphabet(learned.tokens[static_cast<std::size_t>(left)]) + " " +
                      to_byte_alphabet(learned.tokens[static_cast<std::size_t>(right)]))
                     .dump());
  }
  if (!merges.empty()) merges += "\n  ";
  const std::string text = R"({
 "version": "1.0",
 "truncation": null,
 "padding": null,
 "added_tokens": [],
 "normalizer": null,
 "pre_tokenizer": {
  "type": "ByteLevel",
  "add_prefix_space": false,
  "trim_offsets": true,
  "use_regex": true
 },
 "post_processor": null,
 "decoder": {
  "type": "ByteLevel",
  "add_prefix_space": false,
  "trim_offsets": true,
  "use_regex": true
 },
 "model": {
  "type": "BPE",
  "dropout": null,
  "unk_token": null,
  "continuing_subword_prefix": null,
  "end_of_word_suffix": null,
  "fuse_unk": false,
  "byte_fallback": false,
  "vocab": {)" + vocabulary +
                           R"(
  },
  "merges": [)" + merges + R"(]
 }
})";
  return tokenizer_from_files({{"tokenizer.json", text}}, "trained tokenizer");
}

}  // namespace

std::shared_ptr<const Tokenizer> train_bpe(std::string_view text, std::int32_t vocabulary,
                                           const std::function<void(double)>& progress) {
  if (vocabulary < kBytes) {
    throw InputError("BPE vocabulary " + std::to_string(vocabulary) + ": expected at least 256");
  }
  if (vocabulary == kBytes) return byte_tokenizer();
  if (progress) progress(0);
  Trainer trainer(text);
  const auto size = static_cast<std::size_t>(vocabulary);
  while (trainer.learned().tokens.size() < size && trainer.merge()) {
    const auto learned = static_cast<double>(trainer.learned().tokens.size() - kBytes);
    if (progress) progress(learned / (vocabulary - kBytes));
  }
  return build_tokenizer(trainer.learned());
}

std::shared_ptr<const Tokenizer> byte_tokenizer() {
  return build_tokenizer(byte_vocabulary());
}

}  // namespace attnscope
