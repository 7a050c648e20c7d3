#include "core/view/alignment/alignment_words.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/analysis/crossing.h"
#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

std::string source_text(const GeneratedTarget& target) {
  std::string text;
  for (const TraceToken& token : target.trace->streams.front().tokens) {
    text += token.bytes.empty() ? token.label + " " : token.bytes;
  }
  return visible(text);
}

std::string target_text(const GeneratedTarget& target, Index shown) {
  if (shown >= target.rows()) return visible(generated_text(target));
  GeneratedTarget part;
  part.trace = target.trace;
  part.ids.assign(target.ids.begin(), target.ids.begin() + shown);
  return visible(generated_text(part)) + "…";
}

}  // namespace

std::string describe_alignment(const GeneratedTarget& target, const ViewSettings& view) {
  const Index beams = view_values(view, "alignment").integer("beams");
  const std::string how = beams > 1 ? "by beam search with " + std::to_string(beams) + " hypotheses"
                                    : "by greedy decoding";
  return "The target generated from the source, " + how +
         ", and the attention of each letter to each source token "
         "(" +
         describe_weights(target, view) +
         "). Pair: two letters that attend most to different tokens.";
}

std::string source_and_target(const GeneratedTarget& target, Index shown) {
  return source_text(target) + "  →  " + target_text(target, shown);
}

std::string describe_crossing(const GeneratedTarget& target, const AlignmentNumbers& numbers,
                              Index shown) {
  const Index letters = std::min(letter_count(target), shown);
  if (letters < 2 || numbers.sources() < 2) return "";
  const std::string so_far = letters < letter_count(target) ? " so far" : "";
  const double fraction = crossing(numbers.weights, letters);
  if (std::isnan(fraction)) {
    return "All letters" + so_far + " attend most to the same source token.";
  }
  const std::string detail = so_far + ": the later letter of a pair attends further left in " +
                             percent(fraction) + " of pairs.";
  if (fraction >= 0.5) return "The lines cross" + detail;
  return (fraction < 0.1 ? "The target follows the source from left to right"
                         : "Mostly from left to right") +
         detail;
}

std::string describe_attention(const AlignmentNumbers& numbers, Index row) {
  std::vector<Index> keys(static_cast<std::size_t>(numbers.sources()));
  std::iota(keys.begin(), keys.end(), Index{0});
  std::ranges::sort(keys, std::ranges::greater(),
                    [&](Index key) { return numbers.weights(row, key); });
  std::string text;
  for (std::size_t n = 0; n < std::min<std::size_t>(3, keys.size()); ++n) {
    const auto weight = static_cast<double>(numbers.weights(row, keys[n]));
    if (n > 0 && weight < 0.01) break;
    text += (n > 0 ? ", “" : "“") + numbers.source[static_cast<std::size_t>(keys[n])] + "” " +
            brief(weight);
  }
  return text;
}

}  // namespace attnscope
