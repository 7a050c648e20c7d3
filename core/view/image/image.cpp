// Image view: keys and attention weights of one pixel, drawn on the image itself as in the figures
// of the Image Transformer (Parmar et al., 2018) and of sparse transformers (Child et al., 2019).
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/experiment/completion.h"
#include "core/experiment/image_tensors.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/image/next_pixel.h"
#include "core/view/image/pixel_panel.h"
#include "core/view/image/pixel_row.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/range.h"
#include "core/view/parts/reading.h"
#include "core/view/pattern/rule_cells.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kFade = 0.82;           // opacity of the veil over excluded pixels
constexpr double kTint = 0.55;           // opacity of a rule's colour in allowed pixels
constexpr double kFaintTint = 0.3;       // replaces kTint if the image must remain recognisable
constexpr double kWeightOpacity = 0.65;  // opacity of weights over an image

struct ImagePicture {
  const ViewInput& input;
  const AttentionTap& tap;
  Index head;
  const PixelGrid& grid;
  std::vector<PixelPanel> panels;
  Box chart{};  // probabilities of the next pixel, for generative models
  PixelRow row{};
  Index key = -1;  // pixel whose weight is described; -1: none
  // True for pixels that the generative model has not produced yet.
  bool is_ungenerated(Index pixel) const { return grid.key_shift > 0 && pixel >= row.query; }
  // The query pixel; negative if the query is a token without a pixel.
  Index query_pixel() const { return row.query - grid.before; }
  const char* noun() const { return grid.before > 0 ? "piece" : "pixel"; }
  // The colour of a pixel mixed with a tint. For patches, a translucent tint to cover the image.
  Colour tinted(Index pixel, Colour tint, double opacity) const {
    if (!grid.picture.defined()) return blend(pixel_colour(grid.colours, pixel), tint, opacity);
    tint.a = static_cast<std::uint8_t>(std::lround(255 * opacity));
    return tint;
  }
};

Colour ungenerated_colour(const Theme& theme) {
  return blend(theme.background, theme.line, 0.35);
}

// Output of the head as colours, if the values are pixel colours.
std::optional<Tensor> output_colours(const Trace& trace, const AttentionTap& tap, Index head) {
  if (tap.shapes().output.empty() || trace.config->width == 0 || trace.pixels->key_shift != 0) {
    return std::nullopt;
  }
  const Tensor colours = tap.output();  // [h, L, 3]
  const bool has_colours = colours.rank() == 3 && colours.dim(2) == 3 &&
                           colours.dim(1) == trace.pixels->width * trace.pixels->height;
  if (!has_colours) return std::nullopt;
  return colours.slice(head, 1).reshaped({trace.pixels->height, trace.pixels->width, 3});
}

// Hovered pixel in any panel; -1 if none.
Index pixel_at(const std::vector<PixelPanel>& panels, const std::optional<Point>& p) {
  if (!p) return -1;
  for (const PixelPanel& panel : panels) {
    const Index pixel = panel.at(*p);
    if (pixel >= 0) return pixel;
  }
  return -1;
}

// Query: the pinned pixel, else the hovered pixel, else a pixel below the centre.
Index selected_query(const ViewInput& input, const AttentionTap& tap, Index hovered) {
  const Index pinned = input.session.view.pinned_query;
  if (pinned >= 0 && pinned < tap.queries()) return pinned;
  const PixelGrid& grid = *input.trace.pixels;
  if (hovered >= 0 && hovered + grid.before < tap.queries()) return hovered + grid.before;
  return std::min(grid.before + grid.height * 5 / 8 * grid.width + grid.width / 2,
                  tap.queries() - 1);
}

void draw_allowed(Page& page, const ImagePicture& d) {
  const PixelPanel& panel = d.panels[0];
  const Colour background = d.input.canvas.theme.background;
  const bool generates = d.grid.key_shift > 0, keeps_image = generates || d.grid.picture.defined();
  draw_panel(
      page, panel,
      {generates             ? "The pixels so far, and this pixel's keys"
       : d.query_pixel() < 0 ? "Keys of this token"
                             : std::string("Keys of this ") + d.noun(),
       generates ? "The pixels so far" : "Its keys", ""},
      [&](Index pixel) {
        if (d.is_ungenerated(pixel)) return ungenerated_colour(d.input.canvas.theme);
        const float rule = d.row.rules[pixel];
        if (std::isnan(rule)) return d.tinted(pixel, background, kFade);
        return d.tinted(pixel, rule_colour(static_cast<std::size_t>(rule)),
                        keeps_image ? kFaintTint : kTint);
      },
      d.grid.picture);
  if (d.query_pixel() >= 0) draw_mark(page, panel, d.query_pixel(), d.input.canvas.theme.accent);
  std::vector<LegendEntry> entries;
  const std::vector<std::string>& rules = d.tap.result.pattern->rules();
  for (std::size_t rule = 0; rule < d.row.by_rule.size(); ++rule) {
    if (d.row.by_rule[rule] == 0) continue;
    const std::string name = rule < rules.size() ? rules[rule] : "allowed";
    entries.push_back({rule_colour(rule), name + ": " + grouped(d.row.by_rule[rule]) +
                                              (d.grid.before > 0 ? " pieces" : " px")});
  }
  const double em = page.em();
  const Box foot{panel.box.x, panel.box.bottom() + 0.7 * em, panel.box.width, 3 * em};
  draw_legend(page, entries, foot);
}

// Colour range of the weights, up to the row's largest weight.
ColourRange range_of(const ImagePicture& d) {
  ColourRange range = weight_colours(d.input, is_signed(d.tap, d.head));
  const double largest =
      d.row.strongest >= 0 ? std::abs(static_cast<double>(d.row.weights[d.row.strongest])) : 0;
  range.most = largest > 0 ? largest : 1;
  range.least = colour_map(range.colour_map).diverging() ? -range.most : 0;
  return range;
}

// Greyscale image, so that only weights are coloured.
Tensor grey_of(const Tensor& picture) {
  Tensor grey(picture.shape());
  for (Index i = 0; i + 2 < picture.size(); i += 3) {
    const float luma =  // ITU-R BT.601
        0.299F * picture[i] + 0.587F * picture[i + 1] + 0.114F * picture[i + 2];
    for (Index c = 0; c < 3; ++c) grey[i + c] = luma;
  }
  return grey;
}

void draw_weights_over_picture(Page& page, const ImagePicture& d, const ColourRange& range) {
  const ColourMap& colours = colour_map(range.colour_map);
  draw_panel(
      page, d.panels[1], {"Its attention weights", "Its weights", ""},
      [&](Index pixel) {
        const auto weight = static_cast<double>(d.row.weights[pixel]);
        if (std::isnan(weight)) return d.tinted(pixel, d.input.canvas.theme.background, kFade);
        const double position = (weight - range.least) / (range.most - range.least);
        return d.tinted(pixel, colours.at(position), kWeightOpacity);
      },
      grey_of(d.grid.picture));
}

// Draws weights as a heat map; the image remains visible for excluded pixels.
void draw_weights_as_map(Page& page, const ImagePicture& d, const ColourRange& range) {
  const PixelPanel& panel = d.panels[1];
  draw_panel(page, panel, {"Its attention weights", "Its weights", ""}, [&](Index pixel) {
    if (d.is_ungenerated(pixel)) return ungenerated_colour(d.input.canvas.theme);
    return d.tinted(pixel, d.input.canvas.theme.background, kFade);
  });
  HeatMap cells;
  cells.box = panel.box;
  cells.values = d.row.weights;
  cells.width = static_cast<double>(panel.width);
  cells.height = static_cast<double>(panel.height);
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(cells);
}

void draw_weights(Page& page, const ImagePicture& d) {
  const PixelPanel& panel = d.panels[1];
  const ColourRange range = range_of(d);
  if (d.grid.picture.defined()) {
    draw_weights_over_picture(page, d, range);
  } else {
    draw_weights_as_map(page, d, range);
  }
  page.add(OutlinedBox{panel.box, page.theme().line, 1});
  if (d.query_pixel() >= 0) draw_mark(page, panel, d.query_pixel(), d.input.canvas.theme.accent);
  if (d.key >= 0) draw_mark(page, panel, d.key, key_colour(d.input.canvas.theme));
  const double em = page.em();
  draw_horizontal_colour_bar(page, {panel.box.x, panel.box.bottom() + 0.7 * em}, panel.box.width,
                             range, {"weight, up to the largest of this row", "weight"});
}

void draw_output(Page& page, const ImagePicture& d, const Tensor& colours) {
  const PixelPanel& panel = d.panels[2];
  draw_panel(page, panel, {"Output of the head", "The output", ""},
             [&](Index pixel) { return pixel_colour(colours, pixel); });
  if (d.query_pixel() >= 0) draw_mark(page, panel, d.query_pixel(), d.input.canvas.theme.accent);
  const double em = page.em();
  page.faint_text({panel.box.x, panel.box.bottom() + 1.3 * em},
                  page.fitting({"each pixel: the colours it attends to, by weight",
                                "colours mixed by weight", "mixed by weight"},
                               page.small(), panel.box.width),
                  page.small());
}

// Draws the given rows of pixels and the rows that the model completed.
void draw_completion(Page& page, const ImagePicture& d, const Completion& completion) {
  const PixelPanel& panel = d.panels[2];
  const auto brightest = static_cast<double>(std::max<Index>(1, completion.levels - 1));
  draw_panel(page, panel, {"Completed by the model", "Completed", ""}, [&](Index pixel) {
    const double grey =
        static_cast<double>(completion.ids[static_cast<std::size_t>(pixel)]) / brightest;
    const auto byte = static_cast<std::uint8_t>(std::lround(255 * std::clamp(grey, 0.0, 1.0)));
    return Colour{byte, byte, byte, 255};
  });
  const double em = page.em();
  const Index rows = completion.given / panel.width;
  const double y = panel.box.y + static_cast<double>(rows) * panel.cell();
  page.add(Line{{{panel.box.x, y}, {panel.box.right(), y}}, d.input.canvas.theme.accent, 3});
  const double error = completion.mean_error();
  const std::string error_text = std::isnan(error)
                                     ? ""
                                     : "; off by " + brief(error) + " of " +
                                           std::to_string(completion.levels) + " levels on average";
  const std::string legend = "above the line given, below generated";
  page.faint_text({panel.box.x, panel.box.bottom() + 1.3 * em},
                  page.fitting({legend + error_text, legend, "below the line: generated", ""},
                               page.small(), panel.box.width),
                  page.small());
}

void draw_message_panel(Page& page, const PixelPanel& panel, const std::string& text) {
  const double em = page.em();
  page.text({panel.box.x, panel.box.y - 0.75 * em},
            page.fitting({"Completed by the model", "Completed", ""}, em, panel.box.width), em);
  page.add(OutlinedBox{panel.box, page.theme().line, 1});
  double y = panel.box.y + em;
  for (const std::string& line : page.wrapped(text, page.small(), panel.box.width - em, 6)) {
    if (y + em > panel.box.bottom()) break;
    page.faint_text({panel.box.x + 0.5 * em, y}, line, page.small());
    y += kLineHeight * page.small();
  }
}

// Draws the results of a generative model: completed image, next-pixel probabilities.
std::string draw_generation(Page& page, const ImagePicture& d) {
  std::string pending;
  const auto completion = d.input.findings.get(Findings::completion);
  if (completion == nullptr) {
    draw_message_panel(page, d.panels[2], "Completing the image …");
    pending = "the completed image";
  } else if (!completion->problem.empty() || completion->ids.empty()) {
    draw_message_panel(page, d.panels[2],
                       completion->problem.empty() ? "Nothing to complete." : completion->problem);
  } else {
    draw_completion(page, d, *completion);
  }
  draw_next_pixel(page, d.chart, d.grid, next_pixel(d.input, d.row.query));
  return pending;
}

// Descriptions of the row, longest first.
std::vector<std::string> describe_row(const ImagePicture& d) {
  const std::string noun = d.noun();
  const std::string subject =
      d.query_pixel() >= 0
          ? noun + " in " + describe_pixel(d.grid, d.query_pixel())
          : "token " + d.input.trace.tokens[static_cast<std::size_t>(d.row.query)].label;
  const std::string count = grouped(d.row.allowed) + " of " + grouped(d.grid.width * d.grid.height);
  std::string others;
  if (d.row.others > 0) {
    others =
        "; " + grouped(d.row.others) +
        (d.row.others == 1 ? " key that is not a " + noun : " keys that are not " + noun + "s") +
        " with weight " + brief(d.row.others_weight);
  }
  const std::string counts = count + " " + noun + "s" + others;
  const Index pixel = d.key >= 0 ? d.key : d.row.strongest;
  if (pixel < 0) return {"The " + subject + " can attend to " + counts, counts};
  const float weight = d.row.weights[pixel];
  const std::string number = brief(static_cast<double>(weight), 2);
  const std::string place = describe_pixel(d.grid, pixel);
  std::string weight_text =
      d.key >= 0 ? number + " to " + place : "most of all " + number + " to " + place;
  if (std::isnan(weight)) weight_text = "not to " + place;
  return {"The " + subject + " can attend to " + counts + "; " + weight_text,
          capitalised(subject) + ": " + counts + "; " + weight_text,
          capitalised(subject) + ": " + counts, counts, count};
}

// Hit test: reports the pixel as the query, or as the key while a query is pinned.
std::function<std::optional<Hit>(Point)> hits(const ImagePicture& d) {
  std::vector<Index> keys;
  for (Index pixel = 0; pixel < d.grid.width * d.grid.height; ++pixel) {
    keys.push_back(key_of_pixel(d.input.trace, d.tap, pixel));
  }
  const ViewSettings& view = d.input.session.view;
  const bool is_pinned = view.pinned_query >= 0 && view.pinned_query < d.tap.queries();
  return [panels = d.panels, keys, is_pinned, query = d.row.query, queries = d.tap.queries(),
          layer = view.layer, head = view.head,
          before = d.grid.before](Point p) -> std::optional<Hit> {
    const Index pixel = pixel_at(panels, p);
    if (pixel < 0) return std::nullopt;
    if (!is_pinned) {
      const Index token = pixel + before;
      return token < queries ? std::optional(Hit{layer, head, token, -1}) : std::nullopt;
    }
    const Index key = keys[static_cast<std::size_t>(pixel)];
    return key >= 0 ? std::optional(Hit{layer, head, query, key}) : std::nullopt;
  };
}

std::string subject(const ViewInput& input, const AttentionTap& tap) {
  if (input.trace.pixels->key_shift > 0) {
    return "Keys of one pixel of an autoregressive image model, and its weights, "
           "in " +
           describe_head(input.trace, input.session.view) + ": " + describe(input.trace, tap) +
           "; probabilities of that pixel, and the image completed by the model.";
  }
  if (input.trace.pixels->before > 0) {
    return "Keys of one image patch, and its weights, in " +
           describe_head(input.trace, input.session.view) + ": " + describe(input.trace, tap) +
           ", over the model's input in grey; tokens without a patch are "
           "omitted.";
  }
  return "Keys of one pixel of an image, and its weights, in " +
         describe_head(input.trace, input.session.view) + ": " + describe(input.trace, tap) + ".";
}

ViewLayout lay_out_image(const ViewInput& input) {
  Page page(input);
  const SelectedTap found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  if (!input.trace.pixels) {
    return page.message(
        "The tokens of this run are not pixels",
        "Open an image (PNG, JPEG …), drop one onto the window, or choose “Sample "
        "image” (above, or in the File menu): its pixels attend to each other here. "
        "Or choose a model of images.");
  }
  const AttentionTap& tap = *found.tap;
  const Box inside = page.frame(title_with_head(input), caption(input.trace, subject(input, tap)));
  const std::optional<Tensor> output = output_colours(input.trace, tap, found.head);
  const bool generates = input.trace.pixels->key_shift > 0 && input.trace.logits.defined();
  const double em = page.em(), line = 1.8 * em;
  const double foot = std::max(3.5 * em, horizontal_colour_bar_height(page) + 0.8 * em);
  Box content = inside;
  content.height -= line;
  ImagePicture d{input, tap, found.head, *input.trace.pixels, {}};
  if (generates) {
    PanelsAndChart placed = place_with_chart(page, content, d.grid, foot);
    d.panels = std::move(placed.panels);
    d.chart = placed.chart;
  } else {
    d.panels = place_panels(page, content, d.grid, output ? 3 : 2, foot);
  }
  if (d.panels.empty()) return no_space(page);
  const Index hovered = pixel_at(d.panels, input.interaction.pointer);
  d.row = pixel_row(input.trace, tap, found.head, selected_query(input, tap, hovered));
  const bool is_pinned = d.row.query == input.session.view.pinned_query;
  if (is_pinned) {
    const Index key = input.session.view.pinned_key - d.grid.key_shift - d.grid.before;
    d.key = hovered >= 0 ? hovered : (d.grid.contains(key) ? key : -1);
  }
  draw_allowed(page, d);
  draw_weights(page, d);
  std::string pending;
  if (output) draw_output(page, d, *output);
  if (generates) pending = draw_generation(page, d);
  double bottom = generates ? d.chart.bottom() + foot : 0;
  for (const PixelPanel& panel : d.panels) bottom = std::max(bottom, panel.box.bottom() + foot);
  page.text({inside.x + inside.width / 2, bottom + line / 2},
            page.fitting(describe_row(d), em, inside.width), em, Align::Middle);
  ViewLayout layout;
  layout.pending = pending;
  layout.hit = hits(d);
  layout.list = page.take(bottom + line);
  return layout;
}

// Exported numbers: rules and weights of the attention row, arranged as an image.
ViewData image_data(const ViewInput& input) {
  const SelectedTap found = require_tap(input);
  if (!input.trace.pixels) throw InputError("image: the tokens of this run are not pixels");
  const Index query = selected_query(input, *found.tap, -1);
  const PixelRow row = pixel_row(input.trace, *found.tap, found.head, query);
  std::vector<std::string> rows;
  for (Index r = 0; r < input.trace.pixels->height; ++r) rows.push_back("row " + std::to_string(r));
  ViewData data{{{"weight", row.weights, rows, {}}, {"rule", row.rules, rows, {}}}};
  if (input.trace.pixels->key_shift == 0 || !input.trace.logits.defined()) return data;
  const NextPixel next = next_pixel(input, query);
  Tensor probabilities({static_cast<Index>(next.probabilities.size()), 1});
  std::ranges::transform(next.probabilities, probabilities.begin(),
                         [](double p) { return static_cast<float>(p); });
  data.matrices.push_back({"next pixel", probabilities, {}, {"probability"}});
  const auto completion = input.findings.get(Findings::completion);
  if (completion == nullptr || completion->ids.empty()) return data;
  Tensor completed({completion->height, completion->width});
  std::ranges::transform(completion->ids, completed.begin(),
                         [](std::int32_t level) { return static_cast<float>(level); });
  data.matrices.push_back({"completed", completed, rows, {}});
  return data;
}

CompletionSettings completion_settings(const ViewSettings& settings) {
  const Values values = view_values(settings, "image");
  CompletionSettings completion;
  if (values.has("rows")) completion.rows = values.integer("rows");
  completion.draws = values.choice("completed") == "drawn";
  if (completion.draws) completion.seed = static_cast<std::uint64_t>(values.integer("seed"));
  return completion;
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  controls.colour_ends.clear();  // the range is fixed
  const bool generates = trace != nullptr && trace->pixels && trace->pixels->key_shift > 0;
  if (trace != nullptr && !generates) controls.parameters.clear();  // requires a generative model
  if (!completion_settings(settings).draws) {
    controls.idle["seed"] = "Greedy decoding does not sample.";
  }
  if (!generates) {
    controls.idle.clear();
    return;
  }
  for (Parameter& p : controls.parameters) {
    if (p.key == "rows") p.slider.max = static_cast<double>(trace->pixels->height - 1);
  }
}

std::vector<Parameter> image_parameters() {
  return {{.key = "rows",
           .label = "Given rows",
           .help = "Number of given rows before the model completes the image.",
           .optional = true,
           .unset_label = "half",
           .initial = Index{4},
           .limits = {.min = 0},
           .slider = {.min = 0, .max = 8}},
          {.key = "completed",
           .label = "Completed by",
           .help = "Each pixel gets its most likely level, or a level sampled by probability.",
           .kind = Parameter::Kind::Choice,
           .initial = std::string("likeliest"),
           .choices = {"likeliest", "drawn"}},
          {.key = "seed",
           .label = "Seed",
           .help = "Random seed: the same seed samples the same image.",
           .initial = Index{1},
           .slider = {.min = 0, .max = 99}}};
}

// Configures an example: the sample image with a strided pattern.
void set_image_example(Session& session) {
  const std::string sample = sample_image().string();
  const bool has_other = !session.run.tensors.file.empty() && session.run.tensors.file != sample;
  if (has_other || !session.run.input.empty()) return;
  session.run.tensors.file = sample;
  session.run.groups.clear();  // settings of the previous model
  session.run.interventions.clear();
  session.view.head = 1;
  if (session.run.variant) return;
  const Variant& strided = variant("strided");
  session.run.variant = Choice{strided.id, illustrative_values(strided.parameters, 0)};
  const Index width = kSampleGrid;
  set_image_sizes(session.run.variant->values, strided.parameters, width, width, true);
  session.run.variant->values.set("mode", std::string("merged"));
  session.run.tensors.width = session.run.tensors.height = width;
  session.run.encoding = default_encoding();
  session.run.causal = true;
}

}  // namespace

View image_view() {
  return {
      .id = "image",
      .label = "Image",
      .group = "Tasks",
      .summary =
          "Keys and attention weights of a pixel or patch, on the image itself; the next pixel, "
          "and the image completed by the model.",
      .lay_out = lay_out_image,
      .reading = [](const ViewSettings&, const Trace* trace) -> ViewReading {
        const bool has_patches = trace != nullptr && trace->pixels && trace->pixels->before > 0;
        if (has_patches) {
          return {
              "Each image patch is a token. Left: the keys of the selected patch; right: its "
              "weights, in colours over the image in grey."};
        }
        return {"Each pixel is a token. Left: the keys of the selected pixel; right: its weights."};
      },
      .data = image_data,
      .findings = {{Findings::completion.id,
                    [](const RunView& run_view) { return completion_settings(run_view.view); }}},
      .options = {.parameters = image_parameters(), .restrict_controls = restrict_controls},
      .content = {.objection = [](const Trace& trace) -> std::string {
                    return trace.pixels ? "" : "The tokens of this run are not pixels.";
                  },
                  .example = set_image_example}};
}

}  // namespace attnscope
