#include "core/experiment/head_table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/experiment/runner.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

using Sums = std::map<std::pair<Index, Index>, HeadStatisticsSum>;  // by layer and head

std::vector<std::int32_t> known_ids(const Trace& trace) {
  std::vector<std::int32_t> ids;
  for (const TraceToken& token : trace.tokens) {
    if (token.id < 0) return {};
    ids.push_back(token.id);
  }
  // Keys that are other tokens than the queries cannot repeat them.
  return trace.key_tokens.empty() ? ids : std::vector<std::int32_t>();
}

void add(const Trace& trace, Sums& sums) {
  const std::vector<std::int32_t> ids = known_ids(trace);
  for (const AttentionTap& tap : trace.attention) {
    const Index tokens_from = first_token_column(tap);
    for (std::size_t n = 0; n < tap.heads.size(); ++n) {
      sums[{tap.address.layer, tap.heads[n]}].add(tap.attention(static_cast<Index>(n)), ids,
                                                  tokens_from >= 0 ? tokens_from : tap.keys());
    }
  }
}

HeadTable table_of(const Sums& sums) {
  HeadTable table;
  for (const auto& [at, sum] : sums) table.rows.push_back({at.first, at.second, sum.means()});
  return table;
}

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// The pieces between blank lines, with the byte where each begins.
std::vector<std::pair<std::size_t, std::string_view>> paragraphs(std::string_view text) {
  std::vector<std::pair<std::size_t, std::string_view>> pieces;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size()) {  // to the end of a line after which a line holds nothing
      end = std::min(text.find('\n', end), text.size());
      std::size_t next = end + 1;
      while (next < text.size() && text[next] != '\n' && is_space(text[next])) ++next;
      if (next >= text.size() || text[next] == '\n') break;
      ++end;
    }
    const std::string_view piece = text.substr(at, end - at);
    if (!std::all_of(piece.begin(), piece.end(), is_space)) pieces.emplace_back(at, piece);
    at = end;
    while (at < text.size() && is_space(text[at])) ++at;
  }
  return pieces;
}

// As much of the text as one run could use, cut between words where there are any.
std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const std::size_t space = text.rfind(' ', most);
  return text.substr(0, space == std::string_view::npos || space == 0 ? most : space);
}

}  // namespace

const std::vector<HeadMeasure>& head_measures() {
  static const std::vector<HeadMeasure> list{
      {"entropy", "entropy", "Mean entropy of the rows in bits: how widely the head looks.",
       &HeadStatistics::entropy},
      {"distance", "mean distance", "Mean distance of the weights in tokens.",
       &HeadStatistics::distance},
      {"first_token", "share on the first token", "Mean weight on the first token.",
       &HeadStatistics::first_token},
      {"previous_token", "share on the previous token", "Mean weight on the token just before.",
       &HeadStatistics::previous_token},
      {"same_token", "share on the same token",
       "Mean weight on earlier occurrences of the query's token.", &HeadStatistics::same_token},
      {"induction", "induction score",
       "Mean weight on tokens that followed earlier occurrences of the query's token.",
       &HeadStatistics::induction}};
  return list;
}

const HeadStatistics* HeadTable::find(Index layer, Index head) const {
  const auto row =
      std::ranges::find_if(rows, [&](const Row& r) { return r.layer == layer && r.head == head; });
  return row != rows.end() ? &row->statistics : nullptr;
}

Index first_token_column(const AttentionTap& tap) {
  if (tap.result.columns.empty()) return 0;
  Index before = 0;
  for (const auto& [kind, count] : tap.result.columns) {
    if (kind == KeyKind::Token && count > 0) return before;
    before += count;
  }
  return -1;
}

HeadTable head_table(const Trace& trace) {
  Sums sums;
  add(trace, sums);
  HeadTable table = table_of(sums);
  table.texts = 1;
  table.tokens = static_cast<Index>(trace.tokens.size());
  return table;
}

HeadTable head_table(const Experiment& experiment, const std::string& texts, ExperimentRun& run,
                     const TextProgress& progress, const Stop& stop) {
  constexpr std::size_t kBytesOfToken = 16, kFirst = 4096;  // a token rarely has more
  Sums sums;
  Index count = 0, tokens = 0;
  std::size_t most = kFirst;
  Experiment one = experiment;
  one.ids.clear();
  one.tensors = {};
  one.others.clear();
  one.overlong = Overlong::First;
  for (const auto& [begin, paragraph] : paragraphs(texts)) {
    for (std::size_t at = 0; at < paragraph.size();) {
      stop.check();
      const std::string_view piece = beginning(paragraph.substr(at), most);
      one.text = piece;
      const auto trace = run.run(one, stop);
      most = kBytesOfToken * static_cast<std::size_t>(trace->config->context);
      const std::size_t used = trace->tokens.back().end;
      at += used > 0 ? used : piece.size();
      if (progress) progress(begin + at, texts.size());
      if (trace->tokens.size() < 2) continue;
      add(*trace, sums);
      ++count;
      tokens += static_cast<Index>(trace->tokens.size());
    }
  }
  if (count == 0) throw InputError("statistics: expected texts of two tokens or more, found none");
  if (progress) progress(texts.size(), texts.size());
  HeadTable table = table_of(sums);
  table.texts = count;
  table.tokens = tokens;
  return table;
}

std::string to_csv(const HeadTable& table) {
  std::string csv = "layer,head";
  for (const HeadMeasure& measure : head_measures()) csv += "," + measure.id;
  csv += "\n";
  for (const HeadTable::Row& row : table.rows) {
    csv += std::to_string(row.layer) + "," + std::to_string(row.head);
    for (const HeadMeasure& measure : head_measures()) {
      const double value = row.statistics.*measure.value;
      csv += ",";
      if (std::isfinite(value)) csv += brief(value, 6);
    }
    csv += "\n";
  }
  return csv;
}

}  // namespace attnscope
