// Steps view: steps of a Universal Transformer for each token, and halting (Dehghani et al., 2018,
// section 2.2; Graves, 2016).
#include <algorithm>

#include "core/analysis/halting.h"
#include "core/checkpoint/checkpoint.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/view/parts/bundled_example.h"
#include "core/view/parts/cached_numbers.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/range.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/refusal.h"
#include "core/view/parts/row_bars.h"
#include "core/view/parts/token_flow.h"
#include "core/view/steps/computation_graph.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kMaxFlow = 0.2;                            // fraction of the height for the text
constexpr double kMinFlow = 1.8;                            // em: one line
constexpr double kMaxRow = 1.9;                             // em
constexpr double kMaxColumn = 6;                            // em
constexpr double kBars = 9;                                 // em: width of the bars of ponder cost
constexpr double kMinBars = 4;                              // em
constexpr double kMinWideWidth = 30;                        // em: narrower pictures have no bars
constexpr double kMinPlot = 4;                              // em
constexpr double kLine = 1.5;                               // em: line of text
constexpr double kNumberHeight = 1.05, kNumberWidth = 2.6;  // em: minimum cell size for numbers

Refusal refusal_of(const Trace& trace) {
  if (trace.is_imported || !has_steps(trace)) {
    return {"This model has no recurrence over depth",
            "Each layer is applied once. Choose a Universal Transformer, whose layers are applied "
            "repeatedly to every token, or a recurrent network with sub-steps."};
  }
  if (!halts(trace)) {
    return {
        "Every token uses all steps",
        "This model uses the same number of steps for every token. Set the architecture's Halting "
        "to act, or choose a model that was trained with it: then each token halts individually."};
  }
  return {};
}

Refusal refuse_graph(const Trace& trace) {
  if (has_sub_steps(trace)) return {};
  return {"This model has no recurrent cell",
          "The computation graph shows the sub-steps of a recurrent network: choose one that halts "
          "(architecture recurrent, halting act), or the halting probabilities."};
}

std::string objection(const Trace& trace) {
  return refusal_of(trace).sentence();
}

Stack selected_stack(const ViewInput& input) {
  return input.trace.parts.stack ? input.part().stack : Stack::Decoder;
}

// The tokens that the selected stack reads.
const std::vector<TraceToken>& tokens_of(const ViewInput& input) {
  return selected_stack(input) == Stack::Encoder ? input.trace.text_tokens() : input.trace.tokens;
}

HaltingRecord halting_of(const ViewInput& input) {
  return attnscope::halting_of(input.trace, selected_stack(input));
}

std::shared_ptr<const HaltingRecord> cached_halting(const ViewInput& input) {
  return cached_numbers(input, source_of(input.trace),
                        CacheKey("halting", static_cast<Index>(selected_stack(input))),
                        [&] { return halting_of(input); });
}

class StepsLayout {
 public:
  StepsLayout(const ViewInput& input, Page& page, const HaltingRecord& record)
      : input_(input), page_(page), tokens_(tokens_of(input)), record_(record) {}

  ViewLayout lay_out(const Box& inside) {
    if (!place_panels(inside)) return no_space(page_);
    draw_summary();
    draw_text();
    draw_cells();
    draw_ponder();
    draw_note();
    return finish();
  }

  static std::string describe_picture() {
    return "Steps of the model's layers for each token (adaptive computation time). Each cell is "
           "the probability of halting after that step; a token halts at the outlined cell, when "
           "its probabilities sum to 1 within ε, and later steps keep its state. The remainder R "
           "is 1 minus the sum before the last step. The ponder cost, which training penalises, is "
           "the number of steps N plus R";
  }

 private:
  double em() const { return page_.em(); }
  Index last_step(Index i) const { return record_.steps[static_cast<std::size_t>(i)]; }
  const std::string& label(Index i) const { return tokens_[static_cast<std::size_t>(i)].label; }

  std::string subject() const {
    if (!input_.trace.parts.stack) return "The text uses ";
    return selected_stack(input_) == Stack::Encoder ? "The source uses " : "The target uses ";
  }

  Colour step_colour(Index steps) const { return depth_colour(steps - 1, record_.max_steps); }

  bool place_panels(const Box& inside) {
    flow_height_ = token_flow_height(page_, flow_tokens(), inside.width,
                                     std::max(kMinFlow * em(), kMaxFlow * inside.height));
    const double header_height = kLine * em() + flow_height_ + swatches_height(page_) + 0.6 * em();
    MatrixPlot& grid = matrix_;
    grid.scale = input_.canvas.scale;
    for (const TraceToken& token : tokens_) grid.rows.labels.push_back(token.label);
    grid.rows.titles = {"token", ""};
    grid.columns.titles = {"after step", "step"};
    for (Index t = 1; t <= record_.max_steps; ++t) grid.columns.labels.push_back(std::to_string(t));
    grid.rows = measured(page_, std::move(grid.rows));
    grid.columns = measured(page_, std::move(grid.columns));
    const double depth = std::min(10 * em(), 0.25 * std::min(inside.width, inside.height));
    const double colour_bar = colour_bar_width(page_);
    bars_width_ = std::min(kBars * em(), 0.3 * inside.width);
    if (bars_width_ < kMinBars * em() || inside.width < kMinWideWidth * em()) bars_width_ = 0;
    const double space = inside.height - header_height - kLine * em();
    const ViewSettings& view = input_.session.view;
    const auto step_count = static_cast<double>(record_.max_steps);
    set_visible(grid, {view.row, 0, view.height, view.height > 0 ? step_count : 0});
    const auto plot_size = [&](const AxisDepths& depths) {
      const double width = inside.width - depths.left - colour_bar - bars_width_ - 1.5 * em();
      return PlotSize{std::clamp(width, 0.0, step_count * kMaxColumn * em()),
                      std::clamp(space - depths.top, 0.0, grid.height * kMaxRow * em())};
    };
    const AxisDepths depths =
        settled_depths(page_, grid.rows, grid.columns, {depth, depth}, plot_size);
    const PlotSize size = plot_size(depths);
    grid.left = depths.left;
    grid.top = depths.top;
    const double min_height = std::min(kMinPlot, 1.2 * grid.height) * em();
    if (size.width < kMinPlot * em() || size.height < min_height) return false;
    const double y = inside.y + page_.top_margin(inside.height, header_height + grid.top +
                                                                    size.height + kLine * em());
    header_ = {inside.x, y, inside.width, header_height};
    const double width = grid.left + size.width + 1.5 * em() + bars_width_ + colour_bar;
    grid.plot = {inside.x + (inside.width - width) / 2 + grid.left, y + header_height + grid.top,
                 size.width, size.height};
    ponder_ = {grid.plot.right() + 0.7 * em(), grid.plot.y, bars_width_, size.height};
    grid.right = {ponder_.right() + 0.8 * em(), grid.plot.y, colour_bar, size.height};
    if (view.pinned_query < grid.rows.count()) grid.pinned_row = view.pinned_query;
    if (input_.interaction.pointer) set_hovered(*input_.interaction.pointer);
    return true;
  }

  // Sets the hovered cell. A bar of the ponder cost hovers its row.
  void set_hovered(Point p) {
    MatrixPlot& grid = matrix_;
    std::tie(grid.hovered_row, grid.hovered_column) = pair_at(grid)(p);
    if (ponder_.contains(p)) {
      grid.hovered_row = pair_at(grid)({grid.plot.x + 1, p.y}).first;
    }
  }

  std::vector<FlowToken> flow_tokens() const {
    std::vector<FlowToken> tokens;
    for (Index i = 0; i < record_.length(); ++i) {
      tokens.push_back(
          {label(i), step_colour(last_step(i)),
           i == (matrix_.hovered_row >= 0 ? matrix_.hovered_row : matrix_.pinned_row)});
    }
    return tokens;
  }

  void draw_summary() {
    const auto [least, most] = std::ranges::minmax(record_.steps);
    const std::string mean = brief(record_.mean_steps()), limit = std::to_string(record_.max_steps);
    const std::string cost = "ponder cost " + brief(record_.ponder()) + " per token";
    std::string hardest;
    if (most > least) {
      const auto token = std::ranges::max_element(record_.steps) - record_.steps.begin();
      hardest = "; “" + label(token) + "” uses " + std::to_string(most) + ", others as few as " +
                std::to_string(least);
    } else {
      const auto& r = record_.remainder;
      const auto token = std::ranges::max_element(r) - r.begin();
      hardest = "; all tokens use " + std::to_string(least) + ", “" + label(token) +
                "” with the largest remainder, " + brief(r[static_cast<std::size_t>(token)]);
    }
    const std::string usage = mean + " steps per token, maximum " + limit;
    page_.text({header_.x, header_.y + 0.6 * em()},
               page_.fitting({subject() + usage + hardest + ": " + cost + ".",
                              subject() + usage + ": " + cost + ".", usage + ": " + cost, usage},
                             em(), header_.width),
               em());
  }

  void draw_text() {
    const double y = header_.y + kLine * em();
    const Extent rows = visible_extent(matrix_.row, matrix_.height, record_.length());
    flow_ = draw_token_flow(page_, {header_.x, y, header_.width, flow_height_}, flow_tokens(),
                            static_cast<std::size_t>(std::max<Index>(rows.last, 1) - 1));
    std::vector<Swatch> swatches;
    for (Index t = 1; t <= record_.max_steps; ++t) {
      const auto count = std::ranges::count(record_.steps, t);
      swatches.push_back({step_colour(t), std::to_string(t) + " (" + std::to_string(count) + ")"});
    }
    draw_swatches(page_, {header_.x, y + flow_height_}, header_.width, "steps (tokens)", swatches);
  }

  Box cell(Index row, Index step) const { return matrix_.cell(row, step - 1); }

  void draw_cells() {
    const MatrixPlot& grid = matrix_;
    HeatMap cells = matrix_cells(grid);
    cells.values = record_.probability;
    cells.missing = blend(page_.theme().background, page_.theme().line, 0.35);
    ColourRange range;
    range.colour_map = input_.session.view.colour_map;
    if (colour_map(range.colour_map).diverging()) range.colour_map = "viridis";
    cells.most = range.most;
    cells.colour_map = range.colour_map;
    page_.add(cells);
    draw_halting_markers();
    draw_numbers(range);
    draw_matrix_frame(page_, grid, {});
    draw_colour_bar(page_, grid.right, range, {"halting probability", "halting", ""});
  }

  void draw_halting_markers() {
    const auto [first, last] = visible_extent(matrix_.row, matrix_.height, record_.length());
    page_.add(Clip{matrix_.plot});
    for (Index i = first; i < last; ++i) draw_row_end_marker(page_, cell(i, last_step(i)));
    page_.add(Clip{});
  }

  bool has_numbers() const {
    const Box first_cell = cell(0, 1);
    return first_cell.height >= kNumberHeight * em() && first_cell.width >= kNumberWidth * em();
  }

  void draw_numbers(const ColourRange& range) {
    if (!has_numbers()) return;
    const ColourMap& colours = colour_map(range.colour_map);
    const auto [first, last] = visible_extent(matrix_.row, matrix_.height, record_.length());
    page_.add(Clip{matrix_.plot});
    for (Index i = first; i < last; ++i) {
      for (Index t = 1; t <= last_step(i); ++t) {
        const Box box = cell(i, t);
        const auto h = static_cast<double>(record_.probability(i, t - 1));
        const bool is_last = t == last_step(i);
        page_.add(Text{{box.x + box.width / 2, box.y + box.height / 2},
                       fixed(h, 2),
                       ink_on(colours.at(h)),
                       page_.small(),
                       Align::Middle,
                       0,
                       is_last});
      }
    }
    page_.add(Clip{});
  }

  void draw_ponder() {
    if (bars_width_ == 0) return;
    RowBars bars;
    for (Index i = 0; i < record_.length(); ++i) {
      bars.values.push_back(record_.ponder(i));
      bars.numbers.push_back(std::to_string(last_step(i)) + " + " +
                             fixed(record_.remainder[static_cast<std::size_t>(i)], 2));
    }
    bars.titles = {"ponder cost N + R", "ponder cost", "N + R"};
    bars.min_range = static_cast<double>(record_.max_steps + 1);
    draw_row_bars(page_, ponder_, matrix_, bars);
  }

  void draw_note() {
    const MatrixPlot& grid = matrix_;
    std::vector<std::string> candidates;
    if (grid.hovered_row >= 0) {
      const Index i = grid.hovered_row;
      const double r = record_.remainder[static_cast<std::size_t>(i)];
      const std::string halting =
          record_.halted_by_itself(i) ? "halts after step " : "stopped at the last step, ";
      const std::string subject = "“" + label(i) + "” " + halting + std::to_string(last_step(i));
      const std::string cost = "ponder cost " + brief(record_.ponder(i));
      const std::string sentence = subject + ": remainder " + brief(r) + ", " + cost;
      candidates = {sentence, subject + ": " + cost, subject};
      if (grid.hovered_column >= 0 && grid.hovered_column < last_step(i)) {
        const auto h = static_cast<double>(record_.probability(i, grid.hovered_column));
        const std::string step = "step " + std::to_string(grid.hovered_column + 1);
        candidates = {sentence + " · " + step + ": halts with probability " + brief(h),
                      subject + ": " + cost + " · " + step + ": " + brief(h),
                      subject + " · " + step + ": " + brief(h), subject};
      }
    } else if (!input_.figure.framed) {
      const std::string halting =
          has_row_end_outline(cell(0, 1)) ? "outlined: halts here" : "line: halts here";
      candidates = {halting + " · grey: state unchanged", halting};
    }
    if (candidates.empty()) return;
    // Keeps the space below the bars free for their hovered value.
    const double width = grid.left + grid.plot.width;
    page_.faint_text({grid.plot.x - grid.left, grid.plot.bottom() + 0.9 * em()},
                     page_.fitting(candidates, page_.small(), width), page_.small());
  }

  ViewLayout finish() {
    const MatrixPlot& grid = matrix_;
    ViewLayout layout = matrix_layout(page_, grid, grid.plot.bottom() + kLine * em());
    layout.rows = record_.length();
    layout.columns = record_.max_steps;
    const ViewSettings& view = input_.session.view;
    layout.hit = [matrix_pair_at = pair_at(grid), ponder = ponder_, plot = grid.plot, flow = flow_,
                  layer = view.layer, head = view.head](Point p) -> std::optional<Hit> {
      Index row = matrix_pair_at(p).first;
      if (ponder.contains(p)) row = matrix_pair_at({plot.x + 1, p.y}).first;
      if (flow.at(p) >= 0) row = flow.at(p);
      return row < 0 ? std::nullopt : std::optional(Hit{layer, head, row, -1});
    };
    return layout;
  }

  const ViewInput& input_;
  Page& page_;
  const std::vector<TraceToken>& tokens_;
  const HaltingRecord& record_;
  Box header_;  // summary, text and swatches
  Box ponder_;
  double flow_height_ = 0, bars_width_ = 0;
  TokenFlow flow_;
  MatrixPlot matrix_;
};

ViewLayout lay_out_steps(const ViewInput& input) {
  Page page(input);
  const bool is_recurrent = has_sub_steps(input.trace);
  const Refusal no_attention = is_recurrent ? Refusal{} : check_has_attention(input);
  if (no_attention) return no_attention.message(page);
  if (const Refusal refusal = refusal_of(input.trace)) return refusal.message(page);
  const auto record = cached_halting(input);
  if (view_values(input.session.view, "steps").choice("picture") == "graph") {
    const Refusal refusal = refuse_graph(input.trace);
    return refusal ? refusal.message(page) : lay_out_computation_graph(input, *record);
  }
  const std::string cost = ": " + brief(record->ponder()) + " per token here.";
  const Box inside = page.frame(input.trace.model + " · steps of each token",
                                caption(input.trace, StepsLayout::describe_picture() + cost));
  return StepsLayout(input, page, *record).lay_out(inside);
}

ViewData steps_data(const ViewInput& input) {
  refusal_of(input.trace).throw_if_refused();
  const HaltingRecord record = halting_of(input);
  std::vector<std::string> tokens, steps;
  for (const TraceToken& token : tokens_of(input)) tokens.push_back(token.label);
  for (Index t = 1; t <= record.max_steps; ++t) steps.push_back("step " + std::to_string(t));
  Tensor totals({record.length(), 3});
  for (Index i = 0; i < record.length(); ++i) {
    const auto n = static_cast<std::size_t>(i);
    totals(i, 0) = static_cast<float>(record.steps[n]);
    totals(i, 1) = static_cast<float>(record.remainder[n]);
    totals(i, 2) = static_cast<float>(record.ponder(i));
  }
  Tensor text({1, 2});
  text[0] = static_cast<float>(record.mean_steps());
  text[1] = static_cast<float>(record.ponder());
  return {{{"halting", record.probability, tokens, steps},
           {"tokens", totals, tokens, {"steps", "remainder", "ponder cost"}},
           {"text", text, {"mean"}, {"steps", "ponder cost"}}}};
}

std::vector<Parameter> steps_parameters() {
  return {
      {.key = "picture",
       .label = "Picture",
       .help = "Halting probabilities of all tokens, or the computation graph of a recurrent "
               "network.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("probabilities"),
       .choices = {{"probabilities", "halting probabilities"}, {"graph", "computation graph"}}}};
}

void show_example(Session& session) {
  open_bundled_model(session, "brackets");
}

}  // namespace

View steps_view() {
  return {.id = "steps",
          .label = "Steps",
          .group = "Depth",
          .summary =
              "Steps of a Universal Transformer or of a recurrent network for each token, and "
              "their halting probabilities.",
          .lay_out = lay_out_steps,
          .reading = fixed_reading(
              "How often the same layers, or the same recurrent cell, are applied to each "
              "token before it halts: difficult tokens can use more steps.",
              {{"Halting probability",
                "contribution of each step; when the sum reaches 1 − ε the token halts."},
               {"Remainder R", "1 minus the sum before the last step."},
               {"Ponder cost", "steps plus remainder: penalised in training."}}),
          .data = steps_data,
          .options = {.parameters = steps_parameters(),
                      .restrict_controls =
                          [](const ViewSettings&, const Trace* trace, ViewControls& controls) {
                            controls.layer = controls.head = false;
                            controls.part = trace != nullptr && trace->parts.stack;
                            controls.colours = ViewControls::Colours::Sequential;
                            controls.colour_ends.clear();
                          }},
          .content = {.objection = objection, .example = show_example},
          .cells = {.zoom = true}};
}

}  // namespace attnscope
