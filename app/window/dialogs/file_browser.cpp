#include <array>
#include <cstdio>

#include "app/window/dialogs/dialogs.h"
#include "app/window/files.h"

namespace attnscope::window {

void enter_folder(FileBrowser& browser, const std::filesystem::path& folder) {
  browser.problem.clear();
  browser.confirm = false;
  std::vector<FileEntry> entries;
  std::error_code failed;
  const std::filesystem::path full = std::filesystem::weakly_canonical(folder, failed);
  std::filesystem::directory_iterator files(full, failed);
  for (; !failed && files != std::filesystem::directory_iterator(); files.increment(failed)) {
    const std::filesystem::directory_entry& file = *files;
    std::error_code ignored;
    const std::string name = file.path().filename().string();
    if (name.empty() || name[0] == '.') continue;
    const bool is_folder = file.is_directory(ignored);
    const std::uintmax_t bytes = is_folder ? 0 : file.file_size(ignored);
    entries.push_back({name, is_folder, ignored ? 0 : bytes});
  }
  if (failed) {
    browser.problem = folder.string() + ": " + failed.message();
    return;
  }
  std::sort(entries.begin(), entries.end(), [](const FileEntry& a, const FileEntry& b) {
    return a.folder != b.folder ? a.folder : a.name < b.name;
  });
  browser.folder = full;
  browser.entries = std::move(entries);
}

void browse(State& state, BrowsePurpose purpose) {
  FileBrowser& browser = state.dialogs.browser;
  browser = FileBrowser();
  browser.open = true;
  browser.purpose = purpose;
  if (purpose == BrowsePurpose::SaveSession) {
    browser.name =
        state.files.session.empty() ? "session.json" : state.files.session.filename().string();
  } else if (purpose == BrowsePurpose::ExportPath) {
    browser.name = std::filesystem::path(state.dialogs.exporting.path).filename().string();
  }
  if (!state.settings.folder.empty()) enter_folder(browser, state.settings.folder);
  std::error_code ignored;
  if (browser.folder.empty()) enter_folder(browser, std::filesystem::current_path(ignored));
}

bool is_listed(const FileBrowser& browser, const FileEntry& entry) {
  return entry.folder || browser.purpose != BrowsePurpose::OpenModel;
}

void select_neighbour(FileBrowser& browser, int by) {
  std::vector<const FileEntry*> offered;
  int at = by > 0 ? -1 : 0;  // start at the first if none is selected
  for (const FileEntry& entry : browser.entries) {
    if (!is_listed(browser, entry)) continue;
    if (entry.name == browser.name) at = static_cast<int>(offered.size());
    offered.push_back(&entry);
  }
  if (offered.empty()) return;
  at = std::clamp(at + by, 0, static_cast<int>(offered.size()) - 1);
  browser.name = offered[static_cast<std::size_t>(at)]->name;
  browser.confirm = false;
  browser.problem.clear();
  browser.scrolls_to_name = true;
}

void accept_browser(State& state) {
  FileBrowser& browser = state.dialogs.browser;
  std::filesystem::path path = browser.folder / browser.name;
  std::error_code ignored;
  const bool is_model = browser.purpose == BrowsePurpose::OpenModel &&
                        std::filesystem::exists(path / "config.json", ignored);
  if (std::filesystem::is_directory(path, ignored) && !is_model && !browser.name.empty()) {
    browser.name.clear();
    enter_folder(browser, path);
    return;
  }
  const bool writes =
      browser.purpose == BrowsePurpose::SaveSession || browser.purpose == BrowsePurpose::ExportPath;
  if (browser.purpose == BrowsePurpose::SaveSession && path.extension().empty()) path += ".json";
  if (writes && browser.name.empty()) {
    browser.problem = "Enter a name.";
    return;
  }
  if (writes && !browser.confirm && std::filesystem::exists(path, ignored)) {
    browser.confirm = true;
    return;
  }
  bool done = true;
  switch (browser.purpose) {
    case BrowsePurpose::OpenFile:
    case BrowsePurpose::OpenModel:
      done = open_path(state, path);
      break;
    case BrowsePurpose::OpenStore:
      done = open_store(state, path);
      break;
    case BrowsePurpose::OpenMask:
      done = open_mask(state, path);
      break;
    case BrowsePurpose::OpenEdges:
      done = open_edges(state, path);
      break;
    case BrowsePurpose::OpenTexts:
      state.session.edit().view.statistics_file = path.string();
      break;
    case BrowsePurpose::CalibrationText:
      (state.dialogs.calibration.browses_other ? state.dialogs.calibration.other
                                               : state.dialogs.calibration.text) = path.string();
      break;
    case BrowsePurpose::SaveSession:
      done = save_to(state, path);
      break;
    case BrowsePurpose::ExportPath:
      state.dialogs.exporting.path = state.dialogs.exporting.overwrite_path =
          path.string();  // confirmed here
      break;
  }
  if (done) {
    browser.open = false;
    state.settings.folder = browser.folder.string();
  } else {
    browser.problem = state.notices.back().text;
    state.notices.pop_back();
    browser.confirm = false;
  }
}

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
  FileBrowser& browser = state.dialogs.browser;
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
  FileBrowser& browser = state.dialogs.browser;
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
