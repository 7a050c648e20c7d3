#include "app/window/panels/training_step.h"

#include <algorithm>

#include "core/checkpoint/snapshots.h"

namespace attnscope::window {
namespace {

void read_steps(const State& state, TrainingSteps& training) {
  constexpr double kReadInterval = 0.5;  // seconds
  const std::string folder = training_folder(state.edited().run.model).string();
  if (folder == training.folder && state.seconds < training.next_read) return;
  training.folder = folder;
  training.steps = snapshot_steps(folder);
  training.next_read = state.seconds + kReadInterval;
}

}  // namespace

void draw_training_step(Ui& ui, State& state, TrainingSteps& training) {
  read_steps(state, training);
  if (training.steps.size() < 2) return;
  // Positions are those of the snapshots, then the training's own model.
  const int last = static_cast<int>(training.steps.size());
  const auto step = snapshot_step(state.edited().run.model);
  int position = !step ? last
                       : static_cast<int>(std::ranges::lower_bound(training.steps, *step) -
                                          training.steps.begin());
  ImGui::TextUnformatted(("Training step " + (step ? std::to_string(*step) : "(newest)")).c_str());
  ImGui::SetNextItemWidth(-1);
  const bool is_moved = ImGui::SliderInt("##training_step", &position, 0, last, "",
                                         ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_NoInput);
  mark(ui, "training_step");
  hint(ui,
       "Snapshots of the model's training; all views follow. Export a GIF over Training step "
       "to show how a head forms.");
  if (!is_moved) return;
  state.edit().run.model =
      position == last
          ? training.folder
          : snapshot_folder(training.folder, training.steps[static_cast<std::size_t>(position)])
                .string();
}

}  // namespace attnscope::window
