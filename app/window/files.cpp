#include "app/window/files.h"

#include <algorithm>
#include <set>

#include "app/window/actions/navigation.h"
#include "app/window/error_text.h"
#include "app/window/jobs/task_kinds.h"
#include "app/window/model_selection.h"
#include "app/window/variant_selection.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/lower_case.h"
#include "core/checkpoint/source.h"
#include "core/experiment/imported_tensors.h"
#include "core/experiment/mask_and_graph.h"
#include "core/experiment/run_files.h"
#include "core/input/image_file.h"
#include "core/input/input_file.h"
#include "core/input/structure_file.h"
#include "core/tensor/gguf.h"
#include "core/view/session_file.h"

namespace attnscope::window {
namespace {

// True for a session and for an image with an embedded session, which replace all settings.
bool is_session(const std::filesystem::path& path) {
  if (lower_extension(path) != ".png") return lower_extension(path) == ".json";
  try {
    return has_session(path);
  } catch (const InputError&) {  // load_session() reports the error
    return true;
  }
}

// Changes the session that the left panels edit, as one undoable step.
void edit_session(State& state, const Change& change) {
  const bool for_b = state.edits_b();
  Session next = *state.session;
  RunView& side = for_b ? *next.b : next;
  side = change(side);
  set_session(state, share(std::move(next)));
  state.editing_b = for_b;
}

Change read_text(const std::filesystem::path& path) {
  const std::string text = read_file(path, kMaxTextBytes);
  if (text.find('\0') != std::string::npos) {
    throw InputError(path.string() + ": expected a text, a session, an image or tensors");
  }
  return [text](const RunView& now) { return with_text(text, now); };
}

// Clears choices that override the previous model's configuration.
void clear_stale_choices(RunView& run_view) {
  run_view.run.tensors = {};
  run_view.run.structure = {};
  run_view.run.exit.reset();
  run_view.run.variant.reset();
  run_view.run.encoding.reset();
  run_view.run.causal.reset();
}

bool is_model(const std::filesystem::path& path) {
  return file_exists(path / "config.json") || is_gguf(path) || gguf_in_folder(path);
}

RunView with_opened_model(const std::filesystem::path& path, RunView next) {
  if (!is_model(path)) {
    throw InputError(path.string() +
                     ": expected a model folder, found neither config.json nor a GGUF file");
  }
  clear_stale_choices(next);
  return with_model(next, path.string()).viewed;
}

RunView with_tensors(const std::filesystem::path& path, RunView next) {
  next.run.tensors = {path.string(), "", ""};
  next.view.pinned_query = next.view.pinned_key = -1;  // pins refer to other tokens
  next.run.variant.reset();
  next.run.encoding.reset();
  next.run.causal.reset();
  next.run.groups.clear();  // groups refer to heads of a model
  next.run.interventions.clear();
  show_all(next.view);
  return next;
}

// Checks that the tensors can be shown; throws InputError otherwise.
Change read_tensors(const std::filesystem::path& path) {
  static_cast<void>(read_imported_tensors({path.string(), "", ""}));
  return [path](RunView now) { return with_tensors(path, std::move(now)); };
}

RunView with_store(const std::filesystem::path& path, RunView next) {
  if (!is_store(path)) {
    throw InputError(path.string() +
                     ": expected keys, values and positions written by attnscope datastore");
  }
  const Choice kind = next.run.retrieval ? next.run.retrieval->retrieval_head
                                         : default_choice(retrieval_heads().front());
  next.run.retrieval = RetrievalChoice{kind, path.string()};
  return next;
}

// True for pixels or a trajectory, inputs of some models.
bool is_input(const std::filesystem::path& path) {
  if (lower_extension(path) != ".safetensors") return false;
  try {
    static_cast<void>(read_input_file(path));
    return true;
  } catch (const InputError&) {  // read_imported_tensors() reports the error
    return false;
  }
}

// Uses the current model if it accepts the file, else a bundled model. Keeps the text for
// return_to_text().
RunView with_input(const std::filesystem::path& path, RunView next) {
  const std::string model = model_that_reads(path, next.run.model);
  if (!model.empty()) {
    const std::string text = next.run.text;
    const std::vector<std::int32_t> ids = next.run.ids;
    next = with_model(next, model).viewed;
    next.run.text = text;
    next.run.ids = ids;
  }
  next.run.input = path.string();
  next.run.tensors = {};
  return next;
}

// Makes an image the input of the current model or of a bundled model for its exact size. If
// neither accepts the image, shows it in the view Image.
RunView with_picture(const std::filesystem::path& path, RunView next) {
  if (model_that_reads(path, next.run.model).empty()) {
    static_cast<void>(read_imported_tensors({path.string(), "", ""}));  // checks the image
    RunView image_view = with_tensors(path, std::move(next));
    image_view.view.id = "image";
    image_view.view.pinned_query = image_view.view.pinned_key = -1;
    return image_view;
  }
  return with_input(path, std::move(next));
}

}  // namespace

bool is_lesson(const std::filesystem::path& path) {
  if (lower_extension(path) != ".json") return false;
  try {
    return Json::parse_or_null(read_file(path, kMaxTextBytes)).contains("lesson");
  } catch (const InputError&) {  // opening the file reports the error
    return false;
  }
}

void set_session(State& state, SharedSession session) {
  state.history.end_step();
  state.session = std::move(session);
  state.run.is_generating = false;  // the continuation belongs to the previous text
  state.editing_b = false;
  state.history.record(state.session.snapshot(), state.seconds);
  state.history.end_step();
  state.text.edit.assign(state.session->run.text);
}

ReadFile read_file_to_open(const std::filesystem::path& path) {
  const std::filesystem::path absolute_path = std::filesystem::absolute(path).lexically_normal();
  const auto change_with = [&absolute_path](auto apply) {
    return [absolute_path, apply](RunView now) { return apply(absolute_path, std::move(now)); };
  };
  if (is_folder(absolute_path) || is_gguf(absolute_path)) {
    return {change_with(with_opened_model)};
  }
  if (is_session(absolute_path)) {
    return {.session = std::make_shared<const Session>(load_session(absolute_path))};
  }
  if (is_image_file(absolute_path)) return {change_with(with_picture)};
  if (is_store(absolute_path)) return {change_with(with_store)};
  if (is_input(absolute_path)) return {change_with(with_input)};
  if (is_tensor_file(absolute_path)) return {read_tensors(absolute_path)};
  return {read_text(absolute_path)};
}

Session with_opened_file(const std::filesystem::path& path, Session current) {
  const ReadFile file = read_file_to_open(path);
  if (file.session != nullptr) return *file.session;
  static_cast<RunView&>(current) = file.change(current);
  return current;
}

namespace {

constexpr std::uintmax_t kLargeFile = std::uintmax_t{8} << 20;  // bytes; slow to read

void remember_recent(Settings& settings, const std::filesystem::path& path) {
  settings.add_recent(std::filesystem::absolute(path).lexically_normal().string());
}

void apply_file(State& state, const std::filesystem::path& path, const ReadFile& file) {
  if (file.session != nullptr) {
    set_session(state, file.session);
  } else {
    remember_input(state);
    edit_session(state, file.change);
  }
  if (lower_extension(path) == ".json") state.files.session = path;
  remember_recent(state.settings, path);
}

// Runs `work` and reports its errors. True if there were none.
bool report_errors(State& state, const std::function<void()>& work) {
  try {
    work();
    return true;
  } catch (const std::exception& e) {
    state.report_error(error_text(e));
    return false;
  }
}

bool is_large(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return false;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return !error && bytes >= kLargeFile;
}

}  // namespace

bool open_path(State& state, const std::filesystem::path& path) {
  return report_errors(state, [&] {
    for (const OpeningFile& file : state.files.opening) file.task->cancel();  // replaced by `path`
    if (is_lesson(path)) {
      start_lesson(state, load_lesson(path));
      remember_recent(state.settings, path);
    } else if (is_model(path)) {
      choose_model(state, std::filesystem::absolute(path).lexically_normal().string());
      clear_stale_choices(state.edit());
      remember_recent(state.settings, path);
    } else if (is_large(path)) {
      state.files.opening.push_back({path, std::make_unique<BackgroundTask<ReadFile>>(
                                               [path](Task&) { return read_file_to_open(path); })});
    } else {
      apply_file(state, path, read_file_to_open(path));
    }
  });
}

namespace {

bool apply_opened_files(State& state) {
  bool changed = false;
  for (const OpeningFile& file : state.files.opening) {
    if (!file.task->is_finished()) continue;
    changed = true;
    if (file.task->is_cancelled()) continue;
    report_errors(state, [&] {
      const std::optional<ReadFile> content = file.task->result();
      if (!content) throw InputError(file.task->problem());
      apply_file(state, file.path, *content);
    });
  }
  std::erase_if(state.files.opening,
                [](const OpeningFile& file) { return file.task->is_finished(); });
  return changed;
}

}  // namespace

TaskKind opening_tasks() {
  return {
      .update = apply_opened_files,
      .tasks =
          [](State& state) {
            std::vector<Task*> tasks;
            for (const OpeningFile& file : state.files.opening) tasks.push_back(file.task.get());
            return tasks;
          },
      .status = [](const State& state) -> std::optional<TaskStatus> {
        if (state.files.opening.empty() || state.files.opening.back().task->is_cancelled())
          return std::nullopt;
        return TaskStatus{"opening",
                          "Reading " + state.files.opening.back().path.filename().string()};
      },
  };
}

bool open_mask(State& state, const std::filesystem::path& path) {
  return report_errors(state, [&] {
    select_variant(state, mask_choice(read_mask(path)), false);
    state.session.edit().view.id = "pattern";
  });
}

bool open_edges(State& state, const std::filesystem::path& path) {
  return report_errors(state, [&] {
    const EdgeList list = read_edges(path);
    select_variant(state, graph_choice(list.edges, list.is_directed), false);
    state.session.edit().view.id = "graph";
  });
}

bool open_store(State& state, const std::filesystem::path& path) {
  return report_errors(state, [&] {
    edit_session(state, [&](RunView current) { return with_store(path, std::move(current)); });
  });
}

namespace {

// The first run with a missing file; null: none.
RunSpec* run_with_missing_file(Session& session) {
  if (!missing_file(session.run).empty()) return &session.run;
  return session.b && !missing_file(session.b->run).empty() ? &session.b->run : nullptr;
}

}  // namespace

std::string missing_file(const State& state) {
  Session session = *state.session;
  const RunSpec* run = run_with_missing_file(session);
  return run != nullptr ? missing_file(*run) : "";
}

bool locate_file(State& state, const std::filesystem::path& path) {
  return report_errors(state, [&] {
    Session next = *state.session;
    RunSpec* run = run_with_missing_file(next);
    if (run == nullptr) throw InputError("locate file: expected a missing file, found none");
    locate_missing_file(*run, path);
    if (run->tensors.file.empty()) {
      static_cast<void>(read_input_file(run->input));
    } else {
      static_cast<void>(read_imported_tensors(run->tensors));
    }
    set_session(state, share(std::move(next)));
  });
}

bool save_to(State& state, const std::filesystem::path& path) {
  return report_errors(state, [&] {
    save_session(path, *state.session);
    state.files.session = path;
    remember_recent(state.settings, path);
    state.notify("Saved " + path.filename().string() + ".");
  });
}

}  // namespace attnscope::window
