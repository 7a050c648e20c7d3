// Trajectory view: a decision transformer's path on its grid for a desired return, the achieved
// return, and a head's attention before each step (Chen et al., 2021, arXiv:2106.01345).
#include <algorithm>
#include <cmath>

#include "core/model/config.h"
#include "core/view/parts/bundled_example.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/reading.h"
#include "core/view/trajectory/walk_panels.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

void draw_outcome(Page& page, const WalkPicture& picture) {
  const Box& box = picture.places.summary;
  const double em = page.em(), middle = box.x + box.width / 2;
  std::string text = describe_outcome(picture.part.walk);
  const double size = page.width_of(text, 1.15 * em, true) <= box.width ? 1.15 * em : em;
  if (page.width_of(text, size, true) > box.width) text = outcome_in_brief(picture.part.walk);
  page.add(Text{{middle, box.y + WalkMeasures::line * em / 2},
                page.ellipsised(text, size, box.width, true),
                page.theme().text,
                size,
                Align::Middle,
                0,
                true});
  const Rollouts::Share share = picture.part.rollouts.shortest();
  const bool is_grid = picture.part.rollouts.world == World::Grid;
  const std::string solved = std::to_string(share.reached) + " of " + std::to_string(share.of) +
                             (is_grid ? " cells (tinted)." : " starts (filled).");
  const std::string best = is_grid ? "Shortest path" : "Fewest steps";
  page.text({middle, box.y + 1.5 * WalkMeasures::line * em},
            page.fitting({best + (is_grid ? " found" : " taken") + ", if requested, from " + solved,
                          best + " from " + solved},
                         em, box.width),
            em, Align::Middle);
}

std::vector<Handle> walk_handles(const WalkPicture& picture, const Chart& chart) {
  std::vector<Handle> handles;
  for (Index cell = 0; cell < Grid::kCells; ++cell) {
    if (cell == Grid::kGoal) continue;
    handles.push_back(
        {picture.places.grid.cell_box(cell),
         picture.part.rollouts.world == World::Grid ? "Click to start from this cell"
                                                    : "Click to start from this point",
         {},
         [cell](Session& session) { set_view_value(session.view, "trajectory", "start", cell); }});
  }
  if (!chart.empty()) {
    const auto drag_return = [chart, limit = picture.part.rollouts.max_steps](Point p,
                                                                              Session& session) {
      const double steps = -chart.value_x(p.x) / static_cast<double>(Grid::kCost);
      set_view_value(session.view, "trajectory", "asked",
                     std::clamp<Index>(std::llround(steps), 1, limit));
    };
    handles.push_back({chart.plot, "Drag to change the desired return", drag_return, {}});
  }
  const Box& cells = picture.places.attention;
  if (cells.height <= 0) return handles;
  const Index rows = picture.part.walk.steps();
  const double row_height = cells.height / static_cast<double>(rows);
  for (Index t = 0; t < rows; ++t) {
    handles.push_back(
        {{cells.x, cells.y + static_cast<double>(t) * row_height, cells.width, row_height},
         "Click to walk up to this step",
         {},
         [t](Session& session) { set_view_value(session.view, "trajectory", "step", t + 1); }});
  }
  return handles;
}

ViewLayout lay_out_walk(const ViewInput& input, const Rollouts& rollouts) {
  Page page(input);
  const Box inside = page.frame(input.trace.model + " · acting for a desired return",
                                describe_walks(input.trace, rollouts));
  const WalkPart part = selected_steps(rollouts, input.session.view);
  const std::optional<WalkPlaces> places = place_walk(page, inside, part);
  if (!places) return no_space(page);
  const WalkPicture picture{part, *places, walk_focus(input, *places, part)};
  draw_outcome(page, picture);
  draw_path_panel(page, picture);
  Chart chart;
  if (places->chart.width > 0) chart = draw_returns(page, picture);
  if (places->actions.height > 0) draw_actions(page, picture);
  if (places->attention.height > 0) draw_decisions(page, picture);
  ViewLayout layout;
  layout.handles = walk_handles(picture, chart);
  layout.hit = [](Point) -> std::optional<Hit> { return std::nullopt; };
  layout.list = page.take(places->bottom);
  return layout;
}

ViewLayout lay_out_trajectory(const ViewInput& input) {
  if (!acts(input.trace)) {
    return Page(input).message("No trajectories here",
                               "Choose a trajectory model (a decision transformer, “paths”) and a "
                               "file with a trajectory for it, such as assets/samples/"
                               "walk.safetensors.");
  }
  const auto rollouts = input.findings.get(Findings::rollouts);
  if (rollouts == nullptr) {
    return Page(input).message("Computing", "The paths appear here.", "paths from all cells");
  }
  if (!rollouts->problem.empty() || rollouts->all.empty()) {
    return Page(input).message("No paths to show", capitalised(rollouts->problem) + ".");
  }
  return lay_out_walk(input, *rollouts);
}

void restrict_controls(const ViewSettings&, const Trace* trace, ViewControls& controls) {
  controls.part = false;
  controls.colour_ends.clear();
  controls.colours = ViewControls::Colours::Sequential;
  if (trace == nullptr || !acts(*trace)) return;
  const auto limit = static_cast<double>(trace->config->architecture.values.integer("most_steps"));
  for (Parameter& p : controls.parameters) {
    if (p.key != "start") p.slider.max = limit;
  }
  controls.animation = Animation{"step", 0, limit, 0.75 * limit};
}

void show_paths(Session& session) {
  open_bundled_model(session, "paths");
}

std::vector<Parameter> trajectory_parameters() {
  return {
      {.key = "start",
       .label = "Start",
       .help = "Start cell, counted row by row from 0 at the top left; click into the grid. In the "
               "plane, its centre.",
       .initial = Index{0},
       .limits = {.max = static_cast<double>(Grid::kCells - 1)},
       .slider = {.min = 0, .max = static_cast<double>(Grid::kCells - 1)}},
      {.key = "asked",
       .label = "Desired steps",
       .help = "Steps in which to reach the goal: each step costs a return of 0.1.",
       .optional = true,
       .unset_label = "the fewest",
       .initial = Index{4},
       .limits = {.min = 1},
       .slider = {.min = 1, .max = 12}},
      {.key = "step",
       .label = "Steps shown",
       .help = "Number of steps of the path to draw.",
       .optional = true,
       .unset_label = "all",
       .initial = Index{1},
       .limits = {.min = 0},
       .slider = {.min = 0, .max = 12}}};
}

}  // namespace

View trajectory_view() {
  return {.id = "trajectory",
          .label = "Trajectory",
          .group = "Tasks",
          .summary = "Path of a model that acts for a desired return, and its attention.",
          .lay_out = lay_out_trajectory,
          .reading = fixed_reading(
              "A model that acts: given a desired return and its position, it chooses a step. The "
              "map shows its attention before each step.",
              {{"R", "return to go: the sum of rewards still desired."},
               {"s, a", "state and action."}}),
          .data = trajectory_data,
          .findings = {{Findings::rollouts.id}},
          .options = {.parameters = trajectory_parameters(),
                      .animation = Animation{"step", 0, 12, 9},
                      .restrict_controls = restrict_controls},
          .content = {.objection = [](const Trace& trace) -> std::string {
                        return acts(trace) ? "" : kNoTrajectory;
                      },
                      .example = show_paths}};
}

}  // namespace attnscope
