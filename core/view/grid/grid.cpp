// Grid view: thumbnails of all layers and heads.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/experiment/head_table.h"
#include "core/figure/plain_text.h"
#include "core/view/grid/grid_cells.h"
#include "core/view/map/map_values.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/range.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/token_axis.h"
#include "core/view/parts/word_merging.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kMinThumbnail = 2;  // pixels
constexpr double kTagReach = 4;      // em: vertical extent of a tag next to the pointer
constexpr double kPoolNote = 1.6;    // em: note below max-pooled thumbnails

// Number of decimals, up to a limit, at which different measures of adjacent heads look different.
int decimals_of(const std::vector<Thumbnail>& list) {
  constexpr int kMinDecimals = 2, kMaxDecimals = 4;
  for (int decimals = kMinDecimals; decimals < kMaxDecimals; ++decimals) {
    const bool are_distinct =
        std::adjacent_find(list.begin(), list.end(), [&](const auto& a, const auto& b) {
          if (std::isnan(a.measure) || std::isnan(b.measure)) return false;
          return a.measure != b.measure && fixed(a.measure, decimals) == fixed(b.measure, decimals);
        }) == list.end();
    if (are_distinct) return decimals;
  }
  return kMaxDecimals;
}

// Draws text in a font reduced to fit the width, down to kMinFontScale of the small font.
void draw_shrunk_text(Page& page, Point at, const std::string& text, double width, Align align,
                      bool is_faint) {
  const double full = page.width_of(text, page.small());
  const double size = page.small() * std::clamp(width / std::max(full, 1.0), kMinFontScale, 1.0);
  const std::string shortened = page.ellipsised(text, size, width);
  if (is_faint) {
    page.faint_text(at, shortened, size, align);
  } else {
    page.text(at, shortened, size, align);
  }
}

// Draws the label and the measured number of each thumbnail's head.
void draw_labels(Page& page, const GridRaster& raster, const std::vector<Thumbnail>& list) {
  if (raster.label <= 0) return;
  const int digits = decimals_of(list);
  for (const Thumbnail& thumbnail : list) {
    const std::optional<Box> box = raster.box_of(thumbnail.layer, thumbnail.head);
    if (!box) continue;
    const std::string name = std::to_string(thumbnail.layer) + "·" + std::to_string(thumbnail.head);
    const auto number_of = [&](int decimals) {
      return std::isnan(thumbnail.measure) ? "–" : fixed(thumbnail.measure, decimals);
    };
    const double line = raster.two_lines ? raster.label / 2 : raster.label;
    const double y = box->y - line / 2, middle = box->x + box->width / 2;
    if (raster.two_lines) {
      draw_shrunk_text(page, {middle, y - line}, name, box->width, Align::Middle, true);
      draw_shrunk_text(page, {middle, y}, number_of(2), box->width, Align::Middle, false);
      continue;
    }
    const double needed = page.width_of(name + "  " + number_of(digits), page.small());
    // The head's name has priority over further digits.
    const std::string number = number_of(needed <= box->width ? digits : 2);
    page.faint_text({box->x, y}, name, page.small());
    page.text({box->right(), y}, number, page.small(), Align::End);
  }
}

// Draws the name of each head's behaviour above its thumbnail.
void draw_names(Page& page, const GridRaster& raster, const std::vector<Thumbnail>& list) {
  if (raster.label <= 0) return;
  const std::optional<Point>& pointer = page.input().interaction.pointer;
  const bool has_tag = page.input().figure.framed && pointer && raster.hit(*pointer);
  for (const Thumbnail& thumbnail : list) {
    const std::optional<Box> box = raster.box_of(thumbnail.layer, thumbnail.head);
    if (!box) continue;
    // Hides names near the pointer's tag.
    if (has_tag && std::abs(box->y - pointer->y) < kTagReach * page.em()) continue;
    draw_shrunk_text(page, {box->x + box->width / 2, box->y - raster.label / 2},
                     thumbnail.name.badge, box->width, Align::Middle, true);
  }
}

// Draws headers with as many numbers as fit: "layer" on the left, "head" at the top.
void draw_headers(Page& page, const GridRaster& raster, const Box& all) {
  const double em = page.em(), size = em;
  const double header = kGridHeader * em;
  const auto layers = static_cast<Index>(raster.rows.size());
  const auto heads = static_cast<Index>(raster.columns());
  const Index row_step = label_step(raster.step_y(), 1.2 * em);
  for (Index layer = 0; layer < layers; layer += row_step) {
    const Box box = raster.box(layer, 0);
    page.text({all.x - 0.5 * em, box.y + box.height / 2}, std::to_string(layer), size, Align::End);
  }
  const double widest = page.width_of(std::to_string(heads - 1), size) + 0.5 * em;
  const Index column_step = label_step(raster.step_x(), widest);
  for (Index head = 0; head < heads; head += column_step) {
    const Box box = raster.box(0, head);
    page.text({box.x + box.width / 2, all.y - 0.8 * em}, std::to_string(head), size, Align::Middle);
  }
  page.faint_text({all.x - header + 0.6 * em, all.y + all.height / 2}, "layer", size, Align::Middle,
                  90);
  page.faint_text({all.x + all.width / 2, all.y - header + 0.9 * em}, "head", size, Align::Middle);
}

// Marks the selected head and the hovered one.
void draw_marks(Page& page, const GridRaster& raster, const std::vector<Thumbnail>& list) {
  const ViewSettings& view = page.input().session.view;
  const auto outline = [&](Index layer, Index head, const Colour& colour) {
    const std::optional<Box> found = raster.box_of(layer, head);
    if (!found) return;
    const Box box = *found;
    const double out = std::min(1.5, raster.gap / 2);
    page.add(OutlinedBox{
        {box.x - out, box.y - out, box.width + 2 * out, box.height + 2 * out}, colour, 2});
  };
  const bool marks_selected = !page.input().figure.framed;  // window only
  if (marks_selected) outline(view.layer, view.head, page.theme().accent);
  if (!page.input().interaction.pointer) return;
  if (const auto hit = raster.hit(*page.input().interaction.pointer)) {
    outline(hit->layer, hit->head, page.theme().text);
    if (page.input().figure.framed) {  // the window names the hovered head in a panel
      std::string text =
          "layer " + std::to_string(hit->layer) + ", head " + std::to_string(hit->head);
      for (const Thumbnail& t : list) {
        const bool is_hovered = t.layer == hit->layer && t.head == hit->head;
        if (is_hovered && !t.name.words.empty()) text += ": " + t.name.words;
      }
      page.tag(*page.input().interaction.pointer, text, raster.area());
    }
  }
}

// Titles of the colour bar, longest first.
std::vector<std::string> bar_titles(const ViewInput& input, bool own_scale) {
  const Values options = view_values(input.session.view, "grid");
  const ColourRange::Scale scale = scale_of(options);
  if (scale == ColourRange::Scale::Rank) {
    return own_scale ? std::vector<std::string>{"rank within the map", "rank"}
                     : std::vector<std::string>{"attention weight by rank", "by rank", "rank"};
  }
  const std::string log = scale == ColourRange::Scale::Log ? " (log)" : "";
  const RowScale rows = row_scale_of(options);
  if (rows == RowScale::Largest) return {unit_of(rows), "share of the row's", "share"};
  if (own_scale) return {"relative to the map's colour range" + log, "share" + log};
  return {unit_of(rows) + log, rows == RowScale::None ? "weight" + log : "× equal"};
}

std::string subject(const ViewInput& input, bool own_scale) {
  std::string text = capitalised(describe_part(input.trace, input.session.view) +
                                 describe_layers_and_heads(input.trace, input.part())) +
                     "; each map shows how much a query (row) attends to a key (column)";
  if (own_scale) text += ", each on its own scale";
  if (view_values(input.session.view, "grid").flag("hide_first")) {
    text += has_merged_words(input.trace) ? "; the first word's column is hidden"
                                          : "; the first token's column is hidden";
  }
  return text + ".";
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  std::vector<Thumbnail> list = thumbnails(input.trace, input.part());
  if (list.empty()) {
    const SelectedTap found = find_tap(input);
    return page.message(found.headline, found.advice);
  }
  name_heads(input, list);
  const GridOrder order = sort_thumbnails(input, list);
  if (list.empty()) {
    return page.message(
        "No head passes the filter",
        "None of the " + std::to_string(order.total) + " heads has such a " +
            (has_merged_words(input.trace) ? order.measure->word_label : order.measure->label) +
            ". Widen the limits.");
  }
  const bool own_scale = view_values(input.session.view, "grid").flag("own");
  Box inside = page.frame(title_with_part(input), caption(input.trace, subject(input, own_scale)));
  const auto place = [&] {
    return order.measure != nullptr ? place_sorted(page, inside, list)
                                    : place_layers(page, inside, list);
  };
  GridRaster raster = place();
  const bool has_pooling = is_pooled(input, raster, list);
  const bool has_excluded = std::ranges::any_of(
      list, [](const Thumbnail& t) { return has_excluded_pairs(*t.tap, t.head_in_group); });
  if (has_pooling || has_excluded) {  // space for the note
    inside.height -= kPoolNote * page.em();
    raster = place();
  }
  if (!(raster.width >= kMinThumbnail && raster.height >= kMinThumbnail)) {
    return no_space(page);
  }
  const Box area = raster.area();
  const Box maps{area.x, area.y + raster.label, area.width, area.height - raster.label};
  const GridMaps grid = grid_maps(input, raster, list);
  for (std::size_t n = 0; n < list.size(); ++n) {
    const HeatMap& cells = grid.cells[n];
    page.add(cells);
    HeatMap pairs;
    pairs.box = cells.box;
    pairs.height = static_cast<double>(list[n].tap->queries());
    pairs.width = static_cast<double>(list[n].tap->keys());
    cover_excluded(page, pairs, *list[n].tap, list[n].head_in_group);
    page.add(OutlinedBox{cells.box, page.theme().line, 1});
  }
  if (order.measure != nullptr) {
    draw_labels(page, raster, list);
    page.faint_text({area.x, area.y - kGridSortNote * page.em() / 2},
                    page.fitting(order.notes, page.small(), inside.right() - area.x), page.small());
  } else {
    draw_headers(page, raster, area);
    draw_names(page, raster, list);
  }
  draw_marks(page, raster, list);
  draw_colour_bar(page, {maps.right(), maps.y, colour_bar_width(page), maps.height}, grid.range,
                  bar_titles(input, own_scale));
  double bottom = area.bottom();
  const double note_y = bottom + kPoolNote * page.em() / 2;
  if (has_pooling || has_excluded) bottom += kPoolNote * page.em();
  if (has_excluded) draw_excluded_legend(page, maps.right() + page.em(), note_y);
  if (has_pooling) {
    page.faint_text(
        {area.x, note_y},
        page.fitting({"max-pooled: each pixel shows its largest weight",
                      "each pixel shows its largest", "max-pooled"},
                     page.small(), (has_excluded ? maps.right() : inside.right()) - area.x),
        page.small());
  }
  ViewLayout layout;
  layout.list = page.take(bottom);
  layout.pending = pending_text(grid.exact);
  layout.hit = [raster](Point p) { return raster.hit(p); };
  return layout;
}

// Weights of all heads of a layer.  [h, L_q, L_k]
ViewData::Matrix layer_data(const ViewInput& input, Index layer) {
  ViewData::Matrix matrix{"attention." + std::to_string(layer), {}, {}, {}, {"head"}};
  const TracePart part = input.part();
  const Index heads = input.trace.head_count(part, layer);
  for (Index head = 0; head < heads; ++head) {
    Index head_in_group = 0;
    const AttentionTap* tap = input.trace.find({layer, head, part}, &head_in_group);
    if (tap == nullptr) continue;
    const Tensor weights = tap->attention(head_in_group);
    if (!matrix.values.defined()) {
      matrix.values = Tensor::zeros({heads, weights.dim(0), weights.dim(1)});
      matrix.rows = query_axis(input.trace, *tap).labels;
      matrix.columns = key_axis(input.trace, *tap).labels;
    }
    if (weights.dim(0) != matrix.values.dim(1) || weights.dim(1) != matrix.values.dim(2)) {
      throw InputError("grid: the heads of layer " + std::to_string(layer) +
                       " have maps of different sizes; export them one by one");
    }
    std::copy(weights.begin(), weights.end(), matrix.values.data() + head * weights.size());
  }
  return matrix;
}

// One matrix [layers, h, L_q, L_k] if all layers have the same shape, otherwise one per layer.
ViewData data(const ViewInput& input) {
  ViewData data;
  bool have_same_shape = true;
  for (Index layer = 0; layer < input.trace.layer_count(input.part()); ++layer) {
    data.matrices.push_back(layer_data(input, layer));
    have_same_shape &= data.matrices.back().values.shape() == data.matrices.front().values.shape();
  }
  if (data.matrices.empty()) throw InputError("grid: there is no attention to export");
  if (!have_same_shape) return data;
  const Tensor& first = data.matrices.front().values;
  Tensor all({static_cast<Index>(data.matrices.size()), first.dim(0), first.dim(1), first.dim(2)});
  float* to = all.data();
  for (const ViewData::Matrix& matrix : data.matrices) {
    to = std::copy(matrix.values.begin(), matrix.values.end(), to);
  }
  ViewData::Matrix joined = std::move(data.matrices.front());
  joined.name = "attention";
  joined.values = all;
  joined.axes = {"layer", "head"};
  return {{std::move(joined)}};
}

std::vector<Parameter> parameters() {
  using Kind = Parameter::Kind;
  std::vector<ParameterChoice> orders{"layer"};
  for (const HeadMeasure& measure : head_measures()) orders.emplace_back(measure.id, measure.label);
  const auto limit = [](const char* key, const char* label, const char* help, double initial) {
    constexpr double kMaxLimit = 1e6, kMaxSlider = 1;
    return Parameter{.key = key,
                     .label = label,
                     .help = help,
                     .kind = Kind::Real,
                     .optional = true,
                     .unset_label = "none",
                     .initial = initial,
                     .limits = {.min = 0, .max = kMaxLimit},
                     .slider = {.min = 0, .max = kMaxSlider}};
  };
  return {
      {.key = "sort",
       .label = "Sort by",
       .help = "Order of the heads: by layer, or by a measure (see attnscope statistics --help).",
       .kind = Kind::Choice,
       .initial = std::string("layer"),
       .choices = orders},
      {.key = "ascending",
       .label = "Ascending",
       .help = "Sort in ascending order.",
       .kind = Kind::Flag,
       .initial = false},
      scale_parameter(),
      {.key = "own",
       .label = "Independent scales",
       .help = "Scale the colours of each map by its own weights.",
       .kind = Kind::Flag,
       .initial = false},
      hide_first_parameter(),
      limit("at_least", "At least", "Hide heads below this value.", 0.2),
      limit("at_most", "At most", "Hide heads above this value.", 0.8)};
}

// Upper bound of the filter limits: number of tokens, its logarithm in bits, or 1 for fractions.
double largest_measure(const std::string& sort, const Trace* trace) {
  const auto tokens = trace != nullptr ? static_cast<double>(trace->tokens.size()) : 1;
  if (sort == "distance") return std::max(1.0, tokens);
  if (sort == "entropy") return std::max(1.0, std::ceil(std::log2(std::max(1.0, tokens))));
  return 1;
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  const Values values = view_values(settings, "grid");
  const std::string sort = values.choice("sort"), scale = values.choice("scale");
  if (scale == "rank" || scale == "row") controls.colour_ends.clear();
  if (scale == "row") controls.idle["own"] = "Each row already has its own scale.";
  for (Parameter& parameter : controls.parameters) {
    const bool is_limit = parameter.kind == Parameter::Kind::Real;
    if (is_limit) parameter.slider.max = largest_measure(sort, trace);
    if (sort == "layer" && (is_limit || parameter.key == "ascending")) {
      controls.idle[parameter.key] =
          "No measure while heads are ordered by layer: choose "
          "another “Sort by”.";
    }
  }
}

std::optional<FindingSettings> head_table_settings(const RunView& run_view) {
  if (run_view.view.statistics_file.empty()) return std::nullopt;
  return HeadTableSettings{run_view.view.statistics_file, run_view.view.words};
}

}  // namespace

View grid_view() {
  return with_word_merging(
      {.id = "grid",
       .label = "Grid",
       .group = "Attention",
       .summary = "All layers and heads at once; a click opens one.",
       .lay_out = lay_out,
       .reading = fixed_reading(
           "Each square is the map of one head: queries as rows, keys as columns, brighter is "
           "more. A bright line next to the diagonal attends to the previous token, a bright left "
           "edge to the first token, distant spots to earlier content. Click one to open it.",
           {{"Entropy",
             "how widely a head attends: 0 bits is a single key, 3 bits is like 8 equal keys."},
            {"Induction",
             "weight on the successor of an earlier occurrence of the token: a head that continues "
             "repetitions."}}),
       .data = data,
       .findings = {{Findings::heads.id, head_table_settings}, {Findings::maps.id}},
       .options = {.parameters = parameters(), .restrict_controls = restrict_controls},
       .content = {.objection = objection_without_attention}});
}

}  // namespace attnscope
