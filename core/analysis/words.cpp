#include "core/analysis/words.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

#include "core/base/parallel.h"
#include "core/model/config.h"
#include "core/text/words.h"
#include "core/trace/tap_names.h"

namespace attnscope {

Index WordGroups::words_ending_by(Index row) const {
  return std::ranges::upper_bound(last, row) - last.begin();
}

Index WordGroups::words_starting_before(Index row) const {
  return std::ranges::lower_bound(first, row) - first.begin();
}

Index WordGroups::of(Index row) const {
  const Index word = words_ending_by(row);
  return word < count() && begin(word) <= row ? word : -1;
}

double WordGroups::to_words(double position) const {
  const Index word = words_ending_by(static_cast<Index>(std::floor(position)));
  if (count() == 0) return position;
  if (word == count()) return static_cast<double>(word);
  const double within =
      (position - static_cast<double>(begin(word))) / static_cast<double>(size(word));
  return static_cast<double>(word) + std::max(0.0, within);
}

double WordGroups::to_rows(double words) const {
  const double last_word = static_cast<double>(count()) - 1;
  if (last_word < 0) return words;
  const auto word = static_cast<Index>(std::clamp(words, 0.0, last_word));
  return static_cast<double>(begin(word)) +
         (words - static_cast<double>(word)) * static_cast<double>(size(word));
}

namespace {

// Word boundary marks of imported tokens.
enum class Marks { None, Spaces, Continued };

constexpr const char* kSpaceMarks[] = {"Ġ", "▁"};
constexpr const char* kContinued = "##";

Marks marks_of(const std::vector<TraceToken>& tokens) {
  const auto any_token = [&](const auto& has) { return std::ranges::any_of(tokens, has); };
  if (any_token([](const TraceToken& t) { return t.bytes.starts_with(kContinued); })) {
    return Marks::Continued;
  }
  const bool has_spaces = any_token([](const TraceToken& t) {
    return t.bytes.starts_with(' ') || t.bytes.starts_with(kSpaceMarks[0]) ||
           t.bytes.starts_with(kSpaceMarks[1]);
  });
  return has_spaces ? Marks::Spaces : Marks::None;
}

// Text of a token, without the boundary marks of imported ones.
std::string text_of(const TraceToken& token, Marks marks) {
  for (const char* mark : kSpaceMarks) {
    if (marks == Marks::Spaces && token.bytes.starts_with(mark)) {
      return " " + token.bytes.substr(std::string(mark).size());
    }
  }
  const bool is_continued = marks == Marks::Continued && token.bytes.starts_with(kContinued);
  return is_continued ? token.bytes.substr(std::string(kContinued).size()) : token.bytes;
}

bool has_texts(const std::vector<TraceToken>& tokens) {
  return std::ranges::any_of(tokens, [](const TraceToken& t) { return !t.bytes.empty(); });
}

// True for each token that begins a word.
std::vector<bool> word_starts(const Trace& trace, const std::vector<TraceToken>& tokens) {
  const Marks marks = trace.tokenizer ? Marks::None : marks_of(tokens);
  std::vector<bool> starts(tokens.size(), true);
  if (trace.tokenizer == nullptr && marks == Marks::None) return starts;
  if (marks == Marks::Continued) {
    for (std::size_t n = 1; n < tokens.size(); ++n) {
      starts[n] = !tokens[n].bytes.starts_with(kContinued);
    }
    return starts;
  }
  std::vector<WordPiece> pieces;
  for (const TraceToken& token : tokens) pieces.push_back({text_of(token, marks), token.special});
  return begins_word(pieces);
}

struct Words {
  std::vector<TraceToken> tokens;
  std::vector<Index> word_of;  // word of each token of the stream
};

Words words_of(const Trace& trace, const std::vector<TraceToken>& tokens, bool are_merged) {
  Words words;
  if (!are_merged) {
    words.tokens = tokens;
    words.word_of.resize(tokens.size());
    std::iota(words.word_of.begin(), words.word_of.end(), Index{0});
    return words;
  }
  const Marks marks = trace.tokenizer ? Marks::None : marks_of(tokens);
  const std::vector<bool> starts = word_starts(trace, tokens);
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    const TraceToken& token = tokens[n];
    if (starts[n] || words.tokens.empty()) {
      words.tokens.push_back(token);
      words.tokens.back().bytes = text_of(token, marks);
    } else {
      TraceToken& word = words.tokens.back();
      // Labels of word pieces omit the leading space, so the labels of merged words do, too.
      const bool omits_space = word.bytes.starts_with(' ') &&
                               word.label == visible(std::string_view(word.bytes).substr(1));
      word.bytes += text_of(token, marks);
      word.label = visible(std::string_view(word.bytes).substr(omits_space ? 1 : 0));
      word.end = token.end;
    }
    words.word_of.push_back(static_cast<Index>(words.tokens.size()) - 1);
  }
  return words;
}

// Assigns equal ids to equal texts, ignoring a leading space. Unknown ids stay unknown.
void assign_ids(std::vector<TraceToken>& words, std::map<std::string, std::int32_t>& ids) {
  for (TraceToken& word : words) {
    if (word.id < 0) continue;
    const std::size_t text = std::min(word.bytes.find_first_not_of(' '), word.bytes.size());
    const std::string name = word.bytes.empty() ? word.label : word.bytes.substr(text);
    word.id = ids.emplace(name, static_cast<std::int32_t>(ids.size())).first->second;
  }
}

// Queries of a tap, or a run of its columns, grouped by word.
struct GroupedRows {
  WordGroups groups;
  StreamRows rows;
};

// True for tokens inserted by the tokenizer, except the mask token, which the model predicts.
bool is_mark(const Trace& trace, const TraceToken& token) {
  return token.special && !(trace.config && token.id == mask_id(*trace.config));
}

GroupedRows group_rows(const Trace& trace, const StreamRows& rows, Index count, const Words& words,
                       bool without_special) {
  GroupedRows result;
  result.rows.stream = rows.stream;
  result.groups.rows = count;
  Index previous_word = -1;  // word of the previous row
  Index previous_token = -1;
  for (Index row = 0; row < count; ++row) {
    const Index token = trace.token_index(rows, count, row);
    const Index word = token < 0 ? -1 : words.word_of[static_cast<std::size_t>(token)];
    const bool is_word = word >= 0;
    if (is_word && without_special &&
        is_mark(trace, words.tokens[static_cast<std::size_t>(word)])) {
      previous_word = -1;
      continue;
    }
    // Rows that are not consecutive in the text are never merged.
    if (word >= 0 && word == previous_word && token == previous_token + 1) {
      ++result.groups.last.back();
    } else {
      result.groups.first.push_back(row);
      result.groups.last.push_back(row + 1);
      result.rows.indices.push_back(word < 0 ? std::numeric_limits<std::int32_t>::max()
                                             : static_cast<std::int32_t>(word));
    }
    previous_word = word;
    previous_token = token;
  }
  return result;
}

// Appends groups of further rows.
void append(WordGroups& groups, const WordGroups& next) {
  for (Index w = 0; w < next.count(); ++w) {
    groups.first.push_back(groups.rows + next.begin(w));
    groups.last.push_back(groups.rows + next.end(w));
  }
  groups.rows += next.rows;
}

WordGroups one_word_per_row(Index count) {
  WordGroups groups{{}, {}, count};
  for (Index row = 0; row < count; ++row) {
    groups.first.push_back(row);
    groups.last.push_back(row + 1);
  }
  return groups;
}

// A pair of words is allowed if any of its token pairs is allowed.
Pattern merged(const Pattern& pattern, const WordPairs& pairs) {
  PatternBuilder builder(pattern.heads(), pairs.queries.count(), pairs.keys.count(),
                         pattern.rules());
  for (Index head = 0; head < pattern.heads(); ++head) {
    for (Index word = 0; word < pairs.queries.count(); ++word) {
      for (Index row = pairs.queries.begin(word); row < pairs.queries.end(word); ++row) {
        for (const Run& run : pattern.row(head, row)) {
          if (run.count() <= 0) continue;
          if (run.step == 1) {
            const Index from = pairs.keys.words_ending_by(run.begin);
            const Index to = pairs.keys.words_starting_before(run.end);
            if (from < to) builder.add(run.rule, from, to);
            continue;
          }
          for (Index c = run.begin; c < run.end; c += run.step) {
            if (const Index w = pairs.keys.of(c); w >= 0) builder.add_column(run.rule, w);
          }
        }
      }
      builder.next_row();
    }
  }
  return builder.finish();
}

ByteTensor merged(const ByteTensor& mask, const WordPairs& pairs) {
  const Index rows = pairs.queries.rows, columns = pairs.keys.rows;
  const Index heads = mask.size() / (rows * columns);
  ByteTensor words = ByteTensor::zeros({heads, pairs.queries.count(), pairs.keys.count()});
  for (Index n = 0; n < mask.size(); ++n) {
    if (mask[n] == 0) continue;
    const Index query = pairs.queries.of(n / columns % rows), key = pairs.keys.of(n % columns);
    if (query >= 0 && key >= 0) words(n / columns / rows, query, key) = 1;
  }
  return words;
}

// Queries with at least one allowed key, [heads, L_q]; empty: all.
std::vector<bool> rows_with_keys(const Pattern& pattern, Index heads) {
  std::vector<bool> active;
  bool all_active = true;
  for (Index head = 0; head < heads; ++head) {
    for (Index i = 0; i < pattern.queries(); ++i) {
      active.push_back(!pattern.row(pattern.heads() == 1 ? 0 : head, i).empty());
      all_active &= active.back();
    }
  }
  return all_active ? std::vector<bool>() : active;
}

// Averages those rows [count, L_k] of a query word that is_counted() accepts; sums keys by word.
void add_word(const float* rows, Index count, const WordGroups& keys,
              const std::function<bool(Index)>& is_counted, std::vector<double>& sums, float* to) {
  std::ranges::fill(sums, 0.0);
  Index counted_rows = 0;
  for (Index r = 0; r < count; ++r) {
    if (!is_counted(r)) continue;
    ++counted_rows;
    const float* row = rows + r * keys.rows;
    for (Index w = 0; w < keys.count(); ++w) {
      double sum = 0;
      for (Index c = keys.begin(w); c < keys.end(w); ++c) sum += static_cast<double>(row[c]);
      sums[static_cast<std::size_t>(w)] += sum;
    }
  }
  const double row_weight = counted_rows > 0 ? 1 / static_cast<double>(counted_rows) : 0;
  for (Index w = 0; w < keys.count(); ++w) {
    to[w] = static_cast<float>(sums[static_cast<std::size_t>(w)] * row_weight);
  }
}

// Tiles of a map that is not stored, merged on request.
class WordTiles : public AttentionTiles {
 public:
  WordTiles(std::shared_ptr<const AttentionTiles> tiles, WordPairs pairs, std::vector<bool> active,
            Index heads)
      : tiles_(std::move(tiles)),
        pairs_(std::move(pairs)),
        active_(std::move(active)),
        heads_(heads) {}

  std::string note() const override { return tiles_->note(); }

  Tensor tile(const TileRequest& request) const override {
    check(request, heads_, pairs_.queries.count(), pairs_.keys.count());
    Tensor cells = Tensor::zeros({request.cell_rows(), request.cell_columns()});
    if (cells.empty()) return cells;
    for (Index n = 0; n < cells.dim(0); ++n) {
      const Index first = request.row + n * request.step;
      const Index end = std::min(first + request.step, request.row + request.height);
      float* row = cells.data() + n * cells.dim(1);
      if (request.sampled) {
        pool(request, (first + end) / 2, (first + end) / 2 + 1, row);
      } else {
        pool(request, first, end, row);
      }
    }
    return cells;
  }

 private:
  // Pools words [first, end) into one row of cells.
  void pool(const TileRequest& request, Index first, Index end, float* cells) const {
    constexpr Index kMaxWeights = Index{1} << 22;  // per request to the underlying tiles: 16 MiB
    const Index column = pairs_.keys.begin(request.column);
    const Index width = pairs_.keys.end(request.column + request.width - 1) - column;
    WordGroups keys{{}, {}, width};
    for (Index w = request.column; w < request.column + request.width; ++w) {
      keys.first.push_back(pairs_.keys.begin(w) - column);
      keys.last.push_back(pairs_.keys.end(w) - column);
    }
    std::vector<double> sums(static_cast<std::size_t>(request.width));
    std::vector<float> word(sums.size());
    const Index word_count = end - first;
    for (Index w = first; w < end;) {
      Index last = w + 1;  // as many words as fit
      const Index top = pairs_.queries.begin(w);
      while (last < end && (pairs_.queries.end(last) - top) * width <= kMaxWeights) ++last;
      const Tensor rows = tiles_->tile({.head = request.head,
                                        .row = top,
                                        .column = column,
                                        .height = pairs_.queries.end(last - 1) - top,
                                        .width = width});
      for (; w < last; ++w) {
        const Index begin = pairs_.queries.begin(w);
        add_word(
            rows.data() + (begin - top) * width, pairs_.queries.size(w), keys,
            [&](Index r) { return is_active(request.head, begin + r); }, sums, word.data());
        add_cells(request, word, word_count, cells);
      }
    }
  }

  bool is_active(Index head, Index row) const {
    return active_.empty() || active_[static_cast<std::size_t>(head * pairs_.queries.rows + row)];
  }

  // Adds the row of one word to a row of cells that pools `words` rows.
  static void add_cells(const TileRequest& request, const std::vector<float>& word, Index words,
                        float* cells) {
    for (Index c = 0; c < request.width; ++c) {
      float& cell = cells[c / request.step];
      const float weight = word[static_cast<std::size_t>(c)];
      if (request.pooling == Pooling::Mean) {
        const Index columns =
            std::min(request.step, request.width - c / request.step * request.step);
        cell += weight / static_cast<float>(words * columns);
      } else if (std::abs(weight) > std::abs(cell) || (weight > 0 && weight == -cell)) {
        cell = weight;
      }
    }
  }

  const std::shared_ptr<const AttentionTiles> tiles_;
  const WordPairs pairs_;
  const std::vector<bool> active_;  // [heads, L_q]; empty: all
  const Index heads_;
};

}  // namespace

Tensor merged(const Tensor& weights, const WordPairs& pairs, const std::vector<bool>& counts) {
  const Index rows = pairs.queries.rows, columns = pairs.keys.rows;
  const Index words = pairs.queries.count(), blocks = weights.size() / (rows * columns);
  Shape shape = weights.shape();
  shape[shape.size() - 2] = words;
  shape[shape.size() - 1] = pairs.keys.count();
  Tensor result(shape);
  parallel_for(blocks * words, 1 + kGrain / columns, [&](Index first, Index last) {
    std::vector<double> sums(static_cast<std::size_t>(pairs.keys.count()));
    for (Index n = first; n < last; ++n) {
      const Index from = n / words * rows + pairs.queries.begin(n % words);
      add_word(
          weights.data() + from * columns, pairs.queries.size(n % words), pairs.keys,
          [&](Index r) { return counts.empty() || counts[static_cast<std::size_t>(from + r)]; },
          sums, result.data() + n * pairs.keys.count());
    }
  });
  return result;
}

namespace {

class Merger {
 public:
  Merger(const Trace& trace, const WordMergeOptions& choice) : trace_(trace), choice_(choice) {
    words_.emplace("", words_of(trace, trace.tokens, choice.merged));
    for (const Stream& stream : trace.streams) {
      words_.emplace(stream.id, words_of(trace, stream.tokens, choice.merged));
    }
  }

  std::shared_ptr<const WordTrace> merge() {
    auto result = std::make_shared<WordTrace>();
    Trace& words = result->trace;
    words = trace_;
    words.logits = {};
    words.token_bits = {};
    words.taps.clear();
    words.counts.clear();
    std::erase_if(words.located, [](const Located<Tensor>& tap) {
      return !tap.name.starts_with(kLayerLoss);  // losses have no tokens
    });
    if (choice_.merged) set_words(words);
    if (choice_.without_special) {
      words.counts[kRemovedTokens] =
          IntTensor::from({1}, {static_cast<std::int32_t>(special_count())});
    }
    for (AttentionTap& tap : words.attention) {
      result->pairs.push_back(pairs_of(tap));
      merge(tap, result->pairs.back());
    }
    return result;
  }

 private:
  // Replaces the tokens of all streams by words.
  void set_words(Trace& words) const {
    const std::vector<Index>& word = words_.at("").word_of;
    IntTensor starts({static_cast<Index>(words_.at("").tokens.size()) + 1});
    starts[starts.size() - 1] = static_cast<std::int32_t>(word.size());
    for (std::size_t n = word.size(); n-- > 0;) starts[word[n]] = static_cast<std::int32_t>(n);
    words.counts[kWordStarts] = starts;
    std::map<std::string, std::int32_t> ids;
    words.tokens = words_.at("").tokens;
    assign_ids(words.tokens, ids);
    for (Stream& stream : words.streams) {
      stream.tokens = words_.at(stream.id).tokens;
      assign_ids(stream.tokens, ids);
    }
  }

  Index special_count() const {
    Index count = 0;
    for (const auto& [stream, words] : words_) {
      count += std::ranges::count_if(words.tokens,
                                     [&](const TraceToken& t) { return is_mark(trace_, t); });
    }
    return count;
  }

  GroupedRows group(const StreamRows& rows, Index count) const {
    return group_rows(trace_, rows, count, words_.at(rows.stream), choice_.without_special);
  }

  // Groups a tap's rows and columns by word, and updates the tap's row references.
  WordPairs pairs_of(AttentionTap& tap) const {
    GroupedRows queries = group(tap.query_rows, tap.queries());
    WordGroups key_groups{{}, {}, 0};
    StreamRows keys;
    if (tap.result.columns.empty()) {
      GroupedRows tokens = group(tap.key_rows, tap.keys());
      key_groups = std::move(tokens.groups);
      keys = std::move(tokens.rows);
    }
    for (auto& [kind, count] : tap.result.columns) {
      if (kind != KeyKind::Token) {
        append(key_groups, one_word_per_row(count));
        continue;
      }
      GroupedRows tokens = group(tap.key_rows, count);
      append(key_groups, tokens.groups);
      count = tokens.groups.count();
      keys = std::move(tokens.rows);
    }
    tap.query_rows = std::move(queries.rows);
    tap.key_rows = std::move(keys);
    return {std::move(queries.groups), std::move(key_groups)};
  }

  static void merge(AttentionTap& tap, const WordPairs& pairs) {
    const auto heads = static_cast<Index>(tap.heads.size());
    OperationRecord result;
    const OperationRecord& original = tap.result;
    const std::vector<bool> active = rows_with_keys(*original.pattern, heads);
    if (original.attention.defined()) {
      result.attention = merged(original.attention, pairs, active);
    } else if (original.device) {
      result.attention = merged(original.device->download(), pairs, active);
    } else if (original.tiles) {
      result.tiles = std::make_shared<WordTiles>(original.tiles, pairs, active, heads);
    }
    if (original.mask.defined()) result.mask = merged(original.mask, pairs);
    result.pattern = std::make_shared<const Pattern>(merged(*original.pattern, pairs));
    result.columns = original.columns;
    result.remarks = original.remarks;
    tap.result = std::move(result);
    tap.vectors = tap.vectors.part_only();
    tap.combine_heads = {};
  }

  const Trace& trace_;
  const WordMergeOptions choice_;
  std::map<std::string, Words> words_;  // by stream; "": Trace::tokens
};

}  // namespace

const WordPairs& WordTrace::of(const AttentionTap& tap) const {
  const auto it = std::ranges::find(trace.attention, tap.address, &AttentionTap::address);
  if (it == trace.attention.end()) throw std::logic_error("no words of this attention");
  return pairs[static_cast<std::size_t>(it - trace.attention.begin())];
}

std::string words_refusal(const Trace& trace) {
  if (trace.attention.empty()) return "there is no attention";
  std::vector<const std::vector<TraceToken>*> streams{&trace.tokens};
  for (const Stream& stream : trace.streams) streams.push_back(&stream.tokens);
  bool has_text = false, has_marks = false;
  for (const std::vector<TraceToken>* tokens : streams) {
    has_text |= has_texts(*tokens) && (tokens->empty() || tokens->front().id >= 0);
    has_marks |= trace.tokenizer != nullptr || marks_of(*tokens) != Marks::None;
    const std::vector<bool> starts = word_starts(trace, *tokens);
    if (std::ranges::find(starts, false) != starts.end()) return "";
  }
  if (!has_text) return "its tokens have no text";
  if (!has_marks) return "its tokens have no word boundary marks (\"Ġ\", \"▁\" or \"##\")";
  return "no word of this text has several tokens";
}

std::string special_refusal(const Trace& trace) {
  if (trace.attention.empty()) return "there is no attention";
  bool has_other = false, has_special = false;
  const auto check_tokens = [&](const std::vector<TraceToken>& tokens) {
    for (const TraceToken& token : tokens) (is_mark(trace, token) ? has_special : has_other) = true;
  };
  check_tokens(trace.tokens);
  for (const Stream& stream : trace.streams) check_tokens(stream.tokens);
  if (!has_special) return "this text has no special tokens";
  return has_other ? "" : "this text has only special tokens";
}

std::shared_ptr<const WordTrace> merge_words(const Trace& trace, const WordMergeOptions& choice) {
  return Merger(trace, choice).merge();
}

}  // namespace attnscope
