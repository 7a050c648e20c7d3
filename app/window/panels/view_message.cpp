#include "app/window/panels/view_message.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "app/window/actions/actions.h"
#include "app/window/dialogs/file_browser.h"
#include "app/window/files.h"
#include "app/window/model_selection.h"
#include "app/window/salient_pairs.h"
#include "app/window/scope.h"
#include "app/window/variant_selection.h"
#include "core/experiment/compatible_choice.h"
#include "core/experiment/runner.h"
#include "core/figure/plain_text.h"
#include "core/view/parts/describe.h"

namespace attnscope::window {

float draw_message(Ui& ui, ImVec2 origin, ImVec2 size, const std::string& title,
                   const std::string& text) {
  const float width = std::min(size.x - ui.px(40), ui.px(460));
  const std::string lines = on_screen(text);
  ImGui::PushFont(ui.fonts.title);
  const ImVec2 title_size = ImGui::CalcTextSize(title.c_str());
  ImGui::PopFont();
  const ImVec2 extent = ImGui::CalcTextSize(lines.c_str(), nullptr, false, width);
  float y = origin.y + (size.y - extent.y - title_size.y - ui.px(8)) / 2;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddText(ui.fonts.title, title_size.y, {origin.x + (size.x - title_size.x) / 2, y},
               packed(ui.look->text), title.c_str());
  y += title_size.y + ui.px(8);
  draw.AddText(ImGui::GetFont(), ImGui::GetFontSize(),
               {origin.x + (size.x - std::min(extent.x, width)) / 2, y}, packed(ui.look->faint),
               lines.c_str(), nullptr, width);
  return y + extent.y;
}

namespace {

// True if the user made choices that can be reset to the model's.
bool is_resettable(const Session& session) {
  return session.run.tensors.file.empty() && has_choices(session);
}

struct RecoveryButton {
  std::string label, id, help;
  bool is_primary;
  std::function<void(State&)> act;
};

// Buttons that resolve a refusal. A missing file can be located; otherwise, the first buttons apply
// the nearest settings that combine, or reset all choices, since the model always runs as trained.
std::vector<RecoveryButton> recovery_buttons(const State& state) {
  const Session& session = *state.session;
  std::vector<RecoveryButton> buttons;
  if (!missing_file(state).empty()) {
    buttons.push_back({"Locate…", "locate", "Choose the missing file at its new location.", true,
                       [](State& s) { browse(s, BrowsePurpose::LocateFile); }});
  } else if (is_resettable(session)) {
    const bool has_offer = state.run.offer.has_value();
    if (has_offer) {
      buttons.push_back({"Use " + describe(state.run.offer->implied), "offer",
                         "Changes as little as possible so that the settings combine.", true,
                         accept_offer});
    }
    buttons.push_back(
        {"Reset to model default", "as_trained",
         "Uses the model's own attention, positions and direction in all layers and heads.",
         !has_offer, [](State& s) { clear_choices(s.session.edit()); }});
    // The variant may conflict only with the position encoding, which can then be reset alone.
    if (session.run.variant && session.run.encoding && !has_offer) {
      buttons.push_back({"Keep " + variant(session.run.variant->id).label, "keep_variant",
                         "Uses the model's own positions.", false, [](State& s) {
                           RunSpec& run = s.session.edit().run;
                           run.encoding.reset();
                           for (GroupChoice& group : run.groups) group.encoding.reset();
                         }});
    }
  }
  const Action& undo = action("undo");
  if (undo.enabled(state)) buttons.push_back({"Undo", "refused.undo", undo.help, false, undo.run});
  return buttons;
}

// Draws the buttons in a row, centred in `width`.
void draw_recovery_buttons(Ui& ui, State& state, const std::vector<RecoveryButton>& buttons,
                           ImVec2 origin, float width) {
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  float total = -gap;
  for (const RecoveryButton& b : buttons) {
    total += ImGui::CalcTextSize(b.label.c_str()).x + 2 * ImGui::GetStyle().FramePadding.x + gap;
  }
  ImGui::SetCursorScreenPos({origin.x + (width - total) / 2, origin.y});
  for (const RecoveryButton& b : buttons) {
    if (&b != &buttons.front()) ImGui::SameLine();
    if (button(ui, b.label.c_str(), b.id.c_str(), b.is_primary)) b.act(state);
    hint(ui, b.help);
  }
}

}  // namespace

void draw_salient_pair(Ui& ui, State& state) {
  const SalientPair* pair = shown_salient_pair(state);
  if (pair == nullptr) return;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetFrameHeight();
  const ImVec2 end(origin.x + width, origin.y + height);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(origin, end, packed(ui.look->accent, 0.14F), ui.px(4));
  draw.AddRectFilled(origin, {origin.x + ui.px(4), end.y}, packed(ui.look->accent), ui.px(2));
  const std::string text = sentence(*pair);
  const std::string place = " (" + describe_head(state.run.trace->parts, pair->at) + ")";
  constexpr const char* kNext = "Next pair";
  const float button_width = ImGui::CalcTextSize(kNext).x + 2 * ImGui::GetStyle().FramePadding.x;
  const float max_width = width - ui.px(24) - button_width;
  const bool fits = ImGui::CalcTextSize((text + place).c_str()).x <= max_width;
  ImGui::SetCursorScreenPos({origin.x + ui.px(12), origin.y});
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(elide(on_screen(fits ? text + place : text), max_width).c_str());
  mark(ui, "noticed");
  hint(ui, capitalised(text) + place + ".");
  ImGui::SetCursorScreenPos({end.x - button_width, origin.y});
  if (button(ui, kNext, "noticed.next")) show_strong_pair(state);
  const Action& next = action("surprise");
  hint(ui, next.help + " Key " + to_string(next.shortcuts.front()) + ".");
}

void draw_no_run(Ui& ui, State& state, ImVec2 origin, ImVec2 size) {
  ImGui::Dummy(size);
  mark(ui, "picture");
  if (!state.run.error.empty()) {
    const std::vector<RecoveryButton> buttons = recovery_buttons(state);
    const bool is_missing = !missing_file(state).empty();
    const float bottom =
        is_missing ? draw_message(ui, origin, size, "A file is missing",
                                  missing_file(state) + "\n\nIt was moved, renamed or deleted.")
                   : draw_message(ui, origin, size, "Cannot run with these settings",
                                  refusal_sentence(state.run.error) +
                                      ".\n\nChange the settings on the left" +
                                      (buttons.empty() ? "." : ", or:"));
    draw_recovery_buttons(ui, state, buttons, {origin.x, bottom + ui.px(12)}, size.x);
  } else if (!state.session->run.has_input()) {
    draw_message(ui, origin, size, "Type a text", "Its attention appears here.");
  } else {
    const bool is_long =
        state.run.busy_seconds > kLongRunSeconds && !state.run.progress.stage.empty();
    draw_message(ui, origin, size, "One moment",
                 is_long ? "The first run is in progress: " + state.run.progress.stage + "."
                         : "The first run is in progress.");
    draw_run(ui, state, origin, size);
  }
}

void draw_example_button(Ui& ui, State& state, const ViewLayout& layout, ImVec2 origin) {
  constexpr const char* kLabel = "Open an example";
  double bottom = 0;
  for (const Item& item : layout.list.items) {
    if (const auto* text = std::get_if<Text>(&item)) bottom = std::max(bottom, text->at.y);
  }
  const float width = ImGui::CalcTextSize(kLabel).x + 2 * ImGui::GetStyle().FramePadding.x;
  ImGui::SetCursorScreenPos(
      {origin.x + (ui.px(layout.list.width) - width) / 2, origin.y + ui.px(bottom + 20)});
  if (button(ui, kLabel, "content.example", true)) open_example(state);
  hint(ui, "Opens a model and an input that fill this view. Ctrl+Z returns.");
}

namespace {

std::string describe_partial_result(const RunState& run) {
  if (run.preview_of_tokens > 0) {
    return "Preview: the first " +
           grouped(static_cast<long long>(run.trace->text_tokens().size())) + " of " +
           grouped(run.preview_of_tokens) + " tokens";
  }
  if (run.awaits_findings) {
    return run.busy_seconds > 0 ? "Computing further numbers" : "Some numbers were not computed";
  }
  std::string text = first_layers_label(run.trace->config->layers, run.preview_of_layers);
  text.front() = 'L';
  const std::string time_left = time_left_text(run.progress.seconds_left);
  return run.busy_seconds > 0 && !time_left.empty() ? text + ", " + time_left : text;
}

}  // namespace

void draw_run(Ui& ui, const State& state, ImVec2 origin, ImVec2 size) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  if (state.run.busy_seconds > kLongRunSeconds) {
    const float fraction = std::clamp(static_cast<float>(state.run.progress.share), 0.0F, 1.0F);
    draw.AddRectFilled(origin, {origin.x + size.x, origin.y + ui.px(3)}, packed(ui.look->line));
    draw.AddRectFilled(origin, {origin.x + size.x * fraction, origin.y + ui.px(3)},
                       packed(ui.look->accent));
  }
  // The label remains after a cancelled run.
  if (!state.run.is_preview() || state.run.trace == nullptr) return;
  const std::string label = on_screen(describe_partial_result(state.run));
  const ImVec2 extent = ImGui::CalcTextSize(label.c_str());
  const ImVec2 corner(origin.x + size.x - extent.x - ui.px(16), origin.y + ui.px(3));
  draw.AddRectFilled(corner, {origin.x + size.x, corner.y + extent.y + ui.px(8)},
                     packed(ui.look->raised), ui.px(4));
  draw.AddText({corner.x + ui.px(8), corner.y + ui.px(4)}, packed(ui.look->accent), label.c_str());
}

}  // namespace attnscope::window
