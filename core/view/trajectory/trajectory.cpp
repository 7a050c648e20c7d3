// Trajectory: a decision transformer on its grid: where it goes when a return is asked of it, what
// it achieves, and at which of its tokens a head looks before each step (Chen et al., 2021,
// arXiv:2106.01345).
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/example.h"
#include "core/view/parts/fact_table.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/shapes.h"
#include "core/view/parts/token_bars.h"
#include "core/view/trajectory/walk_grid.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kLine = 1.5;       // em, of words
constexpr double kGap = 1.2;        // em between parts
constexpr double kTitle = 1.7;      // em
constexpr double kLeastGrid = 9;    // em, a side
constexpr double kMostGrid = 27;    // em
constexpr double kLeastChart = 15;  // em, its width
constexpr double kMostChart = 40;   // em
constexpr double kMostRow = 1.5;    // em, of a step's attention
constexpr double kLeastRow = 0.7;   // em
constexpr double kWords = 2;        // em, below the attention: clear of the colour bar's numbers
constexpr Index kPerStep = 3;       // return, state, action
constexpr const char* kKinds[] = {"R", "s", "a"};

constexpr const char* kNoTrajectory = "This model does not act: it reads no trajectories.";

bool acts(const Trace& trace) {
  return trace.config != nullptr &&
         architecture(trace.config->architecture.id).reads == Reads::Trajectories;
}

std::string steps_words(Index steps) {
  return std::to_string(steps) + (steps == 1 ? " step" : " steps");
}

std::string return_words(double value) {
  return fixed(value, 1);
}

class Trajectory {
 public:
  Trajectory(const ViewInput& input, const Rollouts& rollouts)
      : input_(input), page_(input), rollouts_(rollouts), walk_(shown_walk(rollouts, settings())) {
    const Values values = view_values(settings(), "trajectory");
    steps_ = values.has("step") ? std::clamp<Index>(values.integer("step"), 0, walk_.steps())
                                : walk_.steps();
    row_ = std::max<Index>(0, steps_ - 1);
  }

  ViewLayout lay_out() {
    const Box inside = page_.frame(input_.trace.model + " · acting for a return that is asked for",
                                   caption_words());
    if (!place(inside)) return no_space(page_);
    look_at_pointer();
    draw_words();
    draw_grid();
    if (chart_area_.width > 0) draw_chart_panel();
    if (actions_.height > 0) draw_actions();
    if (matrix_.height > 0) draw_attention();
    ViewLayout layout;
    layout.handles = handles();
    layout.hit = [](Point) -> std::optional<Hit> { return std::nullopt; };
    layout.list = page_.take(bottom_);
    return layout;
  }

 private:
  double em() const { return page_.em(); }
  const ViewSettings& settings() const { return input_.experiment.view; }
  Index tokens() const { return kPerStep * walk_.steps() - 1; }

  std::string caption_words() const {
    std::string text =
        "The model acts by itself on a grid of 5 by 5 cells, of which it has seen random walks "
        "alone: the return that is asked for and the cell go in, the likeliest of four actions "
        "comes out, step by step until the goal is reached or " +
        steps_words(rollouts_.most_steps) + " are done. A step costs 0.1. Rolled out from all " +
        std::to_string(Grid::kCells - 1) + " cells for all returns.";
    for (const std::string& note : input_.trace.notes) {
      text += " " + capitalised(note) + (note.ends_with('.') ? "" : ".");
    }
    return text;
  }

  // What happened, and what there is to notice.
  std::string happened() const {
    std::string text = "Asked for " + return_words(walk_.asked_return()) + " (" +
                       steps_words(walk_.asked) + "), the model ";
    if (!walk_.reached) {
      return text + "has not reached the goal after " + steps_words(walk_.steps()) + ": return " +
             return_words(walk_.achieved()) + ".";
    }
    const Index shortest = Grid::distance(walk_.start);
    text += "reaches the goal after " + std::to_string(walk_.steps()) + ": return " +
            return_words(walk_.achieved());
    if (walk_.steps() == walk_.asked) return text + ", as asked.";
    if (walk_.asked < shortest)
      return text + ". No way is shorter than " + std::to_string(shortest) + ".";
    return text + (walk_.steps() < walk_.asked ? ", sooner than asked." : ", later than asked.");
  }

  std::string solved_words() const {
    const Rollouts::Share share = rollouts_.shortest();
    return std::to_string(share.reached) + " of " + std::to_string(share.of) + " cells (tinted).";
  }

  bool place(const Box& inside) {
    const double words = 2 * kLine * em() + 0.4 * em();
    double height = inside.height - words;
    if (inside.width < kLeastGrid * em() || height < (kLeastGrid + kTitle) * em()) return false;
    const auto rows = static_cast<double>(walk_.steps());
    const double around = (kTitle + 1.4 + kWords) * em();  // title, labels, words
    double row = 0;
    const double beside = 17 * em();  // what grid and chart are to have at least
    if (height >= beside + around + rows * kLeastRow * em() + kGap * em() &&
        inside.width >= 26 * em() && tokens() > 0) {
      row = std::clamp((height - beside - around - kGap * em()) / rows, kLeastRow * em(),
                       kMostRow * em());
      height -= rows * row + around + kGap * em();
    }
    const bool chart = inside.width >= (kLeastChart + kGap + kLeastGrid) * em();
    const double wide =
        chart ? std::min(0.52 * inside.width, inside.width - (kLeastChart + kGap) * em())
              : inside.width;
    const double side = std::min({height - kTitle * em(), wide, kMostGrid * em()});
    const double chart_width =
        chart ? std::min(kMostChart * em(), inside.width - side - kGap * em() * 1.5) : 0;
    const double all = side + (chart ? 1.5 * kGap * em() + chart_width : 0);
    const double used =
        words + kTitle * em() + side + (row > 0 ? kGap * em() + around + rows * row : 0);
    const double x = inside.x + (inside.width - all) / 2;
    words_ = {inside.x, inside.y + page_.spare_above(inside.height, used), inside.width, words};
    double y = words_.bottom() + kTitle * em();
    grid_.box = {x, y, side, side};
    if (chart) {
      const double bars = 4 * token_bar_height(page_, false) + kTitle * em();
      const bool both = side >= bars + 11 * em();
      const double high = both ? side + kTitle * em() - bars - 0.6 * em() : side + kTitle * em();
      chart_area_ = {x + side + 1.5 * kGap * em(), y - kTitle * em(), chart_width, high};
      if (both) actions_ = {chart_area_.x, chart_area_.bottom() + 0.6 * em(), chart_width, bars};
    }
    bottom_ = y + side;
    if (row <= 0) return true;
    const double labels = 6 * em();
    const double bar = inside.width > 46 * em() ? colour_bar_width(page_) + em() : 0;
    const double cells =
        std::min(inside.width - labels - bar, static_cast<double>(tokens()) * 2.4 * em());
    matrix_ = {inside.x + (inside.width - labels - bar - cells) / 2 + labels,
               bottom_ + kGap * em() + (kTitle + 1.4) * em(), cells, rows * row};
    bar_ = bar;
    bottom_ = matrix_.bottom() + kWords * em();
    return true;
  }

  void look_at_pointer() {
    if (!input_.pointer) return;
    const Point p = *input_.pointer;
    hovered_ = grid_.at(p);
    if (matrix_.height <= 0 || !matrix_.contains(p)) return;
    const auto share = [](double at, double from, double size, Index count) {
      return std::min(static_cast<Index>((at - from) / size * static_cast<double>(count)),
                      count - 1);
    };
    row_ = share(p.y, matrix_.y, matrix_.height, walk_.steps());
    const Index key = share(p.x, matrix_.x, matrix_.width, tokens());
    if (key <= kPerStep * row_ + 1) key_ = key;
  }

  void draw_words() {
    const double middle = words_.x + words_.width / 2;
    const std::string text = happened();
    const double size =
        page_.width_of(text, 1.15 * em(), true) <= words_.width ? 1.15 * em() : em();
    page_.add(Text{{middle, words_.y + kLine * em() / 2},
                   page_.ellipsised(text, size, words_.width, true),
                   page_.theme().text,
                   size,
                   Align::Middle,
                   0,
                   true});
    page_.text({middle, words_.y + 1.5 * kLine * em()},
               page_.fitting({"Asked for the shortest way it takes it from " + solved_words(),
                              "The shortest way from " + solved_words()},
                             em(), words_.width),
               em(), Align::Middle);
  }

  void draw_grid() {
    std::vector<bool> solved(static_cast<std::size_t>(Grid::kCells));
    for (const Rollout& walk : rollouts_.all) {
      if (walk.asked == Grid::distance(walk.start) && walk.reached && walk.steps() == walk.asked) {
        solved[static_cast<std::size_t>(walk.start)] = true;
      }
    }
    const std::string title = hovered_ >= 0 && hovered_ != Grid::kGoal
                                  ? "Click: start from " + cell_words(hovered_)
                                  : "The way from " + cell_words(walk_.start);
    page_.text({grid_.box.x, grid_.box.y - kTitle / 2 * em()},
               page_.fitting({title, "The way"}, em(), grid_.box.width), em());
    draw_walk(page_, grid_, walk_, steps_, solved);
    if (hovered_ >= 0) page_.add(OutlinedBox{grid_.of(hovered_), page_.theme().accent, 2});
  }

  void draw_chart_panel() {
    const double worst = static_cast<double>(Grid::return_of(rollouts_.most_steps + 1));
    ChartAxis x{worst - 0.05, 0, {"return asked for", "asked"}};
    ChartAxis y{worst - 0.05, 0, {"return achieved", "achieved"}};
    std::vector<LegendEntry> entries{{page_.theme().faint_text, "as asked", false, true},
                                     {first_colour(), "mean of all cells", false, true},
                                     {second_colour(), "from this cell", false, true}};
    Box box = chart_area_;
    const double legend = legend_height(page_, entries, box.width);
    draw_legend(page_, entries, {box.x, box.y, box.width, legend});
    box.y += legend + 0.4 * em();
    box.height -= legend + 0.4 * em();
    chart_ = place_chart(page_, box, x, y);
    if (chart_.empty()) return;
    draw_chart(page_, chart_);
    draw_curve(page_, chart_, {{worst, worst}, {0, 0}}, page_.theme().faint_text, 1);
    std::vector<Point> mean, own;
    for (Index asked = 1; asked <= rollouts_.most_steps; ++asked) {
      const double at = static_cast<double>(Grid::return_of(asked));
      mean.push_back({at, rollouts_.mean_achieved(asked)});
      own.push_back({at, rollouts_.find(walk_.start, asked)->achieved()});
    }
    draw_curve(page_, chart_, mean, first_colour(), 2);
    draw_curve(page_, chart_, own, second_colour(), 2);
    for (const Point& p : own) {
      page_.add(disc({chart_.at_x(p.x), chart_.at_y(p.y)}, 2.5, second_colour()));
    }
    const Point now{chart_.at_x(walk_.asked_return()), chart_.at_y(walk_.achieved())};
    page_.add(Line{{{now.x, chart_.plot.y}, {now.x, chart_.plot.bottom()}},
                   translucent(page_.theme().accent, 0.6),
                   1});
    page_.add(disc(now, 5, page_.theme().accent));
  }

  void draw_actions() {
    const Index t = row_;
    const auto at = static_cast<std::size_t>(t);
    page_.text(
        {actions_.x, actions_.y + kTitle / 2 * em()},
        page_.fitting({"Step " + std::to_string(t + 1) + ", in " + cell_words(walk_.cells[at]) +
                           ", with " + return_words(still_asked(t)) + " still asked for:",
                       "Step " + std::to_string(t + 1) + ", " + return_words(still_asked(t)) +
                           " still asked:",
                       "Step " + std::to_string(t + 1)},
                      em(), actions_.width),
        em());
    TokenBars bars;
    bars.first = first_colour();
    bars.marked = walk_.actions[at];
    for (Index a = 0; a < Grid::kActions; ++a) {
      bars.bars.push_back({std::string(action_arrow(a)) + " " + action_name(a),
                           static_cast<double>(walk_.chances(t, a)), 0,
                           a == bars.marked ? "taken" : ""});
    }
    draw_token_bars(
        page_,
        {actions_.x, actions_.y + kTitle * em(), actions_.width, actions_.height - kTitle * em()},
        bars);
  }

  double still_asked(Index t) const {
    return static_cast<double>(Grid::return_of(std::max<Index>(walk_.asked - t, 0)));
  }

  // The shown head's weights of the rows that choose an action.  [steps, tokens]; undefined: the
  // model has no such head.
  Tensor decisions() const {
    const ViewSettings& view = settings();
    if (view.layer >= static_cast<Index>(walk_.attention.size())) return {};
    const Tensor& layer = walk_.attention[static_cast<std::size_t>(view.layer)];
    if (view.head >= layer.dim(0)) return {};
    Tensor rows({walk_.steps(), tokens()});
    for (Index t = 0; t < walk_.steps(); ++t) {
      const Index query = kPerStep * t + 1;
      for (Index key = 0; key < tokens(); ++key) {
        rows(t, key) = key <= query ? layer(view.head, query, key) : NAN;
      }
    }
    return rows;
  }

  std::string token_words(Index token) const {
    const Index t = token / kPerStep;
    const std::string step = " of step " + std::to_string(t + 1);
    if (token % kPerStep == 0) return "the return asked for" + step;
    if (token % kPerStep == 1) return "the cell" + step;
    return "the action" + step + " (" + action_name(walk_.actions[static_cast<std::size_t>(t)]) +
           ")";
  }

  void draw_attention() {
    const Tensor weights = decisions();
    const double left = matrix_.x, small = page_.small();
    const double title = matrix_.y - (1.4 + kTitle / 2) * em();
    if (!weights.defined()) {
      page_.faint_text(
          {words_.x, title},
          page_.ellipsised("The model has no layer " + std::to_string(settings().layer) +
                               " with a head " + std::to_string(settings().head) + ".",
                           em(), words_.width),
          em());
      return;
    }
    page_.text({words_.x + words_.width / 2, title},
               page_.fitting({"What layer " + std::to_string(settings().layer) + ", head " +
                                  std::to_string(settings().head) +
                                  " looks at before each step: return asked for (R), cell (s), "
                                  "action (a)",
                              "What the head looks at before each step", "Attention"},
                             em(), words_.width),
               em(), Align::Middle);
    ColourRange range;
    range.colour_map = settings().colour_map;
    HeatMap cells;
    cells.box = matrix_;
    cells.values = weights;
    cells.height = static_cast<double>(walk_.steps());
    cells.width = static_cast<double>(tokens());
    cells.colour_map = range.colour_map;
    page_.add(std::move(cells));
    page_.add(OutlinedBox{matrix_, page_.theme().line, 1});
    const double high = matrix_.height / static_cast<double>(walk_.steps());
    const double wide = matrix_.width / static_cast<double>(tokens());
    const bool every = wide >= 1.7 * small;
    for (Index token = 0; token < tokens(); ++token) {
      const std::string label = std::string(kKinds[token % kPerStep]) +
                                (every ? std::to_string(token / kPerStep + 1) : "");
      if (page_.width_of(label, small) > wide) break;
      page_.add(Text{{left + (static_cast<double>(token) + 0.5) * wide, matrix_.y - 0.7 * em()},
                     label,
                     token == key_ ? page_.theme().accent : head_colour(token % kPerStep),
                     small,
                     Align::Middle});
    }
    for (Index t = 0; t < walk_.steps() && high >= 1.05 * small; ++t) {
      const std::string label = "step " + std::to_string(t + 1) + " " +
                                action_arrow(walk_.actions[static_cast<std::size_t>(t)]);
      page_.add(Text{{left - 0.5 * em(), matrix_.y + (static_cast<double>(t) + 0.5) * high},
                     label,
                     t == row_ ? page_.theme().accent : page_.theme().text,
                     small,
                     Align::End});
    }
    const Box row{left, matrix_.y + static_cast<double>(row_) * high, matrix_.width, high};
    page_.add(OutlinedBox{row, page_.theme().accent, 2});
    if (bar_ > 0 && matrix_.height > 5 * em()) {
      draw_colour_bar(page_, {matrix_.right() + 0.8 * em(), matrix_.y, bar_ - em(), matrix_.height},
                      range, {"weight", ""});
    }
    draw_attention_words(weights);
  }

  void draw_attention_words(const Tensor& weights) {
    Index most = 0;
    for (Index key = 1; key <= kPerStep * row_ + 1; ++key) {
      if (weights(row_, key) > weights(row_, most)) most = key;
    }
    const Index key = key_ >= 0 ? key_ : most;
    const std::string weight = fixed(static_cast<double>(weights(row_, key)), 2);
    const std::string text = "Before step " + std::to_string(row_ + 1) + " the head gives " +
                             weight + " of its attention to " + token_words(key) +
                             (key == most ? ", more than to any other." : ".");
    page_.text({words_.x + words_.width / 2, matrix_.bottom() + (kWords - kLine / 2) * em()},
               page_.fitting({text, weight + " to " + token_words(key)}, em(), words_.width), em(),
               Align::Middle);
  }

  std::vector<Handle> handles() const {
    std::vector<Handle> all;
    for (Index cell = 0; cell < Grid::kCells; ++cell) {
      if (cell == Grid::kGoal) continue;
      all.push_back({grid_.of(cell), "Click: start from this cell", {}, [cell](Experiment& e) {
                       set_view_value(e.view, "trajectory", "start", cell);
                     }});
    }
    if (chart_area_.width > 0 && !chart_.empty()) {
      const auto ask = [chart = chart_, most = rollouts_.most_steps](Point p, Experiment& e) {
        const double steps = -chart.value_x(p.x) / static_cast<double>(Grid::kCost);
        set_view_value(e.view, "trajectory", "asked",
                       std::clamp<Index>(std::llround(steps), 1, most));
      };
      all.push_back({chart_.plot, "Drag: ask for another return", ask, {}});
    }
    if (matrix_.height <= 0) return all;
    const double high = matrix_.height / static_cast<double>(walk_.steps());
    for (Index t = 0; t < walk_.steps(); ++t) {
      all.push_back({{matrix_.x, matrix_.y + static_cast<double>(t) * high, matrix_.width, high},
                     "Click: walk as far as this step",
                     {},
                     [t](Experiment& e) { set_view_value(e.view, "trajectory", "step", t + 1); }});
    }
    return all;
  }

  const ViewInput& input_;
  Page page_;
  const Rollouts& rollouts_;
  const Rollout& walk_;
  WalkGrid grid_;
  Chart chart_;
  Box words_, chart_area_, actions_, matrix_;
  double bar_ = 0, bottom_ = 0;
  Index steps_ = 0, row_ = 0, key_ = -1, hovered_ = -1;
};

ViewLayout lay_out_trajectory(const ViewInput& input) {
  if (!acts(input.trace)) {
    return Page(input).message("No trajectories here",
                               "Choose a model that acts (a decision transformer, “paths”) and a "
                               "file with a trajectory for it, such as assets/samples/"
                               "walk.safetensors.");
  }
  const auto rollouts = input.findings.get(Findings::rollouts);
  if (rollouts == nullptr) {
    ViewLayout layout = Page(input).message("The model is walking", "Its ways appear here.");
    layout.pending = "ways from all cells";
    return layout;
  }
  if (!rollouts->problem.empty() || rollouts->all.empty()) {
    return Page(input).message("No ways to show", capitalised(rollouts->problem) + ".");
  }
  return Trajectory(input, *rollouts).lay_out();
}

// What was asked and achieved from every cell, and the shown walk.
ViewData trajectory_data(const ViewInput& input) {
  if (!acts(input.trace)) throw InputError(kNoTrajectory);
  const auto rollouts = input.findings.get(Findings::rollouts);
  if (rollouts == nullptr) throw InputError("trajectory: the ways are not walked yet");
  if (!rollouts->problem.empty()) throw InputError(rollouts->problem);
  Tensor achieved = Tensor::full({Grid::kCells, rollouts->most_steps}, NAN);
  for (const Rollout& walk : rollouts->all) {
    achieved(walk.start, walk.asked - 1) = static_cast<float>(walk.achieved());
  }
  ViewData::Matrix returns{"return achieved", achieved, {}, {}, {}};
  for (Index cell = 0; cell < Grid::kCells; ++cell)
    returns.rows.push_back("from " + cell_words(cell));
  for (Index asked = 1; asked <= rollouts->most_steps; ++asked) {
    returns.columns.push_back("asked " + return_words(static_cast<double>(Grid::return_of(asked))));
  }
  const Rollout& walk = shown_walk(*rollouts, input.experiment.view);
  ViewData::Matrix steps{"walk",
                         Tensor({walk.steps(), 4 + Grid::kActions}),
                         {},
                         {"row", "column", "return asked", "action"}};
  for (Index a = 0; a < Grid::kActions; ++a)
    steps.columns.push_back(std::string("p of ") + action_name(a));
  for (Index t = 0; t < walk.steps(); ++t) {
    const auto at = static_cast<std::size_t>(t);
    steps.rows.push_back("step " + std::to_string(t + 1));
    steps.values(t, 0) = static_cast<float>(walk.cells[at] / Grid::kSide);
    steps.values(t, 1) = static_cast<float>(walk.cells[at] % Grid::kSide);
    steps.values(t, 2) = Grid::return_of(std::max<Index>(walk.asked - t, 0));
    steps.values(t, 3) = static_cast<float>(walk.actions[at]);
    for (Index a = 0; a < Grid::kActions; ++a) steps.values(t, 4 + a) = walk.chances(t, a);
  }
  return {{std::move(returns), std::move(steps)}};
}

void restrict_controls(const ViewSettings&, const Trace* trace, ViewControls& controls) {
  controls.part = controls.normalise = false;
  controls.colours = ViewControls::Colours::Sequential;
  if (trace == nullptr || !acts(*trace)) return;
  const auto most = static_cast<double>(trace->config->architecture.values.integer("most_steps"));
  for (Parameter& p : controls.parameters) {
    if (p.key != "start") p.slider_most = most;
  }
  controls.animation = Animation{"step", 0, most, 0.75 * most};
}

void show_paths(Experiment& experiment) {
  use_bundled(experiment, "paths");
}

std::vector<Parameter> trajectory_parameters() {
  return {{.key = "start",
           .label = "Start",
           .help = "The cell that it starts from, counted row by row from 0 at the top left; click "
                   "into the grid.",
           .initial = Index{0},
           .most = static_cast<double>(Grid::kCells - 1),
           .slider_least = 0,
           .slider_most = static_cast<double>(Grid::kCells - 1)},
          {.key = "asked",
           .label = "Steps asked for",
           .help = "In how many steps the goal is to be reached: the return that is asked for is "
                   "-0.1 times that.",
           .optional = true,
           .left_out = "the fewest",
           .initial = Index{4},
           .least = 1,
           .slider_least = 1,
           .slider_most = 12},
          {.key = "step",
           .label = "Steps taken",
           .help = "So many steps of the way are drawn.",
           .optional = true,
           .left_out = "all",
           .initial = Index{1},
           .least = 0,
           .slider_least = 0,
           .slider_most = 12}};
}

}  // namespace

View trajectory_view() {
  View view{"trajectory",
            "Trajectory",
            "Where a model goes that acts for the return asked of it, and what it looks at.",
            false,
            lay_out_trajectory,
            trajectory_parameters()};
  view.animation = Animation{"step", 0, 12, 9};
  view.example = show_paths;
  view.findings = {Findings::rollouts.id};
  view.data = trajectory_data;
  view.restrict_controls = restrict_controls;
  view.group = "Tasks";
  view.objection = [](const Trace& trace) -> std::string {
    return acts(trace) ? "" : kNoTrajectory;
  };
  return view;
}

}  // namespace attnscope
