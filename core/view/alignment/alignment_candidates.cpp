// Candidates for each letter of the target, and the beams of its step.
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

// Step of the beam search that generated the shown letter; -1: a given letter, or a single beam.
Index beam_step(const Page& page, const ShownAlignment& shown) {
  const Index n = shown.focus.row - shown.written.given;
  const Values values = view_values(page.input().session.view, "alignment");
  if (values.integer("beams") < 2 || n < 0) return -1;
  return n < static_cast<Index>(shown.written.search.steps.size()) ? n : -1;
}

// Draws the beams at the shown letter.
void draw_beams(Page& page, const Box& box, const GeneratedTarget& written, std::size_t step) {
  TokenBars bars;
  bars.first = second_colour();
  bars.marked = written.search.best_at(step);
  for (const Beam& beam : written.search.steps[step]) {
    bars.bars.push_back(
        {visible(beam_text(written, beam)), std::exp(beam.log_probability), 0,
         static_cast<Index>(bars.bars.size()) == bars.marked ? "the winner's" : ""});
  }
  draw_token_bars(page, box, bars);
}

}  // namespace

void draw_candidates(Page& page, const ShownAlignment& shown) {
  const double em = page.em(), gap = 2 * em;
  const Box& all = shown.places.candidates;
  const GeneratedTarget& written = shown.written;
  const Index row = shown.focus.row, step = beam_step(page, shown);
  const bool beams = step >= 0 && all.width > 44 * em;
  const double width = std::min(beams ? (all.width - gap) / 2 : all.width, 36 * em);
  Box box{all.x + (all.width - (beams ? 2 * width + gap : width)) / 2, all.y, width, all.height};
  const std::string which = "“" + shown.numbers.labels[static_cast<std::size_t>(row)] +
                            "”, letter " + std::to_string(row + 1);
  const std::string why = shown.focus.least_sure ? " (the least certain)" : "";
  const std::string looks = ", attends to " + looks_at_words(shown.numbers, row);
  page.text({all.x + all.width / 2, box.y + AlignmentMeasures::title / 2 * em},
            page.fitting(
                {which + why + looks + ". Candidates:", which + why + looks, which + looks, which},
                em, all.width),
            em, Align::Middle);
  TokenBars bars;
  bars.first = first_colour();
  for (const Candidate& c : candidates_at(written, row, AlignmentMeasures::candidates)) {
    const bool taken = c.id == written.ids[static_cast<std::size_t>(row)];
    if (taken) bars.marked = static_cast<Index>(bars.bars.size());
    const char* note = taken ? (row < written.given ? "given" : "written") : "";
    bars.bars.push_back({candidate_label(written, c.id), c.probability, 0, note});
  }
  box.y += AlignmentMeasures::title * em;
  box.height -= AlignmentMeasures::title * em;
  draw_token_bars(page, box, bars);
  if (!beams) return;
  box.x += width + gap;
  draw_beams(page, box, written, static_cast<std::size_t>(step));
}

}  // namespace attnscope
