#include "core/lesson/lesson.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/join_words.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/near_match.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/published_model.h"
#include "core/figure/plain_text.h"
#include "core/view/session_file.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

constexpr Index kFormat = 1;

LessonStep step_from_json(const Json& value, const Json& session, const std::string& path) {
  JsonObject object(value, path);
  LessonStep step;
  step.title = object.text("title");
  step.text = object.text("text");
  step.notes = object.text_or("notes", "");
  object.ignore("requires");
  Json step_session = session;
  if (object.has("session")) step_session.merge_patch(object.any("session"));
  step.session = session_from_json(step_session, object.path_of("session"));
  if (object.has("claims")) {
    const Json& claims = object.array("claims");
    for (std::size_t i = 0; i < claims.size(); ++i) {
      step.claims.push_back(claim_from_json(
          claims[i], step.session, object.path_of("claims") + "[" + std::to_string(i) + "]"));
    }
  }
  object.finish();
  return step;
}

// "SmolLM2-135M is installed (menu File → Get SmolLM2-135M, 98 MB)", or without the menu.
std::string installation_text(const std::string& model) {
  const PublishedModel* published = published_model(model);
  if (published == nullptr) return "the model " + model + " is installed";
  return published->name + " is installed (menu File → Get " + published->name + ", " +
         brief(published->megabytes) + " MB)";
}

// Appends the step. If the step requires a model that is not installed, appends a remark to the
// text of the previous step instead.
void add_step(const Json& value, const Json& session, const std::string& path,
              std::vector<LessonStep>& steps) {
  const std::string model = value.is_object() && value.contains("requires")
                                ? JsonObject(value, path).text("requires")
                                : "";
  LessonStep step = step_from_json(value, session, path);
  if (model.empty() || is_installed(model)) {
    steps.push_back(std::move(step));
  } else if (!steps.empty()) {
    steps.back().text +=
        " One more step, “" + step.title + "”, follows once " + installation_text(model) + ".";
  }
}

// Resolves relative file names of a step against the lesson's folder.
void resolve_files(Session& session, const fs::path& folder) {
  for (std::string* file : {&session.run.input, &session.run.tensors.file}) {
    if (!file->empty() && fs::path(*file).is_relative()) {
      *file = (folder / *file).lexically_normal().string();
    }
  }
}

// "03-rope.json" -> "rope"; the digits determine the order of lessons.
std::string lesson_id(const fs::path& path) {
  std::string name = path.stem().string();
  const std::size_t letter = name.find_first_not_of("0123456789-");
  return letter == std::string::npos ? name : name.substr(letter);
}

fs::path lessons_folder() {
  return home_folder() / "assets" / "lessons";
}

}  // namespace

Lesson load_lesson(const fs::path& path) {
  const std::string name = path.string();
  const Json value = parse_json(read_file(path, limits::kMaxLesson), name);
  JsonObject object(value, name);
  object.integer("lesson", kFormat, kFormat);
  Lesson lesson;
  lesson.id = lesson_id(path);
  lesson.title = object.text("title");
  lesson.summary = object.text("summary");
  lesson.source = object.text("source");
  const Json& session = object.any("session");
  const Json& steps = object.array("steps");
  if (steps.empty()) object.fail("steps", "at least one step");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    add_step(steps[i], session, object.path_of("steps") + "[" + std::to_string(i) + "]",
             lesson.steps);
  }
  if (lesson.steps.empty()) object.fail("steps", "a step that requires no model");
  for (LessonStep& step : lesson.steps) resolve_files(step.session, path.parent_path());
  object.finish();
  return lesson;
}

std::vector<Lesson> bundled_lessons() {
  std::vector<fs::path> files;
  std::error_code failed;
  fs::directory_iterator folder(lessons_folder(), failed);
  if (failed) return {};
  for (const fs::directory_entry& file : folder) {
    if (file.path().extension() == ".json") files.push_back(file.path());
  }
  std::ranges::sort(files);
  std::vector<Lesson> lessons;
  lessons.reserve(files.size());
  for (const fs::path& file : files) lessons.push_back(load_lesson(file));
  return lessons;
}

Lesson find_lesson(const std::string& id_or_file) {
  std::error_code ignored;
  if (fs::is_regular_file(id_or_file, ignored)) return load_lesson(id_or_file);
  const fs::path path(id_or_file);
  if (path.has_parent_path() || path.extension() == ".json") {
    throw InputError(id_or_file + ": expected a lesson file, found " +
                     (fs::exists(path, ignored) ? "something else" : "no such file"));
  }
  std::vector<std::string> known_ids;
  for (Lesson& lesson : bundled_lessons()) {
    if (lesson.id == id_or_file) return std::move(lesson);
    known_ids.push_back(lesson.id);
  }
  throw InputError("lesson: expected a lesson file or one of " + join_words(known_ids) +
                   ", found \"" + id_or_file + "\"" + suggestion(id_or_file, known_ids));
}

}  // namespace attnscope
