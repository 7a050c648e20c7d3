// Source above target, with ribbons between them.
#include <algorithm>

#include "core/view/alignment/alignment_panels.h"
#include "core/view/parts/legend.h"

namespace attnscope {
namespace {

constexpr float kMinWeight = 0.02f;    // smaller weights have no ribbon
constexpr double kLetterWidth = 1.25;  // cells: a wide letter reaches into its neighbours

// S-shaped curve downwards that leaves and arrives vertically.
Line ribbon(Point from, Point to, Colour colour, double thickness) {
  constexpr int kSteps = 32;
  Line line{{}, colour, thickness};
  for (int i = 0; i <= kSteps; ++i) {
    const double t = static_cast<double>(i) / kSteps, eased = t * t * (3 - 2 * t);
    line.points.push_back({from.x + eased * (to.x - from.x), from.y + t * (to.y - from.y)});
  }
  return line;
}

void draw_source(Page& page, const ShownAlignment& shown) {
  const AlignmentPlaces& p = shown.places;
  const double em = page.em(), label_gap = p.source_cell / 2 + 0.6 * em;
  page.faint_text({p.source_x(0) - label_gap, p.source.y + p.source.height / 2},
                  page.fitting({"source", ""}, em, p.source_x(0) - label_gap), em, Align::End);
  for (Index key = 0; key < p.sources; ++key) {
    const Box box{p.source_x(key) - p.source_cell / 2 + 1, p.source.y, p.source_cell - 2,
                  p.source.height};
    page.add(FilledBox{box, head_colour(key), 0.2 * em});
    page.add(Text{
        {p.source_x(key), box.y + box.height / 2},
        page.ellipsised(shown.numbers.source[static_cast<std::size_t>(key)], em, box.width, true),
        ink_on(head_colour(key)),
        em,
        Align::Middle,
        0,
        true});
    if (key == shown.focus.key) page.add(OutlinedBox{box, page.theme().accent, 2});
  }
}

// Draws a letter in the colour of the source token that it attends to most.
void draw_letter(Page& page, const ShownAlignment& shown, Index row) {
  const AlignmentPlaces& p = shown.places;
  const Theme& theme = page.theme();
  const Box box{p.target_x(row) - p.cell / 2 + 0.5, p.target.y, p.cell - 1, p.target.height};
  if (row >= shown.focus.row_count) {
    page.add(OutlinedBox{box, blend(theme.background, theme.line, 0.6), 1});
    return;
  }
  const Index key = shown.numbers.strongest[static_cast<std::size_t>(row)];
  const double weight = key < 0 ? 0 : static_cast<double>(shown.numbers.weights(row, key));
  const Colour ground =
      key < 0 ? theme.background : blend(theme.background, head_colour(key), 0.15 + 0.75 * weight);
  page.add(FilledBox{box, ground, 0.15 * page.em()});
  const double size = page.legible(std::min(page.em(), 1.25 * p.cell));
  const std::string& label = shown.numbers.labels[static_cast<std::size_t>(row)];
  const double max_width = label.size() == 1 ? kLetterWidth * p.cell : box.width;
  page.add(Text{{p.target_x(row), box.y + box.height / 2},
                page.ellipsised(label, size, max_width),
                ink_on(ground),
                size,
                Align::Middle});
  if (row < shown.target.given) {  // prescribed, not generated
    page.add(Line{{{box.x, box.bottom() - 1}, {box.right(), box.bottom() - 1}}, theme.text, 2});
  }
  if (row == shown.focus.row) page.add(OutlinedBox{box, theme.accent, 2});
}

}  // namespace

void draw_ribbons(Page& page, const ShownAlignment& shown) {
  const AlignmentPlaces& p = shown.places;
  const double thickest = std::clamp(0.55 * p.cell, 2.0, 0.9 * page.em());
  for (const bool is_focused : {false, true}) {
    for (Index row = 0; row < shown.focus.row_count; ++row) {
      for (Index key = 0; key < p.sources; ++key) {
        const float weight = shown.numbers.weights(row, key);
        if (!(weight >= kMinWeight) || shown.focus.highlights(row, key) != is_focused) continue;
        const double thickness = std::max(0.7, static_cast<double>(weight) * thickest);
        const double opacity = is_focused ? 0.30 + 0.6 * static_cast<double>(weight) : 0.13;
        page.add(ribbon({p.source_x(key), p.ribbons.y}, {p.target_x(row), p.ribbons.bottom()},
                        translucent(head_colour(key), opacity), thickness));
      }
    }
  }
}

void draw_token_boxes(Page& page, const ShownAlignment& shown) {
  draw_source(page, shown);
  const Box& target = shown.places.target;
  const double right = target.x - 0.6 * page.em();
  page.faint_text({right, target.y + target.height / 2},
                  page.ellipsised("target", page.em(), right), page.em(), Align::End);
  for (Index row = 0; row < shown.numbers.rows(); ++row) draw_letter(page, shown, row);
}

}  // namespace attnscope
