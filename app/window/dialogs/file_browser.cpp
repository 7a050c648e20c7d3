#include <array>
#include <cstdio>
#include <filesystem>

#include "app/window/dialogs/dialogs.h"
#include "app/window/files.h"

namespace attnscope::window {

namespace {

struct Words {
  const char* title;
  const char* accept;
  const char* advice;
};

Words words(BrowsePurpose purpose) {
  switch (purpose) {
    case BrowsePurpose::OpenFile:
      return {"Open", "Open",
              "A session or lesson (.json), a text, an image, tensors (.npy, .npz, .safetensors), "
              "or a picture exported by attnscope."};
    case BrowsePurpose::OpenModel:
      return {"Open model folder", "Use this folder",
              "A folder with config.json, model.safetensors and tokenizer files."};
    case BrowsePurpose::OpenStore:
      return {"Open datastore", "Use this datastore",
              "Contexts with their next tokens (.safetensors), written by attnscope datastore."};
    case BrowsePurpose::OpenTexts:
      return {"Texts for head statistics", "Measure", "A text file; blank lines separate texts."};
    case BrowsePurpose::OpenMask:
      return {"Open mask", "Paint this",
              "A matrix (.npy), an image with one pixel per pair (white: allowed), or a text with "
              "a line of 0 and 1 per query."};
    case BrowsePurpose::OpenEdges:
      return {"Open edges", "Draw these",
              "A text with one edge per line, 0 1 or 0 -> 1, pairs in .json, or a matrix (.npy)."};
    case BrowsePurpose::CalibrationText:
      return {"Calibration text", "Use this text",
              "A text file that the model was not trained on."};
    case BrowsePurpose::SaveSession:
      return {"Save session", "Save", "The text and all settings."};
    case BrowsePurpose::ExportPath:
      return {"Picture file", "Choose",
              "The extension determines the format: .png, .svg, .pdf, .csv, .npy, .safetensors or "
              ".gif; NAME-%03d.png writes one picture per frame."};
  }
  return {"", "", ""};
}

std::string size_text(std::uintmax_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"B", "KB", "MB", "GB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1000 && unit + 1 < kUnits.size()) {
    size /= 1000;
    ++unit;
  }
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), size < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", size,
                kUnits[unit]);
  return text.data();
}

void draw_path(Ui& ui, FileBrowser& browser) {
  const std::filesystem::path above = browser.folder.parent_path();
  ImGui::BeginDisabled(above == browser.folder);
  if (button(ui, "↑", "browser.up")) enter_folder(browser, above);
  ImGui::EndDisabled();
  hint(ui, "Parent folder.");
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(on_screen(browser.folder.string()).c_str());
}

void draw_entries(Ui& ui, State& state, float height) {
  FileBrowser& browser = state.browser;
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.look->field);
  ImGui::BeginChild("entries", {0, height}, true);
  std::string entered;
  for (const FileEntry& entry : browser.entries) {
    if (!is_listed(browser, entry)) continue;
    const std::string shown = on_screen(entry.name) + (entry.folder ? "/" : "");
    ImGui::PushID(entry.name.c_str());
    if (ImGui::Selectable(shown.c_str(), entry.name == browser.name,
                          ImGuiSelectableFlags_AllowDoubleClick)) {
      browser.name = entry.name;
      browser.confirm = false;
      if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
        entered = entry.name;
      }
    }
    mark(ui, "browser.entry." + entry.name);
    if (browser.scrolls_to_name && entry.name == browser.name && !ImGui::IsItemVisible()) {
      ImGui::SetScrollHereY();
    }
    if (!entry.folder) {
      const std::string size = size_text(entry.bytes);
      ImGui::SameLine(ImGui::GetContentRegionMax().x - ImGui::CalcTextSize(size.c_str()).x);
      ImGui::TextColored(ui.look->faint, "%s", size.c_str());
    }
    ImGui::PopID();
  }
  if (browser.entries.empty()) faint(ui, "Empty folder.");
  browser.scrolls_to_name = false;
  ImGui::EndChild();
  ImGui::PopStyleColor();
  if (entered.empty()) return;
  const std::filesystem::path path = browser.folder / entered;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    browser.name.clear();
    enter_folder(browser, path);
  } else {
    accept_browser(state);
  }
}

// Error or question below the name; often empty.
std::string message(const FileBrowser& browser) {
  if (!browser.problem.empty()) return browser.problem;
  return browser.confirm ? "This file exists. Click or press Return again to replace it." : "";
}

}  // namespace

void draw_file_browser(Ui& ui, State& state) {
  FileBrowser& browser = state.browser;
  const Words say = words(browser.purpose);
  if (!begin_dialog(ui, say.title, browser.open, 620, 520)) return;
  faint(ui, say.advice);
  draw_path(ui, browser);
  const int step = (take_key(ui, "Down") ? 1 : 0) - (take_key(ui, "Up") ? 1 : 0);
  if (step != 0) {
    select_neighbour(browser, step);
    refill_field();
  }
  const std::string shown = on_screen(message(browser));
  const float wrap = ImGui::GetContentRegionAvail().x;
  const float below = ImGui::CalcTextSize(shown.c_str(), nullptr, false, wrap).y +
                      3 * ImGui::GetStyle().ItemSpacing.y + 2 * ImGui::GetFrameHeight();
  draw_entries(ui, state, -below);
  keep_focus_here();
  ImGui::SetNextItemWidth(-1);
  if (text_field(ui, "##name", browser.name, "browser.name", "Name")) browser.confirm = false;
  ImGui::PushStyleColor(ImGuiCol_Text, browser.problem.empty() ? ui.look->warning : ui.look->error);
  paragraph(ui, shown);
  ImGui::PopStyleColor();
  const bool enter = take_key(ui, "Enter");
  if (button(ui, browser.confirm ? "Replace" : say.accept, "browser.accept", true, ui.px(140)) ||
      enter) {
    accept_browser(state);
  }
  ImGui::SameLine();
  if (button(ui, "Cancel", "browser.cancel", false, ui.px(100))) browser.open = false;
  end_dialog();
}

}  // namespace attnscope::window
