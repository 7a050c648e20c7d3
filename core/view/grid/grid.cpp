// Grid view: thumbnails of all layers and heads.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/experiment/head_table.h"
#include "core/figure/plain_text.h"
#include "core/view/grid/grid_cells.h"
#include "core/view/grid/grid_labels.h"
#include "core/view/map/map_values.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/range.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/token_axis.h"
#include "core/view/parts/word_merging.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kMinThumbnail = 2;  // pixels
constexpr double kNote = 1.6;        // em: line below the thumbnails

// One layout of the grid.
class Grid {
 public:
  explicit Grid(const ViewInput& input)
      : input_(input),
        page_(input),
        options_(view_values(input.session.view, "grid")),
        list_(thumbnails(input.trace, input.part())) {}

  ViewLayout lay_out() {
    if (list_.empty()) {
      const SelectedTap found = find_tap(input_);
      return page_.message(found.headline, found.advice);
    }
    const std::shared_ptr<const HeadSurvey> survey = survey_heads(input_, list_);
    first_token_ = first_token_of(input_, survey.get());
    for (Thumbnail& t : list_) {
      if (survey == nullptr) break;
      const auto name = survey->names.find({t.layer, t.head});
      if (name != survey->names.end()) t.name = name->second;
      const auto share = survey->first_token.find({t.layer, t.head});
      if (surveys_shown_tokens(input_) && share != survey->first_token.end())
        t.first_token = share->second;
    }
    order_ = sort_thumbnails(input_, list_);
    if (list_.empty()) {
      return page_.message("No head passes the filter",
                           "None of the " + std::to_string(order_.total) + " heads has such a " +
                               (has_merged_words(input_.trace) ? order_.measure->word_label
                                                               : order_.measure->label) +
                               ". Widen the limits.");
    }
    keep_selected();
    if (list_.empty()) {
      return page_.message("No selected head",
                           "None of the selected heads passes the filter or exists in this run. "
                           "Clear the selection, or show all heads.");
    }
    has_names_ =
        std::ranges::any_of(list_, [](const Thumbnail& t) { return !t.name.badge.empty(); });
    const bool has_own_scale = options_.flag("own");
    inside_ = page_.frame(title_with_part(input_),
                          caption(input_.trace, grid_subject(input_, has_own_scale,
                                                             first_token_.is_hidden, has_names_)));
    place();
    if (!(raster_.width >= kMinThumbnail && raster_.height >= kMinThumbnail)) {
      return no_space(page_);
    }
    return draw(has_own_scale);
  }

 private:
  double em() const { return page_.em(); }
  // True if the thumbnails form a sorted or selected list instead of rows by layer.
  bool is_list() const { return order_.measure != nullptr || is_selection_; }

  void keep_selected() {
    const HeadList selected = selected_heads(input_.session.view);
    selected_count_ = selected.size();
    is_selection_ = !selected.empty() && options_.flag("only_selected");
    if (!is_selection_) return;
    std::erase_if(list_, [&](const Thumbnail& t) {
      return std::ranges::find(selected, std::pair{t.layer, t.head}) == selected.end();
    });
  }

  void place() {
    const Box all = inside_;
    const auto place_in = [&] {
      raster_ = is_list() ? place_list(page_, inside_, list_, order_.measure != nullptr)
                          : place_layers(page_, inside_, list_);
      has_pooling_ = is_pooled(input_, raster_, list_);
    };
    place_in();
    has_excluded_ = std::ranges::any_of(
        list_, [](const Thumbnail& t) { return has_excluded_pairs(*t.tap, t.head_in_group); });
    const double lines = (has_note() ? 1 : 0) + (raster_.strip > 0 ? 1 : 0);
    if (lines == 0) return;
    const bool had_strip = raster_.strip > 0;
    inside_.height = all.height - lines * kNote * em();
    place_in();
    if (raster_.strip > 0 && !had_strip) {  // with less space, names have become strips
      inside_.height -= kNote * em();
      place_in();
    }
  }

  bool has_note() const {
    return has_pooling_ || has_excluded_ || first_token_.is_hidden || selected_count_ > 0;
  }

  ViewLayout draw(bool own_scale) {
    const Box area = raster_.area();
    const double top = raster_.label + raster_.strip;
    const Box maps{area.x, area.y + top, area.width, area.height - top};
    const GridMaps grid = grid_maps(input_, raster_, list_, first_token_.is_hidden);
    for (std::size_t n = 0; n < list_.size(); ++n) draw_map(grid.cells[n], list_[n]);
    if (first_token_.is_hidden) draw_first_token_bars(page_, raster_, list_);
    if (is_list()) {
      draw_list_labels(page_, raster_, list_);
      draw_order(area);
    } else {
      draw_grid_headers(page_, raster_, area);
    }
    draw_head_names(page_, raster_, list_);
    draw_head_marks(page_, raster_, list_,
                    is_selection_ ? HeadList() : selected_heads(input_.session.view));
    draw_colour_bar(page_, {maps.right(), maps.y, colour_bar_width(page_), maps.height}, grid.range,
                    grid_bar_titles(input_, own_scale));
    double bottom = area.bottom();
    if (has_note()) {
      draw_note(area, bottom + kNote * em() / 2);
      bottom += kNote * em();
    }
    if (raster_.strip > 0) {
      draw_name_legend(page_, list_, {area.x, bottom, inside_.right() - area.x, kNote * em()},
                       inside_.x);
      bottom += kNote * em();
    }
    ViewLayout layout;
    layout.list = page_.take(bottom);
    layout.pending = pending_text(grid.exact);
    layout.hit = [raster = raster_](Point p) { return raster.hit(p); };
    add_selection(layout);
    return layout;
  }

  void draw_map(const HeatMap& cells, const Thumbnail& thumbnail) {
    page_.add(cells);
    HeatMap pairs;
    pairs.box = cells.box;
    pairs.height = static_cast<double>(thumbnail.tap->queries());
    pairs.width = static_cast<double>(thumbnail.tap->keys());
    excluded_.cover(page_, pairs, *thumbnail.tap, thumbnail.head_in_group);
    page_.add(OutlinedBox{cells.box, page_.theme().line, 1});
  }

  // Describes the order and the labels of a list in a line above the list.
  void draw_order(const Box& area) {
    std::vector<std::string> notes = order_.notes;
    if (order_.measure == nullptr) {
      notes = {count_text(static_cast<long long>(list_.size()), "selected head")};
    }
    const bool is_window = !input_.figure.framed;
    const std::string labels = raster_.label_kind != GridLabel::None ? "; named layer·head"
                               : is_window ? "; point at a head for its name"
                                           : "; too many heads for their names";
    std::vector<std::string> candidates;
    for (const std::string& note : notes) candidates.push_back(note + labels);
    candidates.insert(candidates.end(), notes.begin(), notes.end());
    page_.faint_text({area.x, area.y - kGridSortNote * em() / 2},
                     page_.fitting(candidates, page_.small(), inside_.right() - area.x),
                     page_.small());
  }

  void draw_note(const Box& area, double y) {
    if (has_excluded_) draw_excluded_legend(page_, area.right() + em(), y);
    const std::string hidden =
        has_merged_words(input_.trace) ? "first word hidden" : "first token hidden";
    const std::string reason = first_token_.reason.empty() ? "" : " (" + first_token_.reason + ")";
    std::string count;
    if (selected_count_ > 0 && !is_selection_) {
      count = count_text(static_cast<long long>(selected_count_), "head") + " selected";
    }
    // Joins the notes in one line.
    const auto note = [&](const std::string& hidden_text, const char* pooled_text) {
      std::string text = count;
      if (first_token_.is_hidden) text += (text.empty() ? "" : "; ") + hidden_text;
      if (has_pooling_) text += (text.empty() ? "" : "; ") + std::string(pooled_text);
      return text;
    };
    const double width = (has_excluded_ ? area.right() : inside_.right()) - area.x;
    const bool has_bars =
        std::ranges::any_of(list_, [](const Thumbnail& t) { return !std::isnan(t.first_token); });
    const bool explains_bars = first_token_.is_hidden && has_bars;
    const std::string bars = explains_bars ? "; bar at the left edge: its share in each head" : "",
                      bar = explains_bars ? "; bar: its share" : "";
    const char* const pooled = "max-pooled: each pixel shows its largest weight";
    page_.faint_text(
        {area.x, y},
        page_.fitting({note(hidden + reason + bars, pooled), note(hidden + reason + bar, pooled),
                       note(hidden + bar, pooled), note(hidden + reason, pooled),
                       note(hidden + reason + bar, "max-pooled"), note(hidden + bar, "max-pooled"),
                       note(hidden, "max-pooled")},
                      page_.small(), width),
        page_.small());
  }

  // Adds a handle to the hovered head, so that a click with Ctrl or Shift changes the selection.
  void add_selection(ViewLayout& layout) const {
    const Interaction& mouse = input_.interaction;
    if (!mouse.pointer || !(mouse.adds || mouse.extends)) return;
    const std::optional<Hit> hit = raster_.hit(*mouse.pointer);
    if (!hit) return;
    const std::pair head{hit->layer, hit->head};
    const HeadList before = selected_heads(input_.session.view);
    const HeadList after =
        mouse.extends ? with_range(before, head, list_) : with_added(before, head);
    const std::string help = mouse.extends                  ? "Select the heads up to this one."
                             : after.size() > before.size() ? "Select this head."
                                                            : "Deselect this head.";
    layout.handles.push_back(
        {raster_.box_of(hit->layer, hit->head).value(), help, {}, [after](Session& session) {
           select_heads(session.view, after);
         }});
  }

  const ViewInput& input_;
  Page page_;
  const Values options_;
  std::vector<Thumbnail> list_;
  FirstToken first_token_;
  GridOrder order_;
  Box inside_;
  GridRaster raster_;
  ExcludedPairs excluded_;
  std::size_t selected_count_ = 0;  // including selected heads that are not shown
  bool has_names_ = false, is_selection_ = false, has_pooling_ = false, has_excluded_ = false;
};

ViewLayout lay_out(const ViewInput& input) {
  return Grid(input).lay_out();
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

// A matrix [L_q, L_k] for each selected head.
ViewData selected_data(const ViewInput& input, const HeadList& selected) {
  ViewData data;
  for (const auto& [layer, head] : selected) {
    Index head_in_group = 0;
    const AttentionTap* tap = input.trace.find({layer, head, input.part()}, &head_in_group);
    if (tap == nullptr) continue;
    data.matrices.push_back({"attention." + std::to_string(layer) + "." + std::to_string(head),
                             tap->attention(head_in_group), query_axis(input.trace, *tap).labels,
                             key_axis(input.trace, *tap).labels});
  }
  if (data.matrices.empty()) throw InputError("grid: this run has none of the selected heads");
  return data;
}

// If only selected heads are shown, a matrix for each of them. Otherwise one matrix
// [layers, h, L_q, L_k] if all layers have the same shape, else one matrix per layer.
ViewData data(const ViewInput& input) {
  const HeadList selected = selected_heads(input.session.view);
  const bool is_selection = view_values(input.session.view, "grid").flag("only_selected");
  if (is_selection && !selected.empty()) return selected_data(input, selected);
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
  for (ViewData::Matrix& matrix : data.matrices) {
    to = std::copy(matrix.values.begin(), matrix.values.end(), to);
    if (&matrix != &data.matrices.front()) matrix.values = {};
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
  Parameter hide_first = hide_first_parameter();
  hide_first.optional = true;
  hide_first.help += " Automatic: hidden if it has at least " + percent(kMinSinkShare) +
                     " of the weight, and " + brief(kMinSinkRatio) +
                     " times as much as at equal attention.";
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
      hide_first,
      limit("at_least", "At least", "Hide heads below this value.", 0.2),
      limit("at_most", "At most", "Hide heads above this value.", 0.8),
      {.key = "only_selected",
       .label = "Only selected",
       .help = "Show and export only the selected heads.",
       .kind = Kind::Flag,
       .initial = false},
      {.key = "selected",
       .label = "Selected heads",
       .help = "Selected heads, as lists of layer and head: [[3, 2], [4, 0]].",
       .kind = Kind::IntegerLists,
       .optional = true,
       .unset_label = "none",
       .initial = std::vector<std::vector<Index>>{},
       .limits = {.min = 0, .max = 1e6},
       .list_size = 2}};
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
  // Heads are selected by clicks.
  std::erase_if(controls.parameters, [](const Parameter& p) { return p.key == "selected"; });
  if (selected_heads(settings).empty()) {
    controls.idle["only_selected"] = "No head is selected: Ctrl+click or Shift+click heads.";
  }
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

namespace {

// Sentence on the weight of the first token, which is hidden automatically or by choice.
std::string describe_left_edge(const ViewSettings& settings) {
  const Values options = view_values(settings, "grid");
  if (!options.has("hide_first")) {
    return "distant spots to earlier content, a bright left edge to the first token. That column "
           "is hidden if it outshines all others; the line below the squares says so. ";
  }
  return options.flag("hide_first")
             ? "distant spots to earlier content. The first token's column is hidden. "
             : "a bright left edge to the first token, distant spots to earlier content. ";
}

ViewReading reading(const ViewSettings& settings, const Trace*) {
  return {
      "Each square is the map of one head: queries as rows, keys as columns, brighter is more. A "
      "bright line next to the diagonal attends to the previous token, " +
          describe_left_edge(settings) +
          "Click one to open it; Ctrl+click and Shift+click select heads.",
      {{"Entropy",
        "how widely a head attends: 0 bits is a single key, 3 bits is like 8 equal keys."},
       {"Induction",
        "weight on the successor of an earlier occurrence of the token: a head that continues "
        "repetitions."},
       {"Name",
        "behaviour on this text, if it differs from equal attention by at least " +
            brief(kNameSpreads) +
            " standard deviations (of rows that attend to one random key each), on at least " +
            brief(kNameRows) + " rows."}}};
}

}  // namespace

View grid_view() {
  return with_word_merging(
      {.id = "grid",
       .label = "Grid",
       .group = "Attention",
       .summary = "All layers and heads at once; a click opens one.",
       .lay_out = lay_out,
       .reading = reading,
       .data = data,
       .findings = {{Findings::heads.id, head_table_settings}, {Findings::maps.id}},
       .options = {.parameters = parameters(), .restrict_controls = restrict_controls},
       .content = {.objection = objection_without_attention}});
}

}  // namespace attnscope
