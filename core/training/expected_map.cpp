#include "core/training/expected_map.h"

#include <map>

#include "core/base/stop.h"
#include "core/trace/key_token.h"

namespace attnscope {
namespace {

std::vector<TraceToken> tokens_of(const IntTensor& ids) {
  std::vector<TraceToken> tokens(static_cast<std::size_t>(ids.size()));
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i].id = ids[static_cast<Index>(i)];
  return tokens;
}

struct MatchSum {
  double weight = 0, uniform = 0;
  Index queries = 0;
};

// Adds the rows of a head whose queries have expected keys.
void add_rows(const Trace& trace, const AttentionTap& tap, Index head, const ExpectedKeys& keys,
              MatchSum& sum) {
  const Tensor weights = tap.attention(head);
  const Pattern& pattern = *tap.result.pattern;
  const Index pattern_head = pattern.heads() == 1 ? 0 : head;
  std::map<Index, Index> column_of;  // by token
  for (Index column = 0; column < weights.dim(1); ++column) {
    const Index token = key_token(trace, tap, column);
    if (token >= 0) column_of[token] = column;
  }
  for (Index row = 0; row < weights.dim(0); ++row) {
    const Index query = trace.token_index(tap.query_rows, weights.dim(0), row);
    if (query < 0 || query >= static_cast<Index>(keys.size())) continue;
    const std::vector<Index>& expected = keys[static_cast<std::size_t>(query)];
    const Index visible = pattern.row_size(pattern_head, row);
    if (expected.empty() || visible == 0) continue;
    for (const Index key : expected) {
      const auto column = column_of.find(key);
      if (column == column_of.end()) continue;
      sum.weight += static_cast<double>(weights.data()[row * weights.dim(1) + column->second]);
      if (pattern.allowed(pattern_head, row, column->second)) {
        sum.uniform += 1 / static_cast<double>(visible);
      }
    }
    ++sum.queries;
  }
}

}  // namespace

ExpectedMatch best_match(const Model& model, const ExpectedMap& map,
                         const std::vector<Batch>& sequences) {
  std::map<HeadRef, MatchSum> sums;
  for (const Batch& batch : sequences) {
    const ExpectedKeys keys = map.keys(batch);
    Trace trace;
    if (batch.ids.defined()) trace.tokens = tokens_of(batch.ids);
    if (batch.source.defined()) trace.streams = {{kSourceStream, tokens_of(batch.source)}};
    ForwardOptions options;
    options.trace = &trace;
    Batch input = batch;
    input.targets = {};
    run(model, input, options);
    for (const AttentionTap& tap : trace.attention) {
      if (tap.address.kind != map.kind || tap.address.stack != Stack::Decoder) continue;
      TracePart part = part_of(tap.address);
      part.segment = 0;  // the segments of a text belong to one head
      for (std::size_t h = 0; h < tap.heads.size(); ++h) {
        add_rows(trace, tap, static_cast<Index>(h), keys,
                 sums[{tap.address.layer, tap.heads[h], part}]);
      }
    }
    check_stop();
  }
  ExpectedMatch best;
  for (const auto& [head, sum] : sums) {
    if (sum.queries == 0 || sum.uniform <= 0) continue;  // the head sees no expected key
    const auto queries = static_cast<double>(sum.queries);
    const ExpectedMatch match{sum.weight / queries, sum.uniform / queries, head.layer, head.head,
                              head.part.step};
    if (!(best.contrast() >= match.contrast())) best = match;
  }
  return best;
}

std::string head_text(const ExpectedMatch& match) {
  return (match.step > 0 ? "step " + std::to_string(match.step) + ", " : std::string()) + "layer " +
         std::to_string(match.layer) + ", head " + std::to_string(match.head);
}

ExpectedMap induction_map() {
  return {"the token after the previous occurrence of the query's token", AttentionKind::Self,
          [](const Batch& batch) {
            ExpectedKeys keys(static_cast<std::size_t>(batch.ids.size()));
            for (Index i = 0; i < batch.ids.size(); ++i) {
              if (batch.targets[i] < 0) continue;
              for (Index j = 1; j <= i; ++j) {
                if (batch.ids[j - 1] != batch.ids[i] || batch.ids[j] != batch.targets[i]) continue;
                keys[static_cast<std::size_t>(i)].push_back(j);
              }
            }
            return keys;
          }};
}

}  // namespace attnscope
