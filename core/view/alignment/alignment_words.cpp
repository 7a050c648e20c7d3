#include "core/view/alignment/alignment_words.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/analysis/crossing.h"
#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

std::string source_text(const WrittenTarget& written) {
  std::string text;
  for (const TraceToken& token : written.trace->streams.front().tokens) {
    text += token.bytes.empty() ? token.label + " " : token.bytes;
  }
  return visible(text);
}

std::string target_text(const WrittenTarget& written, Index shown) {
  if (shown >= written.rows()) return visible(written_text(written));
  WrittenTarget part;
  part.trace = written.trace;
  part.ids.assign(written.ids.begin(), written.ids.begin() + shown);
  return visible(written_text(part)) + "…";
}

}  // namespace

std::string about_alignment(const WrittenTarget& written, const ViewSettings& view) {
  const Index beams = view_values(view, "alignment").integer("beams");
  const std::string how =
      beams > 1 ? "by beam search with " + std::to_string(beams) + " beginnings at a time"
                : "always the likeliest letter";
  return "What the model writes from the source, " + how +
         ", and how much of its attention to the source each letter gives to each of its tokens "
         "(" +
         alignment_of(written, view) +
         "). Cases are the pairs of letters that look at different tokens most.";
}

std::string source_and_target(const WrittenTarget& written, Index shown) {
  return source_text(written) + "  →  " + target_text(written, shown);
}

std::string crossing_words(const WrittenTarget& written, const AlignmentNumbers& numbers,
                           Index shown) {
  const Index letters = std::min(letters_of(written), shown);
  if (letters < 2 || numbers.sources() < 2) return "";
  const std::string so_far = letters < letters_of(written) ? " so far" : "";
  const double crossed = crossing(numbers.weights, letters);
  if (std::isnan(crossed)) {
    return "All letters" + so_far + " look at the same place of the source most.";
  }
  const std::string where = so_far + ": of two letters the later one looks further left in " +
                            fixed(100 * crossed, 0) + " % of cases.";
  if (crossed >= 0.5) return "The lines cross" + where;
  return (crossed < 0.1 ? "The target follows the source from left to right"
                        : "Mostly from left to right") +
         where;
}

std::string looks_at_words(const AlignmentNumbers& numbers, Index row) {
  std::vector<Index> keys(static_cast<std::size_t>(numbers.sources()));
  std::iota(keys.begin(), keys.end(), Index{0});
  std::ranges::sort(keys, std::ranges::greater(),
                    [&](Index key) { return numbers.weights(row, key); });
  std::string text;
  for (std::size_t n = 0; n < std::min<std::size_t>(3, keys.size()); ++n) {
    const auto weight = static_cast<double>(numbers.weights(row, keys[n]));
    if (n > 0 && weight < 0.01) break;
    text += (n > 0 ? ", “" : "“") + numbers.source[static_cast<std::size_t>(keys[n])] + "” " +
            fixed(weight, 2);
  }
  return text;
}

}  // namespace attnscope
