#include "app/window/panels/chrome.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "app/window/actions/actions.h"
#include "app/window/dialogs/file_browser.h"
#include "app/window/files.h"
#include "app/window/jobs/task_kinds.h"
#include "app/window/variant_selection.h"
#include "core/experiment/compatible_choice.h"
#include "core/figure/plain_text.h"
#include "core/view/parts/describe.h"

namespace attnscope::window {
namespace {

std::string milliseconds(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), value < 10 ? "%.1f ms" : "%.0f ms", value);
  return text.data();
}

void draw_dot(const Ui& ui) {
  ImGui::SameLine();
  ImGui::TextColored(ui.look->faint, "·");
  ImGui::SameLine();
}

// "Running: layer 3 of 4, 12.3 s, about 5 s left"
std::string describe_run_progress(const RunState& run) {
  std::array<char, 32> seconds;
  std::snprintf(seconds.data(), seconds.size(), ", %.1f s", run.busy_seconds);
  const std::string& stage = run.progress.stage;
  std::string text = "Running" + (stage.empty() ? "" : ": " + stage) + seconds.data();
  if (run.progress.seconds_left >= 0) text += ", " + time_left_text(run.progress.seconds_left);
  return text;
}

void draw_spinner(Ui& ui, double seconds) {
  constexpr int kSpokes = 8;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float side = ImGui::GetTextLineHeight(), radius = side * 0.36F;
  const int step = static_cast<int>(seconds * 10) % kSpokes;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  for (int i = 0; i < kSpokes; ++i) {
    const float angle = 6.2831853F * static_cast<float>(i) / kSpokes;
    const int age = (step - i + kSpokes) % kSpokes;
    draw.AddCircleFilled({origin.x + side / 2 + radius * std::cos(angle),
                          origin.y + side / 2 + radius * std::sin(angle)},
                         ui.px(1.6),
                         packed(ui.look->accent, 1.0F - 0.11F * static_cast<float>(age)));
  }
  ImGui::Dummy({side, side});
  ImGui::SameLine();
}

// Button as high as the status line.
bool draw_flat_button(Ui& ui, const char* label, const char* id) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(8), 0});
  const bool clicked = button(ui, label, id);
  ImGui::PopStyleVar();
  return clicked;
}

bool draw_cancel(Ui& ui, const char* id) {
  ImGui::SameLine();
  const bool clicked = draw_flat_button(ui, "Cancel", id);
  draw_dot(ui);
  return clicked;
}

// Draws a button that shows menus and panels again.
void draw_show_panels(Ui& ui, State& state) {
  const Action& panels = action("panels");
  const std::string label = "Show panels (" + to_string(panels.shortcuts.front()) + ")";
  if (draw_flat_button(ui, label.c_str(), "panels")) panels.run(state);
  hint(ui, "Show the menus and the side panels again.");
  draw_dot(ui);
}

void draw_busy(Ui& ui, State& state) {
  draw_spinner(ui, state.seconds);
  mark(ui, "busy");
  ImGui::TextUnformatted(on_screen(describe_run_progress(state.run)).c_str());
  hint(ui, "Stage of the run, elapsed time, and estimated remaining time.");
  if (draw_cancel(ui, "cancel")) action("cancel").run(state);
}

void draw_tasks(Ui& ui, State& state) {
  for (const TaskKind& kind : task_kinds()) {
    const std::optional<TaskStatus> status = kind.status(state);
    if (!status) continue;
    draw_spinner(ui, state.seconds);
    ImGui::TextUnformatted(on_screen(status->text).c_str());
    mark(ui, status->id);
    if (draw_cancel(ui, (status->id + ".cancel").c_str())) cancel_tasks(state, kind);
  }
}

// Returns the number of notes and as many of them as fit in `max_width`; may truncate the first.
std::string fitting_notes(const std::vector<std::string>& notes, float max_width) {
  const auto width = [](const std::string& text) {
    return ImGui::CalcTextSize(on_screen(text).c_str()).x;
  };
  const std::size_t count = notes.size();
  for (std::size_t included = count; included > 0; --included) {
    std::string line = "⚠ ";
    if (included < count) line += std::to_string(count) + " notes: ";
    for (std::size_t n = 0; n < included; ++n) line += (n > 0 ? "; " : "") + notes[n];
    if (included < count) line += "; …";
    if (width(line) <= max_width) return line;
  }
  const std::string prefix = count > 1 ? "⚠ " + std::to_string(count) + " notes: " : "⚠ ";
  std::string first = notes.front();
  while (!first.empty() && width(prefix + first + "…") > max_width) {
    do {  // the bytes of one character
      first.pop_back();
    } while (!first.empty() && (static_cast<unsigned char>(first.back()) & 0xC0U) == 0x80U);
    if (!first.empty() && static_cast<unsigned char>(first.back()) >= 0xC0U) first.pop_back();
  }
  return prefix + first + "…";
}

void draw_notes(Ui& ui, const Trace& trace) {
  if (trace.notes.empty()) return;
  std::string lines;
  for (const std::string& note : trace.notes) lines += (lines.empty() ? "" : "\n") + note;
  draw_dot(ui);
  ImGui::PushStyleColor(ImGuiCol_Text, ui.look->warning);
  const float max_width = ImGui::GetContentRegionAvail().x - ui.px(14);
  ImGui::TextUnformatted(on_screen(fitting_notes(trace.notes, max_width)).c_str());
  ImGui::PopStyleColor();
  mark(ui, "notes");
  hint(ui, lines);
}

void draw_pending(Ui& ui, const std::string& pending) {
  if (pending.empty()) return;
  draw_dot(ui);
  ImGui::TextColored(ui.look->accent, "%s", on_screen(pending).c_str());
  mark(ui, "pending");
  hint(ui,
       "This map is too large to store: the visible part is computed from queries and keys. "
       "The preview samples one row per cell.");
}

// True when the notice was closed.
bool draw_notice(Ui& ui, const Notice& notice, int index) {
  const Look& look = *ui.look;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, close_width = ui.px(26);
  const std::string text = on_screen(notice.text);
  const ImVec2 padding(ui.px(12), ui.px(7));
  const float wrap_width = width - 2 * padding.x - close_width;
  const ImVec2 extent = ImGui::CalcTextSize(text.c_str(), nullptr, false, wrap_width);
  const float height = extent.y + 2 * padding.y;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 end(origin.x + width, origin.y + height);
  draw.AddRectFilled(origin, end, packed(look.raised), ui.px(6));
  draw.AddRectFilled(origin, {origin.x + ui.px(4), end.y},
                     packed(notice.error ? look.error : look.accent), ui.px(2));
  draw.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {origin.x + padding.x, origin.y + padding.y},
               packed(look.text), text.c_str(), nullptr, wrap_width);
  ImGui::PushID(index);
  ImGui::SetCursorScreenPos({end.x - close_width, origin.y});
  const bool is_closed = invisible_button("close", {close_width, height});
  mark(ui, "notice." + std::to_string(index) + ".close");
  draw.AddText({end.x - close_width + ui.px(6), origin.y + padding.y},
               packed(ImGui::IsItemHovered() ? look.text : look.faint), "✕");
  ImGui::PopID();
  return is_closed;
}

// Draws the latest notice, except errors, at the right end of the status line. draw_notices() draws
// errors.
void draw_latest_notice(Ui& ui, State& state) {
  std::erase_if(state.notices, [&](const Notice& n) { return n.has_expired(state.seconds); });
  const auto latest = std::find_if(state.notices.rbegin(), state.notices.rend(),
                                   [](const Notice& n) { return !n.error; });
  if (latest == state.notices.rend()) return;
  const std::string text = on_screen(latest->text);
  const float width = ImGui::CalcTextSize(text.c_str()).x + ui.px(14);
  const float left = ImGui::GetItemRectMax().x + ui.px(24);  // after the previous items
  const float right = ImGui::GetWindowPos().x + ImGui::GetWindowWidth();
  ImGui::SameLine();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({std::max(left, right - width), origin.y});
  ImGui::TextColored(ui.look->accent, "%s", text.c_str());
  mark(ui, "notice");
  hint(ui, latest->text);
}

// Names such as "lamp.json", with the folder if several files have the same name.
std::vector<std::string> short_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    names.push_back(std::filesystem::path(path).filename().string());
  }
  std::vector<std::string> result = names;
  for (std::size_t n = 0; n < names.size(); ++n) {
    if (std::ranges::count(names, names[n]) < 2) continue;
    result[n] += "  in " + std::filesystem::path(paths[n]).parent_path().filename().string();
  }
  return result;
}

void draw_recent_files(Ui& ui, State& state) {
  const std::vector<std::string> recent = state.settings.recent;
  const bool is_open = ImGui::BeginMenu("Open recent", !recent.empty());
  mark(ui, "menu.recent");
  if (!is_open) {
    if (recent.empty()) hint(ui, "No files opened or saved yet");
    return;
  }
  const std::vector<std::string> names = short_names(recent);
  for (std::size_t n = 0; n < recent.size(); ++n) {
    const bool clicked = ImGui::MenuItem((on_screen(names[n]) + "##" + recent[n]).c_str());
    mark(ui, "menu.recent." + std::to_string(n));
    hint(ui, recent[n]);
    if (clicked && !open_path(state, recent[n])) std::erase(state.settings.recent, recent[n]);
  }
  ImGui::Separator();
  if (ImGui::MenuItem("Clear list")) state.settings.recent.clear();
  mark(ui, "menu.recent.forget");
  ImGui::EndMenu();
}

// Switch between simple and full controls, at the right end of the menu bar.
void draw_simple_switch(Ui& ui, State& state) {
  constexpr double kWidth = 128, kMargin = 14;  // units
  const float width = ui.px(kWidth), left = ImGui::GetWindowWidth() - width - ui.px(kMargin);
  if (left < ImGui::GetCursorPosX()) return;
  const Action& simple = action("simple");
  const std::string key = "  (" + to_string(simple.shortcuts.front()) + ")";
  const std::string simple_help =
      "Text, model, attention, position and view; other settings only while they are in use." + key;
  const std::string full_help = "All settings." + key;
  ImGui::SetCursorPosX(left);
  const int clicked =
      segments(ui, "controls",
               {{"Simple", simple_help.c_str(), "simple"}, {"Full", full_help.c_str(), "full"}},
               state.settings.simple ? 0 : 1, width);
  if (clicked >= 0 && (clicked == 0) != state.settings.simple) simple.run(state);
}

}  // namespace

void draw_menu_bar(Ui& ui, State& state) {
  if (!ImGui::BeginMainMenuBar()) return;
  for (const Menu menu : kMenus) {
    const std::string name(to_string(menu));
    const bool is_open = ImGui::BeginMenu(name.c_str());
    mark(ui, "menu." + name);
    if (!is_open) continue;
    for (const Action& a : actions()) {
      if (a.menu != menu || !a.in_menu || (a.is_listed && !a.is_listed(state))) continue;
      if (a.starts_group) ImGui::Separator();
      const std::string key = a.shortcuts.empty() ? "" : to_string(a.shortcuts.front());
      // Faint: the action is enabled but has no effect at present; its tooltip states the reason.
      const bool is_faint = a.enabled(state) && a.refusal && !a.refusal(state).empty();
      if (is_faint) ImGui::PushStyleColor(ImGuiCol_Text, ui.look->faint);
      const bool clicked = ImGui::MenuItem(a.label.c_str(), key.c_str(),
                                           a.checked && a.checked(state), a.enabled(state));
      if (is_faint) ImGui::PopStyleColor();
      if (clicked) a.run(state);
      mark(ui, "menu." + a.id);
      hint(ui, help_text(a, state));
      if (a.id == "open_model") draw_recent_files(ui, state);
    }
    ImGui::EndMenu();
  }
  draw_simple_switch(ui, state);
  ImGui::EndMainMenuBar();
}

void draw_status_line(Ui& ui, State& state) {
  ImGui::PushFont(ui.fonts.small);
  if (!state.settings.panels) draw_show_panels(ui, state);
  if (state.run.busy_seconds > kLongRunSeconds) draw_busy(ui, state);
  draw_tasks(ui, state);
  if (!state.run.error.empty()) {
    if (!missing_file(state).empty()) {
      if (draw_flat_button(ui, "Locate…", "error.locate")) browse(state, BrowsePurpose::LocateFile);
      hint(ui, "Choose the missing file at its new location.");
      ImGui::SameLine();
    }
    if (state.run.offer) {
      const std::string changes = describe(state.run.offer->implied);
      if (draw_flat_button(ui, ("Use " + changes).c_str(), "error.offer")) accept_offer(state);
      hint(ui, "Changes as little as possible so that the settings combine.");
      ImGui::SameLine();
    }
    ImGui::PushStyleColor(ImGuiCol_Text, ui.look->error);
    ImGui::TextUnformatted(on_screen(refusal_sentence(state.run.error)).c_str());
    ImGui::PopStyleColor();
    mark(ui, "error");
    hint(ui,
         state.run.error + (state.run.trace ? "\nThe picture still shows the previous run." : ""));
  } else if (state.run.trace != nullptr) {
    const Trace& trace = *state.pictured_trace();
    if (state.shows_b()) {
      ImGui::TextColored(ui.look->accent, "Showing B (Shift held)");
      mark(ui, "shows_other");
      draw_dot(ui);
    }
    if (trace.is_imported) {
      ImGui::TextUnformatted("Read from a file");
    } else {
      ImGui::TextUnformatted(on_screen(trace.backend).c_str());
      mark(ui, "backend_name");
      hint(ui, "Device that computed the attention.");
      draw_dot(ui);
      ImGui::TextUnformatted(milliseconds(trace.milliseconds).c_str());
      hint(ui, "Duration of the forward pass.");
    }
    draw_dot(ui);
    ImGui::TextUnformatted(describe_token_count(trace).c_str());
    draw_pending(ui, state.view.pending);
    draw_notes(ui, trace);
  } else {
    ImGui::TextColored(ui.look->faint, "%s", state.run.busy_seconds > 0 ? "First run" : "Ready");
  }
  draw_latest_notice(ui, state);
  ImGui::PopFont();
}

// "The last session was not saved.", or "One of 2 sessions that were not saved: 28 Nov, 14:05."
std::string describe_offer(const std::vector<AbandonedSession>& sessions) {
  if (sessions.size() == 1) return "The last session was not saved.";
  std::tm local{};
  localtime_r(&sessions.front().saved_at, &local);
  std::array<char, 32> time{};
  std::strftime(time.data(), time.size(), "%d %b, %H:%M", &local);
  return "One of " + std::to_string(sessions.size()) +
         " sessions that were not saved: " + time.data() + ".";
}

void draw_autosave_offer(Ui& ui, State& state) {
  if (state.files.abandoned.empty()) return;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImVec2 end(origin.x + ImGui::GetContentRegionAvail().x, origin.y + ImGui::GetFrameHeight());
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(origin, end, packed(ui.look->raised), ui.px(4));
  ImGui::SetCursorScreenPos({origin.x + ui.px(12), origin.y});
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(describe_offer(state.files.abandoned).c_str());
  hint(ui, "The program was killed or crashed.");
  ImGui::SameLine();
  if (button(ui, "Restore", "autosave.restore", true)) action("autosave_restore").run(state);
  hint(ui, "Continue the session.  (Return)");
  ImGui::SameLine();
  if (button(ui, "Discard", "autosave.discard")) {
    std::error_code ignored;
    std::filesystem::remove(state.files.abandoned.front().file, ignored);
    state.files.abandoned.erase(state.files.abandoned.begin());
  }
  hint(ui, "Delete the session. Escape: ask again at the next start.");
  if (state.files.abandoned.size() < 2) return;
  ImGui::SameLine();
  if (button(ui, "Next", "autosave.next")) {
    std::ranges::rotate(state.files.abandoned, state.files.abandoned.begin() + 1);
  }
  hint(ui, "Offer another session. The others are offered again at the next start.");
}

void draw_notices(Ui& ui, std::vector<Notice>& notices) {
  const bool has_errors = std::ranges::any_of(notices, &Notice::error);
  if (!has_errors) return;
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  const float width = std::min(ui.px(620), screen.WorkSize.x - ui.px(40));
  ImGui::SetNextWindowPos(
      {screen.WorkPos.x + screen.WorkSize.x / 2, screen.WorkPos.y + screen.WorkSize.y - ui.px(40)},
      ImGuiCond_Always, {0.5F, 1.0F});
  ImGui::SetNextWindowSize({width, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(10), ui.px(10)});
  ImGui::Begin("##notices", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing);
  ImGui::PopStyleVar();
  for (int i = static_cast<int>(notices.size()) - 1; i >= 0; --i) {
    if (!notices[static_cast<std::size_t>(i)].error) continue;
    if (draw_notice(ui, notices[static_cast<std::size_t>(i)], i)) {
      notices.erase(notices.begin() + i);
    }
  }
  ImGui::End();
}

void draw_splitter(Ui& ui, const char* id, double& width, double sign, float height) {
  const float thickness = ui.px(5);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  invisible_button(id, {thickness, height});
  mark(ui, id);
  const bool is_active = ImGui::IsItemActive();
  if (is_active || ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (is_active) width += sign * static_cast<double>(ImGui::GetIO().MouseDelta.x) / ui.scale;
  width = std::clamp(width, kMinPanelWidth, kMaxPanelWidth);
  const float middle = std::floor(origin.x + thickness / 2);
  ImGui::GetWindowDrawList()->AddRectFilled(
      {middle, origin.y}, {middle + ui.px(1), origin.y + height},
      packed(is_active || ImGui::IsItemHovered() ? ui.look->accent : ui.look->line));
}

}  // namespace attnscope::window
