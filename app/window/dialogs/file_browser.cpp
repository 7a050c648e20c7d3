#include <array>
#include <cstdio>

#include "app/window/dialogs/dialogs.h"
#include "app/window/files.h"
#include "app/window/widgets/text_field.h"

namespace attnscope::window {

void enter_folder(FileBrowser& browser, const std::filesystem::path& folder) {
  browser.problem.clear();
  browser.replaces = false;
  std::vector<FileEntry> entries;
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::weakly_canonical(folder, error);
  std::filesystem::directory_iterator files(absolute, error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::filesystem::directory_entry& file = *files;
    std::error_code ignored;
    const std::string name = file.path().filename().string();
    if (name.empty() || name[0] == '.') continue;
    const bool is_folder = file.is_directory(ignored);
    const std::uintmax_t bytes = is_folder ? 0 : file.file_size(ignored);
    entries.push_back({name, is_folder, ignored ? 0 : bytes});
  }
  if (error) {
    browser.problem = folder.string() + ": " + error.message();
    return;
  }
  std::sort(entries.begin(), entries.end(), [](const FileEntry& a, const FileEntry& b) {
    return a.is_folder != b.is_folder ? a.is_folder : a.name < b.name;
  });
  browser.folder = absolute;
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
  } else if (purpose == BrowsePurpose::LocateFile) {
    browser.name = std::filesystem::path(missing_file(state)).filename().string();
  } else if (purpose == BrowsePurpose::SweepFile) {
    browser.name = std::filesystem::path(state.dialogs.study.sweep.path).filename().string();
  } else if (purpose == BrowsePurpose::ExportPath) {
    browser.name = std::filesystem::path(state.dialogs.exporting.path).filename().string();
  }
  if (!state.settings.folder.empty()) enter_folder(browser, state.settings.folder);
  std::error_code ignored;
  if (browser.folder.empty()) enter_folder(browser, std::filesystem::current_path(ignored));
}

bool is_listed(const FileBrowser& browser, const FileEntry& entry) {
  return entry.is_folder || browser.purpose != BrowsePurpose::OpenModel ||
         entry.name.ends_with(".gguf");
}

void select_neighbour(FileBrowser& browser, int by) {
  std::vector<const FileEntry*> listed;
  int index = by > 0 ? -1 : 0;  // no selection: start at the first entry
  for (const FileEntry& entry : browser.entries) {
    if (!is_listed(browser, entry)) continue;
    if (entry.name == browser.name) index = static_cast<int>(listed.size());
    listed.push_back(&entry);
  }
  if (listed.empty()) return;
  index = std::clamp(index + by, 0, static_cast<int>(listed.size()) - 1);
  browser.name = listed[static_cast<std::size_t>(index)]->name;
  browser.replaces = false;
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
  const bool writes_json =
      browser.purpose == BrowsePurpose::SaveSession || browser.purpose == BrowsePurpose::SweepFile;
  const bool writes = writes_json || browser.purpose == BrowsePurpose::ExportPath;
  if (writes_json && path.extension().empty()) path += ".json";
  if (writes && browser.name.empty()) {
    browser.problem = "Enter a name.";
    return;
  }
  if (writes && !browser.replaces && std::filesystem::exists(path, ignored)) {
    browser.replaces = true;
    return;
  }
  bool succeeded = true;
  switch (browser.purpose) {
    case BrowsePurpose::OpenFile:
    case BrowsePurpose::OpenModel:
      succeeded = open_path(state, path);
      break;
    case BrowsePurpose::OpenStore:
      succeeded = open_store(state, path);
      break;
    case BrowsePurpose::OpenMask:
      succeeded = open_mask(state, path);
      break;
    case BrowsePurpose::OpenEdges:
      succeeded = open_edges(state, path);
      break;
    case BrowsePurpose::LocateFile:
      succeeded = locate_file(state, path);
      break;
    case BrowsePurpose::OpenTexts:
      state.session.edit().view.statistics_file = path.string();
      break;
    case BrowsePurpose::CalibrationText:
      (state.dialogs.calibration.picks_test ? state.dialogs.calibration.test_file
                                            : state.dialogs.calibration.text_file) = path.string();
      break;
    case BrowsePurpose::TrainingText:
      state.dialogs.training.settings.text = path.string();
      break;
    case BrowsePurpose::LengthsText:
      state.dialogs.extrapolation.text_file = path.string();
      break;
    case BrowsePurpose::OpenStudy:
      succeeded = open_study(state, path);
      break;
    case BrowsePurpose::SweepText:
      state.dialogs.study.sweep.sweep.text_file = path.string();
      break;
    case BrowsePurpose::SweepFile:
      state.dialogs.study.sweep.path = state.dialogs.study.sweep.overwrite_path =
          path.string();  // replacement was confirmed
      break;
    case BrowsePurpose::SaveSession:
      succeeded = save_to(state, path);
      break;
    case BrowsePurpose::ExportPath:
      state.dialogs.exporting.path = state.dialogs.exporting.overwrite_path =
          path.string();  // replacement was confirmed
      break;
  }
  if (succeeded) {
    browser.open = false;
    state.settings.folder = browser.folder.string();
  } else {
    browser.problem = state.notices.back().text;
    state.notices.pop_back();
    browser.replaces = false;
  }
}

namespace {

struct BrowserTexts {
  const char* title;
  const char* accept;
  const char* advice;
};

BrowserTexts browser_texts(BrowsePurpose purpose) {
  switch (purpose) {
    case BrowsePurpose::OpenFile:
      return {"Open", "Open",
              "A session or lesson (.json), a text, an image, tensors (.npy, .npz, .safetensors), "
              "or a picture exported by attnscope."};
    case BrowsePurpose::OpenModel:
      return {"Open model", "Use this model",
              "A GGUF file, or a folder with config.json, model.safetensors and tokenizer files."};
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
              "A text with one edge per line (\"0 1\" or \"0 -> 1\"), pairs in .json, or a .npy "
              "matrix."};
    case BrowsePurpose::CalibrationText:
      return {"Calibration text", "Use this text",
              "A text file that the model was not trained on."};
    case BrowsePurpose::TrainingText:
      return {"Training data", "Train on this",
              "A text, or for the task image a table or picture."};
    case BrowsePurpose::LengthsText:
      return {"Text to evaluate", "Use this text",
              "A text file that the models were not trained on."};
    case BrowsePurpose::OpenStudy:
      return {"Open experiment", "Open", "A definition (JSON), as attnscope experiment reads it."};
    case BrowsePurpose::SweepText:
      return {"Text to evaluate", "Use this text",
              "A text file that the model was not trained on."};
    case BrowsePurpose::SweepFile:
      return {"Definition file", "Choose", "The definition of the sweep (JSON)."};
    case BrowsePurpose::LocateFile:
      return {"Locate file", "Use this file", "The missing file, at its new location."};
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
  const std::filesystem::path parent = browser.folder.parent_path();
  ImGui::BeginDisabled(parent == browser.folder);
  if (button(ui, "↑", "browser.up")) enter_folder(browser, parent);
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
  std::string opened;
  for (const FileEntry& entry : browser.entries) {
    if (!is_listed(browser, entry)) continue;
    const std::string label = on_screen(entry.name) + (entry.is_folder ? "/" : "");
    ImGui::PushID(entry.name.c_str());
    if (ImGui::Selectable(label.c_str(), entry.name == browser.name,
                          ImGuiSelectableFlags_AllowDoubleClick)) {
      browser.name = entry.name;
      browser.replaces = false;
      if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
        opened = entry.name;
      }
    }
    mark(ui, "browser.entry." + entry.name);
    if (browser.scrolls_to_name && entry.name == browser.name && !ImGui::IsItemVisible()) {
      ImGui::SetScrollHereY();
    }
    if (!entry.is_folder) {
      const std::string size = size_text(entry.bytes);
      ImGui::SameLine(ImGui::GetContentRegionMax().x - ImGui::CalcTextSize(size.c_str()).x);
      ImGui::TextColored(ui.look->faint, "%s", size.c_str());
    }
    ImGui::PopID();
  }
  if (browser.entries.empty()) faint(ui, "This folder is empty.");
  browser.scrolls_to_name = false;
  ImGui::EndChild();
  ImGui::PopStyleColor();
  if (opened.empty()) return;
  const std::filesystem::path path = browser.folder / opened;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    browser.name.clear();
    enter_folder(browser, path);
  } else {
    accept_browser(state);
  }
}

// Error or question below the file name; empty if there is none.
std::string status_text(const FileBrowser& browser) {
  if (!browser.problem.empty()) return browser.problem;
  return browser.replaces ? "This file exists. Click or press Return again to replace it." : "";
}

}  // namespace

void draw_file_browser(Ui& ui, State& state) {
  FileBrowser& browser = state.dialogs.browser;
  const BrowserTexts texts = browser_texts(browser.purpose);
  if (!begin_dialog(ui, texts.title, browser.open, 620, 520)) return;
  faint(ui, texts.advice);
  draw_path(ui, browser);
  const int step = (take_key(ui, "Down") ? 1 : 0) - (take_key(ui, "Up") ? 1 : 0);
  if (step != 0) select_neighbour(browser, step);
  const std::string status = on_screen(status_text(browser));
  const float wrap = ImGui::GetContentRegionAvail().x;
  const float footer_height = ImGui::CalcTextSize(status.c_str(), nullptr, false, wrap).y +
                              3 * ImGui::GetStyle().ItemSpacing.y + 2 * ImGui::GetFrameHeight();
  draw_entries(ui, state, -footer_height);
  keep_focus_here(ui);
  ImGui::SetNextItemWidth(-1);
  if (text_field(ui, browser.name, "browser.name", "Name")) browser.replaces = false;
  ImGui::PushStyleColor(ImGuiCol_Text, browser.problem.empty() ? ui.look->warning : ui.look->error);
  paragraph(ui, status);
  ImGui::PopStyleColor();
  const bool enter = take_key(ui, "Enter");
  if (button(ui, browser.replaces ? "Replace" : texts.accept, "browser.accept", true, ui.px(140)) ||
      enter) {
    accept_browser(state);
  }
  ImGui::SameLine();
  if (button(ui, "Cancel", "browser.cancel", false, ui.px(100))) browser.open = false;
  end_dialog();
}

}  // namespace attnscope::window
