// A head's attention before each step.

#include "core/figure/plain_text.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/trajectory/walk_panels.h"

namespace attnscope {
namespace {

constexpr const char* kTokenNames[] = {"R", "s", "a"};

// Draws token labels above the columns and steps next to the rows. `width`, `height`: cell size.
void draw_labels(Page& page, const WalkPicture& picture, double width, double height) {
  const Box& box = picture.places.attention;
  const double em = page.em(), small = page.small();
  const bool has_numbers = width >= 1.7 * small;
  for (Index token = 0; token < picture.part.tokens(); ++token) {
    const std::string label = std::string(kTokenNames[token % kTokensOfStep]) +
                              (has_numbers ? std::to_string(token / kTokensOfStep + 1) : "");
    if (page.width_of(label, small) > width) break;
    page.add(
        Text{{box.x + (static_cast<double>(token) + 0.5) * width, box.y - 0.7 * em},
             label,
             token == picture.focus.key ? page.theme().accent : head_colour(token % kTokensOfStep),
             small,
             Align::Middle});
  }
  const Rollout& walk = picture.part.walk;
  for (Index t = 0; t < walk.steps() && height >= 1.05 * small; ++t) {
    page.add(
        Text{{box.x - 0.5 * em, box.y + (static_cast<double>(t) + 0.5) * height},
             "step " + std::to_string(t + 1) +
                 (walk.world == World::Grid
                      ? std::string(" ") + action_arrow(walk.actions[static_cast<std::size_t>(t)])
                      : ""),
             t == picture.focus.row ? page.theme().accent : page.theme().text,
             small,
             Align::End});
  }
}

void draw_focus_text(Page& page, const WalkPicture& picture, const Tensor& weights) {
  const Index row = picture.focus.row;
  Index top_key = 0;
  for (Index key = 1; key <= kTokensOfStep * row + 1; ++key) {
    if (weights(row, key) > weights(row, top_key)) top_key = key;
  }
  const Index key = picture.focus.key >= 0 ? picture.focus.key : top_key;
  const std::string weight = brief(static_cast<double>(weights(row, key)));
  const std::string token = describe_token(picture.part.walk, key);
  const std::string text = "Before step " + std::to_string(row + 1) + " the head puts " + weight +
                           " of its attention on " + token +
                           (key == top_key ? ", more than to any other." : ".");
  const double y = picture.places.attention.bottom() +
                   (WalkMeasures::words - WalkMeasures::line / 2) * page.em();
  const Box& summary = picture.places.summary;
  page.text({summary.x + summary.width / 2, y},
            page.fitting({text, weight + " to " + token}, page.em(), summary.width), page.em(),
            Align::Middle);
}

}  // namespace

void draw_decisions(Page& page, const WalkPicture& picture) {
  const ViewSettings& view = page.input().session.view;
  const Box &box = picture.places.attention, &summary = picture.places.summary;
  const Tensor weights = decision_weights(picture.part, view);
  const double em = page.em(), title_y = box.y - (1.4 + WalkMeasures::title / 2) * em;
  const bool is_grid = picture.part.walk.world == World::Grid;
  const std::string layer = "layer " + std::to_string(view.layer);
  const std::string head = "head " + std::to_string(view.head);
  if (!weights.defined()) {
    page.faint_text(
        {summary.x, title_y},
        page.ellipsised("The model has no " + layer + " with a " + head + ".", em, summary.width),
        em);
    return;
  }
  page.text({summary.x + summary.width / 2, title_y},
            page.fitting(
                {"Attention of " + layer + ", " + head + " before each step: desired return (R), " +
                     (is_grid ? "cell" : "point") + " (s), action (a)",
                 "The head's attention before each step", "Attention"},
                em, summary.width),
            em, Align::Middle);
  ColourRange range;
  range.colour_map = view.colour_map;
  HeatMap cells;
  cells.box = box;
  cells.values = weights;
  cells.height = static_cast<double>(weights.dim(0));
  cells.width = static_cast<double>(weights.dim(1));
  cells.colour_map = range.colour_map;
  cells.missing = excluded_colour(page.theme());
  const double row_height = box.height / cells.height, column_width = box.width / cells.width;
  page.add(std::move(cells));
  page.add(OutlinedBox{box, page.theme().line, 1});
  draw_labels(page, picture, column_width, row_height);
  page.add(OutlinedBox{
      {box.x, box.y + static_cast<double>(picture.focus.row) * row_height, box.width, row_height},
      page.theme().accent,
      2});
  if (picture.places.bar > 0 && box.height > 5 * em) {
    draw_colour_bar(page, {box.right() + 0.8 * em, box.y, picture.places.bar - em, box.height},
                    range, {"weight", ""});
  }
  draw_focus_text(page, picture, weights);
}

}  // namespace attnscope
