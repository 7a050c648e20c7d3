#include "app/window/files.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "app/window/actions/navigation.h"
#include "app/window/jobs/open_job.h"
#include "app/window/opening.h"
#include "app/window/picking.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/experiment/drawn.h"
#include "core/experiment/own_tensors.h"
#include "core/input/drawn_file.h"
#include "core/input/input_file.h"
#include "core/input/picture.h"
#include "core/view/session.h"

namespace attnscope::window {

namespace {

std::string extension(const std::filesystem::path& path) {
  std::string text = path.extension().string();
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// A session, or a picture that carries one: it replaces all that is set.
bool is_session(const std::filesystem::path& path) {
  if (extension(path) != ".png") return extension(path) == ".json";
  try {
    return carries_session(path);
  } catch (const InputError&) {  // load_session() says what is wrong
    return true;
  }
}

// Changes the experiment that the left panels edit, as a step of its own.
void edit(State& state, const std::function<void(Experiment&)>& change) {
  const bool of_other = state.edits_other();
  Experiment next = state.experiment;
  change(of_other ? next.others.front() : next);
  set_experiment(state, next);
  state.editing_other = of_other;
}

using Change = std::function<Experiment(Experiment)>;

Change read_text(const std::filesystem::path& path) {
  const std::string text = read_file(path, kMostTextBytes);
  if (text.find('\0') != std::string::npos) {
    throw InputError(path.string() + ": not a text, a session, a picture or tensors");
  }
  return [text](const Experiment& now) { return reading_text(text, now); };
}

// What was chosen in place of what another model has.
void forget_choices(Experiment& e) {
  e.tensors = {};
  e.structure = {};
  e.exit.reset();
  e.variant.reset();
  e.encoding.reset();
  e.causal.reset();
}

bool is_model(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "config.json", ignored);
}

Experiment with_folder(const std::filesystem::path& folder, Experiment next) {
  if (!is_model(folder)) {
    throw InputError(folder.string() + ": no model here (config.json is missing)");
  }
  forget_choices(next);
  return with_model(next, folder.string()).experiment;
}

Experiment with_tensors(const std::filesystem::path& path, Experiment next) {
  next.tensors = {path.string(), "", ""};
  next.view.pinned_query = next.view.pinned_key = -1;  // of other tokens
  next.variant.reset();
  next.encoding.reset();
  next.causal.reset();
  next.groups.clear();  // of a model
  next.interventions.clear();
  show_all(next.view);
  return next;
}

// Refuses what cannot be shown.
Change read_tensors(const std::filesystem::path& path) {
  static_cast<void>(read_own_tensors({path.string(), "", ""}));
  return [path](Experiment now) { return with_tensors(path, std::move(now)); };
}

// Contexts to retrieve from, in the place of those that there are.
Experiment with_store(const std::filesystem::path& path, Experiment next) {
  if (!is_store(path)) {
    throw InputError(path.string() +
                     ": expected keys, values and places, as attnscope datastore writes them");
  }
  const Choice kind = next.retrieval ? next.retrieval->mixer : default_choice(mixers().front());
  next.retrieval = RetrievalChoice{kind, path.string()};
  return next;
}

// Pixels or a trajectory, for models that read such.
bool is_input(const std::filesystem::path& path) {
  if (extension(path) != ".safetensors") return false;
  try {
    static_cast<void>(read_input_file(path));
    return true;
  } catch (const InputError&) {  // tensors of one's own say what is wrong with them
    return false;
  }
}

// By the model that is chosen, or else by a bundled one that reads such. The text stays for the way
// back.
Experiment with_input(const std::filesystem::path& path, Experiment next) {
  const std::string model = reader_of(path, next.model);
  if (!model.empty()) {
    const std::string text = next.text;
    const std::vector<std::int32_t> ids = next.ids;
    next = with_model(next, model).experiment;
    next.text = text;
    next.ids = ids;
  }
  next.input = path.string();
  next.tensors = {};
  return next;
}

// Any picture: for models that read pixels, a bundled one where it is of the very size that this
// reads; else for its own sake.
Experiment with_picture(const std::filesystem::path& path, Experiment next) {
  if (reader_of(path, next.model).empty()) {
    static_cast<void>(read_own_tensors({path.string(), "", ""}));  // refuses what cannot be shown
    Experiment of_picture = with_tensors(path, std::move(next));
    of_picture.view.id = "image";
    of_picture.view.pinned_query = of_picture.view.pinned_key = -1;
    return of_picture;
  }
  return with_input(path, std::move(next));
}

}  // namespace

bool is_lesson(const std::filesystem::path& path) {
  if (extension(path) != ".json") return false;
  try {
    return Json::parse_or_null(read_file(path, kMostTextBytes)).contains("lesson");
  } catch (const InputError&) {  // whoever opens it says what is wrong
    return false;
  }
}

void set_experiment(State& state, const Experiment& experiment) {
  state.history.end_step();
  state.experiment = experiment;
  state.generating = false;  // what was written on is not this text
  state.editing_other = false;
  state.history.record(experiment, state.seconds);
  state.history.end_step();
  state.text.edit.assign(experiment.text);
}

ReadFile read_to_open(const std::filesystem::path& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  const auto by = [&whole](auto with) {
    return [whole, with](Experiment now) { return with(whole, std::move(now)); };
  };
  if (std::filesystem::is_directory(whole)) return {by(with_folder)};
  if (is_session(whole)) {
    return {[session = load_session(whole)](const Experiment&) { return session; }, true};
  }
  if (is_picture_file(whole)) return {by(with_picture)};
  if (is_store(whole)) return {by(with_store)};
  if (is_input(whole)) return {by(with_input)};
  if (is_tensor_file(whole)) return {read_tensors(whole)};
  return {read_text(whole)};
}

Experiment opened(const std::filesystem::path& path, const Experiment& now) {
  return read_to_open(path).change(now);
}

namespace {

constexpr std::uintmax_t kLargeFile = std::uintmax_t{8} << 20;  // bytes: reading it can be noticed

void remember_recent(State& state, const std::filesystem::path& path) {
  state.settings.add_recent(std::filesystem::absolute(path).lexically_normal().string());
}

void take_in(State& state, const std::filesystem::path& path, const ReadFile& file) {
  if (file.session) {
    set_experiment(state, file.change(state.experiment));
  } else {
    remember_reading(state);
    edit(state, [&](Experiment& e) { e = file.change(e); });
  }
  if (extension(path) == ".json") state.session = path;
  remember_recent(state, path);
}

bool is_large(const std::filesystem::path& path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) return false;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
  return !failed && bytes >= kLargeFile;
}

}  // namespace

bool open_path(State& state, const std::filesystem::path& path) {
  try {
    for (const auto& job : state.opening) job->drop();  // another one is wanted
    if (is_lesson(path)) {
      start_lesson(state, load_lesson(path));
      remember_recent(state, path);
    } else if (is_model(path)) {
      choose_model(state, std::filesystem::absolute(path).lexically_normal().string());
      forget_choices(state.edited());
      remember_recent(state, path);
    } else if (is_large(path)) {
      state.opening.push_back(std::make_shared<OpenJob>(path));
    } else {
      take_in(state, path, read_to_open(path));
    }
    return true;
  } catch (const std::exception& e) {
    state.complain(e.what());
    return false;
  }
}

bool is_opening(const State& state) {
  return !state.opening.empty() && !state.opening.back()->dropped();
}

bool take_opened(State& state) {
  bool changed = false;
  for (const auto& job : state.opening) {
    if (!job->over()) continue;
    changed = true;
    if (job->dropped()) continue;
    try {
      if (!job->problem().empty()) throw InputError(job->problem());
      take_in(state, job->path(), job->file());
    } catch (const std::exception& e) {
      state.complain(e.what());
    }
  }
  std::erase_if(state.opening, [](const auto& job) { return job->over(); });
  return changed;
}

namespace {

// Does what may refuse the file.
bool tried(State& state, const std::function<void()>& take) {
  try {
    take();
    return true;
  } catch (const std::exception& e) {
    state.complain(e.what());
    return false;
  }
}

}  // namespace

bool open_mask(State& state, const std::filesystem::path& path) {
  return tried(state, [&] {
    pick_variant(state, drawn_mask(read_mask(path)), false);
    state.experiment.view.id = "pattern";
  });
}

bool open_edges(State& state, const std::filesystem::path& path) {
  return tried(state, [&] {
    const EdgeList list = read_edges(path);
    pick_variant(state, drawn_graph(list.edges, list.one_way), false);
    state.experiment.view.id = "graph";
  });
}

bool open_store(State& state, const std::filesystem::path& path) {
  try {
    edit(state, [&](Experiment& e) { e = with_store(path, e); });
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
    remember_recent(state, path);
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

bool is_offered(const FileBrowser& browser, const FileEntry& entry) {
  return entry.folder || browser.purpose != BrowsePurpose::OpenModel;
}

void step_entry(FileBrowser& browser, int by) {
  std::vector<const FileEntry*> offered;
  int at = by > 0 ? -1 : 0;  // nothing named: the first
  for (const FileEntry& entry : browser.entries) {
    if (!is_offered(browser, entry)) continue;
    if (entry.name == browser.name) at = static_cast<int>(offered.size());
    offered.push_back(&entry);
  }
  if (offered.empty()) return;
  at = std::clamp(at + by, 0, static_cast<int>(offered.size()) - 1);
  browser.name = offered[static_cast<std::size_t>(at)]->name;
  browser.confirm = false;
  browser.problem.clear();
  browser.arrows = true;
}

void accept_browsed(State& state) {
  FileBrowser& browser = state.browser;
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
      state.experiment.view.statistics_file = path.string();
      break;
    case BrowsePurpose::CalibrationText:
      (state.calibration.picks_other ? state.calibration.other : state.calibration.text) =
          path.string();
      break;
    case BrowsePurpose::SaveSession:
      done = save_to(state, path);
      break;
    case BrowsePurpose::ExportPath:
      state.exporting.path = state.exporting.replaced = path.string();  // asked here
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
