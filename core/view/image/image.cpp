// Image: what one pixel may attend to and where its weight goes, on the image itself, as in the
// figures of the Image Transformer (Parmar et al., 2018) and of sparse transformers (Child et al.,
// 2019).
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/experiment/picture_tensors.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/image/pixel_panel.h"
#include "core/view/image/pixel_row.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/range.h"
#include "core/view/pattern/rule_cells.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kAside = 0.82;  // how far pixels that are not allowed fade
constexpr double kTint = 0.55;   // how much of a rule's colour allowed ones take

struct Drawn {
  const ViewInput& input;
  const AttentionTap& tap;
  Index head;
  const PixelGrid& grid;
  std::vector<PixelPanel> panels;
  PixelRow row{};
  Index key = -1;  // the pixel whose weight is said; -1: none
};

// The colours that its weights make of the pixels, where they are those of a picture.
std::optional<Tensor> output_colours(const Trace& trace, const AttentionTap& tap, Index head) {
  const Var& output = tap.result.output;
  if (!output.defined() || trace.config->width == 0 || trace.pixels->keys_late != 0) {
    return std::nullopt;
  }
  const Tensor& all = output.value();  // [h, L, 3]
  const bool fits = all.rank() == 3 && all.dim(2) == 3 &&
                    all.dim(1) == trace.pixels->width * trace.pixels->height;
  if (!fits) return std::nullopt;
  return all.slice(head, 1).reshaped({trace.pixels->height, trace.pixels->width, 3});
}

// Under the pointer, in any panel; -1: none.
Index pixel_at(const std::vector<PixelPanel>& panels, const std::optional<Point>& p) {
  if (!p) return -1;
  for (const PixelPanel& panel : panels) {
    const Index pixel = panel.at(*p);
    if (pixel >= 0) return pixel;
  }
  return -1;
}

// Which pixel looks: the pinned one, else that under the pointer, else one below the middle.
Index chosen_query(const ViewInput& input, const AttentionTap& tap, Index pointed) {
  const Index pinned = input.experiment.view.pinned_query;
  if (pinned >= 0 && pinned < tap.queries()) return pinned;
  if (pointed >= 0 && pointed < tap.queries()) return pointed;
  const PixelGrid& grid = *input.trace.pixels;
  return std::min(grid.height * 5 / 8 * grid.width + grid.width / 2, tap.queries() - 1);
}

void draw_allowed(Page& page, const Drawn& d) {
  const PixelPanel& panel = d.panels[0];
  const Colour ground = d.input.theme.background;
  draw_panel(page, panel, {"What this pixel may attend to", "It may attend to", ""},
             [&](Index pixel) {
               const Colour own = pixel_colour(d.grid.colours, pixel);
               const float rule = d.row.rules[pixel];
               if (std::isnan(rule)) return blend(own, ground, kAside);
               return blend(own, rule_colour(static_cast<std::size_t>(rule)), kTint);
             });
  draw_mark(page, panel, d.row.query, d.input.theme.accent);
  std::vector<LegendEntry> entries;
  const std::vector<std::string>& rules = d.tap.result.pattern->rules();
  for (std::size_t rule = 0; rule < d.row.by_rule.size(); ++rule) {
    if (d.row.by_rule[rule] == 0) continue;
    const std::string name = rule < rules.size() ? rules[rule] : "allowed";
    entries.push_back({rule_colour(rule), name + ": " + grouped(d.row.by_rule[rule]) + " px"});
  }
  const double em = page.em();
  const Box foot{panel.box.x, panel.box.bottom() + 0.7 * em, panel.box.width, 3 * em};
  draw_legend(page, entries, foot);
}

// The weights' range: to the largest of the row, which is what can be told apart.
ColourRange range_of(const Drawn& d) {
  ColourRange range = colour_range(d.input, {}, is_signed(d.tap, d.head), true);
  const double largest =
      d.row.strongest >= 0 ? std::abs(static_cast<double>(d.row.weights[d.row.strongest])) : 0;
  range.most = largest > 0 ? largest : 1;
  range.least = colour_map(range.colour_map).diverging() ? -range.most : 0;
  return range;
}

void draw_weights(Page& page, const Drawn& d) {
  const PixelPanel& panel = d.panels[1];
  const Colour ground = d.input.theme.background;
  draw_panel(page, panel, {"Where its weight goes", "Its weights", ""}, [&](Index pixel) {
    return blend(pixel_colour(d.grid.colours, pixel), ground, kAside);
  });
  const ColourRange range = range_of(d);
  const auto columns = static_cast<double>(panel.width), rows = static_cast<double>(panel.height);
  HeatMap cells;
  cells.box = panel.box;
  cells.values = d.row.weights;
  cells.width = columns;
  cells.height = rows;
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(cells);
  page.add(OutlinedBox{panel.box, page.theme().line, 1});
  draw_mark(page, panel, d.row.query, d.input.theme.accent);
  if (d.key >= 0) draw_mark(page, panel, d.key, key_colour(d.input.theme));
  const double em = page.em();
  draw_level_colour_bar(page, {panel.box.x, panel.box.bottom() + 0.7 * em}, panel.box.width, range,
                        {"weight, up to the largest of this row", "weight"});
}

void draw_output(Page& page, const Drawn& d, const Tensor& colours) {
  const PixelPanel& panel = d.panels[2];
  draw_panel(page, panel, {"What all weights make of it", "The output", ""},
             [&](Index pixel) { return pixel_colour(colours, pixel); });
  draw_mark(page, panel, d.row.query, d.input.theme.accent);
  const double em = page.em();
  page.faint_text({panel.box.x, panel.box.bottom() + 1.3 * em},
                  page.fitting({"each pixel: the colours it attends to, by weight",
                                "colours mixed by weight", "mixed by weight"},
                               page.small(), panel.box.width),
                  page.small());
}

// What is to be said of the row, in words and in fewer.
std::vector<std::string> words_of(const Drawn& d) {
  const std::string whose = pixel_words(d.grid, d.row.query);
  const std::string count = grouped(d.row.allowed) + " of " + grouped(d.grid.width * d.grid.height);
  std::string others;
  if (d.row.others > 0) {
    others = "; " + grouped(d.row.others) +
             (d.row.others == 1 ? " key that is no pixel" : " keys that are no pixels") +
             " with weight " + decimal(d.row.weight_of_others, 3);
  }
  const std::string few = count + " pixels" + others;
  const Index shown = d.key >= 0 ? d.key : d.row.strongest;
  if (shown < 0) return {"The pixel in " + whose + " may attend to " + few, few};
  const float weight = d.row.weights[shown];
  const std::string number = brief(static_cast<double>(weight), 2);
  const std::string where = pixel_words(d.grid, shown);
  std::string most =
      d.key >= 0 ? number + " to " + where : "most of all " + number + " to " + where;
  if (std::isnan(weight)) most = "not to " + where;
  return {"The pixel in " + whose + " may attend to " + few + "; " + most,
          capitalised(whose) + ": " + few + "; " + most, capitalised(whose) + ": " + few, few,
          count};
}

// Points at the pixel that looks; where one is pinned, at what it looks at.
std::function<std::optional<Hit>(Point)> hits(const Drawn& d) {
  std::vector<Index> keys;
  for (Index pixel = 0; pixel < d.grid.width * d.grid.height; ++pixel) {
    keys.push_back(key_of_pixel(d.input.trace, d.tap, pixel));
  }
  const ViewSettings& view = d.input.experiment.view;
  const bool pinned = view.pinned_query >= 0 && view.pinned_query < d.tap.queries();
  return [panels = d.panels, keys, pinned, query = d.row.query, queries = d.tap.queries(),
          layer = view.layer, head = view.head](Point p) -> std::optional<Hit> {
    const Index pixel = pixel_at(panels, p);
    if (pixel < 0) return std::nullopt;
    if (!pinned) return pixel < queries ? std::optional(Hit{layer, head, pixel, -1}) : std::nullopt;
    const Index key = keys[static_cast<std::size_t>(pixel)];
    return key >= 0 ? std::optional(Hit{layer, head, query, key}) : std::nullopt;
  };
}

std::string about(const ViewInput& input, const AttentionTap& tap) {
  return "What one pixel of an image may attend to, and its weights, in " +
         place_words(input.trace, input.experiment.view) + ": " + describe(input.trace, tap) + ".";
}

ViewLayout lay_out_image(const ViewInput& input) {
  Page page(input);
  const Found found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  if (!input.trace.pixels) {
    return page.message("The tokens of this run are no pixels",
                        "Open a picture (PNG, JPEG …), or drop it onto the window: its pixels "
                        "attend to each other here. Or choose a model of images.");
  }
  const AttentionTap& tap = *found.tap;
  const Box inside = page.frame(head_title(input), caption(input.trace, about(input, tap)));
  const std::optional<Tensor> output = output_colours(input.trace, tap, found.head);
  const double em = page.em(), line = 1.8 * em;
  const double foot = std::max(3.5 * em, level_colour_bar_height(page) + 0.8 * em);
  Box below = inside;
  below.height -= line;
  Drawn d{input, tap, found.head, *input.trace.pixels,
          place_panels(page, below, *input.trace.pixels, output ? 3 : 2, foot)};
  if (d.panels.empty()) return no_space(page);
  const Index pointed = pixel_at(d.panels, input.pointer);
  d.row = pixel_row(input.trace, tap, found.head, chosen_query(input, tap, pointed));
  const bool pinned = d.row.query == input.experiment.view.pinned_query;
  if (pinned) {
    const Index key = input.experiment.view.pinned_key - d.grid.keys_late;
    d.key = pointed >= 0 ? pointed : (d.grid.contains(key) ? key : -1);
  }
  draw_allowed(page, d);
  draw_weights(page, d);
  if (output) draw_output(page, d, *output);
  const double bottom = d.panels.back().box.bottom() + foot;
  page.text({inside.x + inside.width / 2, bottom + line / 2},
            page.fitting(words_of(d), em, inside.width), em, Align::Middle);
  ViewLayout layout;
  layout.hit = hits(d);
  layout.list = page.take(bottom + line);
  return layout;
}

// Rules and weights of the row, on the grid.
ViewData image_data(const ViewInput& input) {
  const Found found = needed_tap(input);
  if (!input.trace.pixels) throw InputError("image: the tokens of this run are no pixels");
  const Index query = chosen_query(input, *found.tap, -1);
  const PixelRow row = pixel_row(input.trace, *found.tap, found.head, query);
  std::vector<std::string> rows;
  for (Index r = 0; r < input.trace.pixels->height; ++r) rows.push_back("row " + std::to_string(r));
  return {{{"weight", row.weights, rows, {}}, {"rule", row.rules, rows, {}}}};
}

void restrict_controls(const ViewSettings&, const Trace*, ViewControls& controls) {
  controls.normalise = false;  // they always are
}

// A picture, and a pattern that was made for images.
void show_picture(Experiment& experiment) {
  const std::string sample = sample_picture().string();
  const bool has_other = !experiment.tensors.file.empty() && experiment.tensors.file != sample;
  if (has_other || !experiment.input.empty()) return;
  experiment.tensors.file = sample;
  experiment.groups.clear();  // of a model
  experiment.interventions.clear();
  experiment.view.head = 1;
  if (experiment.variant) return;
  const Variant& strided = variant("strided");
  experiment.variant = Choice{strided.id, telling_values(strided.parameters, 0)};
  const Index width = kSampleGrid;
  set_image_sizes(experiment.variant->values, strided.parameters, width, width, true);
  experiment.variant->values.set("mode", std::string("merged"));
  experiment.tensors.width = experiment.tensors.height = width;
  experiment.encoding = default_encoding();
  experiment.causal = true;
}

}  // namespace

View image_view() {
  View view{"image", "Image",
            "What a pixel may attend to and where its weight goes, on the image itself.", false,
            lay_out_image};
  view.data = image_data;
  view.example = show_picture;
  view.restrict_controls = restrict_controls;
  view.group = "Tasks";
  view.objection = [](const Trace& trace) {
    return trace.pixels ? "" : "The tokens of this run are no pixels.";
  };
  return view;
}

}  // namespace attnscope
