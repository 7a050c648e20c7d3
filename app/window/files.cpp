#include "app/window/files.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/figure/render.h"

namespace attnscope::window {

namespace {

constexpr std::size_t kMostTextBytes = 1 << 20;

std::string extension(const std::filesystem::path& path) {
  std::string text = path.extension().string();
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void open_picture(State& state, const std::filesystem::path& path) {
  const PictureMetadata metadata = read_png_metadata(path);
  const auto found = metadata.find("Experiment");
  if (found == metadata.end()) {
    throw InputError(path.string() + ": a picture without an experiment: not from attnscope");
  }
  set_experiment(state, experiment_from_json(nlohmann::json::parse(found->second)));
}

// Changes the experiment that the left panels edit, as a step of its own.
void edit(State& state, const std::function<void(Experiment&)>& change) {
  const bool of_other = state.edits_other();
  Experiment next = state.experiment;
  change(of_other ? next.others.front() : next);
  set_experiment(state, next);
  state.editing_other = of_other;
}

void open_text(State& state, const std::filesystem::path& path) {
  const std::string text = read_file(path, kMostTextBytes);
  if (text.find('\0') != std::string::npos) {
    throw InputError(path.string() + ": not a text, a session or a picture");
  }
  edit(state, [&](Experiment& e) {
    e.text = text;
    e.ids.clear();
  });
}

void open_model(State& state, const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder / "config.json")) {
    throw InputError(folder.string() + ": no model here (config.json is missing)");
  }
  edit(state, [&](Experiment& e) {
    e.model = folder.string();
    e.variant.reset();
    e.encoding.reset();
    e.causal.reset();
  });
}

}  // namespace

void set_experiment(State& state, const Experiment& experiment) {
  state.history.end_step();
  state.experiment = experiment;
  state.editing_other = false;
  state.history.record(experiment, state.seconds);
  state.history.end_step();
  state.text.edit.assign(experiment.text);
}

bool open_path(State& state, const std::filesystem::path& path) {
  try {
    if (std::filesystem::is_directory(path)) {
      open_model(state, path);
    } else if (extension(path) == ".json") {
      set_experiment(state, load_session(path));
      state.session = path;
    } else if (extension(path) == ".png") {
      open_picture(state, path);
    } else {
      open_text(state, path);
    }
    return true;
  } catch (const std::exception& e) {
    state.complain(e.what());
    return false;
  }
}

bool save_to(State& state, const std::filesystem::path& path) {
  try {
    save_session(path, state.experiment);
    state.session = path;
    state.say("Saved " + path.filename().string() + ".");
    return true;
  } catch (const std::exception& e) {
    state.complain(e.what());
    return false;
  }
}

void enter_folder(FileBrowser& browser, const std::filesystem::path& folder) {
  browser.problem.clear();
  browser.confirm = false;
  std::vector<FileEntry> entries;
  std::error_code failed;
  const std::filesystem::path full = std::filesystem::weakly_canonical(folder, failed);
  std::filesystem::directory_iterator files(full, failed);
  if (failed) {
    browser.problem = folder.string() + ": " + failed.message();
    return;
  }
  for (const std::filesystem::directory_entry& file : files) {
    std::error_code ignored;
    const std::string name = file.path().filename().string();
    if (name.empty() || name[0] == '.') continue;
    const bool is_folder = file.is_directory(ignored);
    const std::uintmax_t bytes = is_folder ? 0 : file.file_size(ignored);
    entries.push_back({name, is_folder, ignored ? 0 : bytes});
  }
  std::sort(entries.begin(), entries.end(), [](const FileEntry& a, const FileEntry& b) {
    return a.folder != b.folder ? a.folder : a.name < b.name;
  });
  browser.folder = full;
  browser.entries = std::move(entries);
}

void browse(State& state, BrowsePurpose purpose) {
  FileBrowser& browser = state.browser;
  browser = FileBrowser();
  browser.open = true;
  browser.purpose = purpose;
  if (purpose == BrowsePurpose::SaveSession) {
    browser.name = state.session.empty() ? "session.json" : state.session.filename().string();
  } else if (purpose == BrowsePurpose::ExportPath) {
    browser.name = std::filesystem::path(state.exporting.path).filename().string();
  }
  if (!state.settings.folder.empty()) enter_folder(browser, state.settings.folder);
  std::error_code ignored;
  if (browser.folder.empty()) enter_folder(browser, std::filesystem::current_path(ignored));
}

void accept_browsed(State& state) {
  FileBrowser& browser = state.browser;
  std::filesystem::path path = browser.folder / browser.name;
  std::error_code ignored;
  const bool opens_model = browser.purpose == BrowsePurpose::OpenModel;
  if (std::filesystem::is_directory(path, ignored) && !opens_model) {
    browser.name.clear();
    enter_folder(browser, path);
    return;
  }
  const bool writes =
      browser.purpose == BrowsePurpose::SaveSession || browser.purpose == BrowsePurpose::ExportPath;
  if (browser.purpose == BrowsePurpose::SaveSession && path.extension().empty()) path += ".json";
  if (writes && browser.name.empty()) {
    browser.problem = "A name is needed.";
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
    case BrowsePurpose::SaveSession:
      done = save_to(state, path);
      break;
    case BrowsePurpose::ExportPath:
      state.exporting.path = path.string();
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

}  // namespace attnscope::window
