// Candidates for the focused letter, and the beams of its search step.
#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/alignment/alignment_panels.h"
#include "core/view/alignment/alignment_words.h"
#include "core/view/parts/fact_table.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/token_bars.h"

namespace attnscope {
namespace {

// Search step that generated the focused letter; -1 if it is prescribed or there is one beam only.
Index beam_step(const Page& page, const ShownAlignment& shown) {
  const Index n = shown.focus.row - shown.target.given;
  const Values values = view_values(page.input().session.view, "alignment");
  if (values.integer("beams") < 2 || n < 0) return -1;
  return n < static_cast<Index>(shown.target.search.steps.size()) ? n : -1;
}

void draw_beams(Page& page, const Box& box, const GeneratedTarget& target, std::size_t step) {
  TokenBars bars;
  bars.first = second_colour();
  bars.marked = target.search.rank_of_best_prefix(step);
  for (const Beam& beam : target.search.steps[step]) {
    bars.bars.push_back({visible(beam_text(target, beam)), std::exp(beam.log_probability), 0,
                         static_cast<Index>(bars.bars.size()) == bars.marked ? "best beam" : ""});
  }
  draw_token_bars(page, box, bars);
}

}  // namespace

void draw_candidates(Page& page, const ShownAlignment& shown) {
  const double em = page.em(), gap = 2 * em;
  const Box& panel = shown.places.candidates;
  const GeneratedTarget& target = shown.target;
  const Index row = shown.focus.row, step = beam_step(page, shown);
  const bool shows_beams = step >= 0 && panel.width > 44 * em;
  const double width = std::min(shows_beams ? (panel.width - gap) / 2 : panel.width, 36 * em);
  Box box{panel.x + (panel.width - (shows_beams ? 2 * width + gap : width)) / 2, panel.y, width,
          panel.height};
  const std::string letter = "“" + shown.numbers.labels[static_cast<std::size_t>(row)] +
                             "”, letter " + std::to_string(row + 1);
  const std::vector<Candidate> candidates =
      candidates_at(target, row, AlignmentMeasures::candidates);
  const bool is_certain = !candidates.empty() && candidates[0].probability >= 0.995;  // "100%"
  const bool is_remarkable = shown.focus.is_least_certain && !is_certain;
  const std::string remark = is_remarkable ? " (the least certain)" : "";
  const std::string attention = ", attends to " + describe_attention(shown.numbers, row);
  page.text({panel.x + panel.width / 2, box.y + AlignmentMeasures::title / 2 * em},
            page.fitting({letter + remark + attention + ". Candidates:",
                          letter + remark + attention, letter + attention, letter},
                         em, panel.width),
            em, Align::Middle);
  TokenBars bars;
  bars.first = first_colour();
  for (const Candidate& c : candidates) {
    const bool is_target = c.id == target.ids[static_cast<std::size_t>(row)];
    if (is_target) bars.marked = static_cast<Index>(bars.bars.size());
    const char* note = is_target ? (row < target.given ? "given" : "generated") : "";
    bars.bars.push_back({candidate_label(target, c.id), c.probability, 0, note});
  }
  box.y += AlignmentMeasures::title * em;
  box.height -= AlignmentMeasures::title * em;
  draw_token_bars(page, box, bars);
  if (!shows_beams) return;
  box.x += width + gap;
  draw_beams(page, box, target, static_cast<std::size_t>(step));
}

}  // namespace attnscope
