#include "core/experiment/head_table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/analysis/words.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/experiment/run.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

using Sums = std::map<HeadRef, HeadStatisticsSum>;

// Key column from which distances are counted. Returns the number of keys, which disables
// distances, if no key is a token of the queries' stream.
Index distance_origin(const AttentionTap& tap) {
  const bool is_single_stream = tap.query_rows.stream == tap.key_rows.stream;
  const Index column = is_single_stream ? first_token_column(tap) : -1;
  return column >= 0 ? column : tap.keys();
}

// Token ids of a tap's queries; empty if some are unknown or the keys are of another stream.
std::vector<std::int32_t> known_ids(const Trace& trace, const AttentionTap& tap) {
  if (tap.query_rows.stream != tap.key_rows.stream) return {};
  const std::vector<TraceToken>& tokens = trace.tokens_of(tap.query_rows);
  std::vector<std::int32_t> ids;
  for (Index i = 0; i < tap.queries(); ++i) {
    const Index index = trace.token_index(tap.query_rows, tap.queries(), i);
    if (index < 0 || tokens[static_cast<std::size_t>(index)].id < 0) return {};
    ids.push_back(tokens[static_cast<std::size_t>(index)].id);
  }
  return ids;
}

// Separate: one table row per segment and head. Merged: one row per head, for several texts, whose
// numbers of segments differ.
enum class Segments { Separate, Merged };

void add(const Trace& trace, Segments segments, Sums& sums,
         const std::optional<TracePart>& only = std::nullopt) {
  for (const AttentionTap& tap : trace.attention) {
    if (only && part_of(tap.address) != *only) continue;
    const std::vector<std::int32_t> ids = known_ids(trace, tap);
    TracePart part = part_of(tap.address);
    if (segments == Segments::Merged) part.segment = 0;
    std::vector<HeadStatisticsSum*> head_sums;
    for (const Index head : tap.heads) head_sums.push_back(&sums[{tap.address.layer, head, part}]);
    const auto add_heads = [&](Index first, Index last) {
      for (Index n = first; n < last; ++n) {
        head_sums[static_cast<std::size_t>(n)]->add(tap.attention(n), ids, distance_origin(tap));
      }
    };
    // Attention computed on demand uses all cores for each head, so heads are measured in sequence.
    const auto count = static_cast<Index>(tap.heads.size());
    const Index grain = tap.result.attention.defined()
                            ? 1 + kGrain / std::max<Index>(1, tap.queries() * tap.keys())
                            : count;
    parallel_for(count, grain, add_heads);
  }
}

HeadTable to_table(const Sums& sums) {
  HeadTable table;
  for (const auto& [head, sum] : sums) table.rows.push_back({head, sum.means()});
  std::ranges::stable_sort(table.rows, {}, [](const HeadTable::Row& row) { return row.at.part; });
  return table;
}

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// Paragraphs between blank lines, each with its byte offset.
std::vector<std::pair<std::size_t, std::string_view>> paragraphs(std::string_view text) {
  std::vector<std::pair<std::size_t, std::string_view>> result;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size()) {  // finds the end of a line that is followed by a blank one
      end = std::min(text.find('\n', end), text.size());
      std::size_t next = end + 1;
      while (next < text.size() && text[next] != '\n' && is_space(text[next])) ++next;
      if (next >= text.size() || text[next] == '\n') break;
      ++end;
    }
    const std::string_view piece = text.substr(begin, end - begin);
    if (!std::all_of(piece.begin(), piece.end(), is_space)) result.emplace_back(begin, piece);
    begin = end;
    while (begin < text.size() && is_space(text[begin])) ++begin;
  }
  return result;
}

// Prefix of at most `max_bytes` bytes, cut between words if possible.
std::string_view prefix(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  const std::size_t space = text.rfind(' ', max_bytes);
  return text.substr(0, space == std::string_view::npos || space == 0 ? max_bytes : space);
}

}  // namespace

const std::vector<HeadMeasure>& head_measures() {
  constexpr const char* kRepeats = "repeated tokens";
  static const std::vector<HeadMeasure> list{
      {"entropy", "entropy", "Mean entropy of the rows in bits: high for diffuse attention.",
       &HeadStatistics::entropy, "word_entropy", "entropy of words", "bits", "bits"},
      {"distance", "mean distance", "Mean distance of the weights in tokens.",
       &HeadStatistics::distance, "word_distance", "mean distance in words", "tokens", "words"},
      {"first_token", "share on the first token", "Mean weight on the first token.",
       &HeadStatistics::first_token, "first_word", "share on the first word"},
      {"previous_token", "share on the previous token", "Mean weight on the previous token.",
       &HeadStatistics::previous_token, "previous_word", "share on the previous word"},
      {"same_token", "share on the same token",
       "Mean weight on earlier occurrences of the query's token.", &HeadStatistics::same_token,
       "same_word", "share on the same word", "", "", kRepeats},
      {"induction", "induction score",
       "Mean weight on tokens that followed earlier occurrences of the query's token.",
       &HeadStatistics::induction, "word_induction", "induction score of words", "", "", kRepeats}};
  return list;
}

const HeadStatistics* HeadTable::find(const HeadRef& at) const {
  HeadRef row_ref = at;
  if (has_merged_segments) row_ref.part.segment = 0;
  const auto row = std::ranges::find(rows, row_ref, &Row::at);
  return row != rows.end() ? &row->statistics : nullptr;
}

Index first_token_column(const AttentionTap& tap) {
  if (tap.result.columns.empty()) return 0;
  Index column = 0;
  for (const auto& [kind, count] : tap.result.columns) {
    if (kind == KeyKind::Token && count > 0) return column;
    column += count;
  }
  return -1;
}

HeadStatistics head_statistics(const Trace& trace, const AttentionTap& tap, Index head_in_group) {
  return head_statistics(tap.attention(head_in_group), known_ids(trace, tap), distance_origin(tap));
}

HeadBaseline head_baseline(const Trace& trace, const AttentionTap& tap, Index head_in_group) {
  return head_baseline(*tap.result.pattern, head_in_group, known_ids(trace, tap),
                       distance_origin(tap));
}

HeadTable head_table(const Trace& trace, const std::optional<TracePart>& only) {
  Sums sums;
  add(trace, Segments::Separate, sums, only);
  HeadTable table = to_table(sums);
  table.parts = trace.parts;
  table.words = has_merged_words(trace);
  table.texts = 1;
  table.tokens = static_cast<Index>(trace.tokens.size());
  return table;
}

HeadTable head_table(const RunSpec& spec, const std::string& texts, bool in_words,
                     ExperimentRun& run, const TextProgress& progress) {
  constexpr std::size_t kMaxBytesPerToken = 16,
                        kFirstBytes = 4096;  // before the context is known
  Sums sums;
  Index count = 0, tokens = 0;
  AddressParts parts;
  std::size_t max_bytes = kFirstBytes;
  bool has_merged_word = false;  // true if a word has several tokens
  RunSpec text_spec = spec;
  text_spec.ids.clear();
  text_spec.tensors = {};
  text_spec.overlong = Overlong::First;
  for (const auto& [begin, paragraph] : paragraphs(texts)) {
    for (std::size_t offset = 0; offset < paragraph.size();) {
      check_stop();
      const std::string_view excerpt = prefix(paragraph.substr(offset), max_bytes);
      text_spec.text = excerpt;
      const auto trace = run.run(text_spec);
      max_bytes = kMaxBytesPerToken * static_cast<std::size_t>(trace->config->context);
      const std::size_t used_bytes = trace->text_tokens().back().end;
      offset += used_bytes > 0 ? used_bytes : excerpt.size();
      if (progress) progress(begin + offset, texts.size());
      if (trace->tokens.size() < 2) continue;
      std::shared_ptr<const WordTrace> words;
      if (in_words) words = attnscope::merge_words(*trace);
      const Trace& measured = words != nullptr ? words->trace : *trace;
      has_merged_word |= measured.tokens.size() < trace->tokens.size();
      add(measured, Segments::Merged, sums);
      parts = trace->parts;
      ++count;
      tokens += static_cast<Index>(measured.tokens.size());
    }
  }
  if (count == 0) throw InputError("statistics: expected texts of at least two tokens, found none");
  if (in_words && !has_merged_word) {
    throw InputError("words: expected texts with words of several tokens, found none");
  }
  if (progress) progress(texts.size(), texts.size());
  HeadTable table = to_table(sums);
  table.parts = parts;
  table.parts.segment = false;
  table.has_merged_segments = true;
  table.words = in_words;
  table.texts = count;
  table.tokens = tokens;
  return table;
}

std::string to_csv(const HeadTable& table) {
  const AddressParts& parts = table.parts;
  std::string csv;
  if (parts.stack) csv += "stack,";
  if (parts.kind) csv += "kind,";
  if (parts.step) csv += "step,";
  if (parts.segment) csv += "segment,";
  csv += "layer,head";
  for (const HeadMeasure& measure : head_measures()) {
    csv += "," + (table.words ? measure.word_id : measure.id);
  }
  csv += "\n";
  for (const HeadTable::Row& row : table.rows) {
    const TracePart& part = row.at.part;
    if (parts.stack) csv += name_of(part.stack) + ",";
    if (parts.kind) csv += name_of(part.kind) + ",";
    if (parts.step) csv += std::to_string(part.step) + ",";
    if (parts.segment) csv += std::to_string(part.segment) + ",";
    csv += std::to_string(row.at.layer) + "," + std::to_string(row.at.head);
    for (const HeadMeasure& measure : head_measures()) {
      const double value = row.statistics.*measure.value;
      csv += ",";
      if (std::isfinite(value)) csv += general(value, 6);
    }
    csv += "\n";
  }
  return csv;
}

}  // namespace attnscope
