// Targets for user files: sessions, settings, plans, training states, lessons.
#include <filesystem>
#include <stdexcept>

#include "app/window/settings.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/strict_json.h"
#include "core/experiment/expected_pairs.h"
#include "core/lesson/lesson.h"
#include "core/study/study_point.h"
#include "core/study/study_result.h"
#include "core/training/loss_log.h"
#include "core/training/state.h"
#include "core/training/train.h"
#include "core/view/session_file.h"
#include "tests/fuzz/target.h"
#include "tests/support/small_config.h"

namespace attnscope::fuzz {
namespace {

void read_session(const std::string& input) {
  const Session session = session_from_json(parse_json(input, "f"), "f");
  if (session_from_json(to_json(session), "again") != session) {
    throw std::logic_error("session changed in a round trip");
  }
  const auto path = write_input_file("f.json", input);
  load_session(path);
}

std::vector<std::string> session_seeds() {
  std::vector<std::string> seeds;
  for (const std::string& lesson : files_below("assets/lessons", ".json", 40000)) {
    const Json root = Json::parse(lesson);
    Json session = root["session"];
    seeds.push_back(session.dump());
    for (const Json& step : root["steps"]) {
      if (!step.contains("session")) continue;
      Json step_session = session;
      step_session.merge_patch(step["session"]);
      seeds.push_back(step_session.dump());
      break;
    }
  }
  return seeds;
}

void read_settings(const std::string& input) {
  const auto folder = write_folder({{"settings.json", input}});
  const window::LoadedSettings loaded = window::load_settings(folder / "settings.json");
  if (!loaded.notice.empty()) throw InputError(loaded.notice);
}

std::vector<std::string> settings_seeds() {
  const auto path = write_folder({}) / "settings.json";
  window::save_settings(path, window::Settings());
  return {read_file(path), R"({"recent": ["a.json", "b"], "scale": 1.5, "tour_done": true})"};
}

void read_plan(const std::string& input) {
  TrainingPlan plan = training_plan_from_json(parse_json(input, "f"), "f");
  if (training_plan_from_json(to_json(plan), "again") != plan)
    throw std::logic_error("plan changed in a round trip");
  // Members that a preset does not set.
  plan.folder = "folder-that-is-not-there";
  // Other tasks generate their sequences, and expect no files.
  if (plan.task == "text" || plan.task == "masked" || plan.task == "image") {
    plan.text = {"text.txt"};
  }
  check(plan);
}

std::vector<std::string> plan_seeds() {
  return files_below("assets/presets", ".json", 20000);
}

TrainingPlan small_plan() {
  TrainingPlan plan;
  plan.model = testing::small_config({});
  return plan;
}

// Reads a folder with training.safetensors and loss.csv.
void read_training(const std::string& input) {
  TrainingPlan plan = small_plan();
  plan.folder = write_folder(unpack(input));
  LossLog log(plan.folder);
  try {
    log.load_steps(3);
  } catch (const InputError&) {
  }
  load_state(plan);
}

std::vector<std::string> training_seeds() {
  TrainingPlan plan = small_plan();
  plan.folder = write_folder({});
  TrainingState state;
  state.step = state.optimiser_steps = 2;
  for (const char* name : {"a", "b"}) {
    state.weights.emplace(name, Var(Tensor::full({2, 3}, 0.5F)));
    state.moments[name] = {Tensor::full({2, 3}, 0.25F), Tensor::full({2, 3}, 0.125F)};
  }
  save_state(plan, state);
  LossLog log(plan.folder);
  LossRow row;
  row.loss = 2.5;
  row.learning_rate = 1e-3;
  row.tokens_per_second = 1000;
  for (row.step = 1; row.step <= 3; ++row.step) log.add(row);
  log.add_score({2.25, 1.5});
  log.save();
  return {pack(files_of(plan.folder, 20000))};
}

void read_lesson(const std::string& input) {
  load_lesson(write_input_file("01-lesson.json", input));
}

std::vector<std::string> lesson_seeds() {
  return files_below("assets/lessons", ".json", 8000);
}

void read_pairs(const std::string& input) {
  expected_pairs_from_json(parse_json(input, "f"), "f");
  read_expected_pairs(write_input_file("f.json", input));
}

std::vector<std::string> pairs_seeds() {
  return {R"({"kinds": [{"kind": "k", "label": "K", "pairs": [
    {"text": "a b", "query": "b", "key": "a"}, {"text": "a b", "query": "b", "key": "a"},
    {"text": "a b", "query": "b", "key": "a"}, {"text": "a b", "query": "b", "key": "a"}]}],
    "recorded": [{"model": "m", "kind": "k", "layer": 1, "head": 2, "right": 5, "weight": 0.6,
    "others": 0.1, "found": 9}]})"};
}

void read_study(const std::string& input) {
  for (const bool quick : {false, true}) {
    check_points(study_from_json(parse_json(input, "f"), "f", quick), "f");
  }
  load_study(write_input_file("f.json", input));
}

std::vector<std::string> study_seeds() {
  return files_below("assets/experiments", ".json", 8000);
}

// Rows that an earlier run stored.
void read_study_rows(const std::string& input) {
  rows_from_json(parse_json(input, "f"), "f");
}

std::vector<std::string> study_rows_seeds() {
  return {R"([{"numbers": {"loss": 1.5, "step": 3}, "words": {"kind": "a"}}])", "[]"};
}

}  // namespace

Target study_target() {
  return {"study", Format::Json, read_study, study_seeds};
}
Target study_rows_target() {
  return {"study_rows", Format::Json, read_study_rows, study_rows_seeds};
}
Target session_target() {
  return {"session", Format::Json, read_session, session_seeds};
}
Target settings_target() {
  return {"settings", Format::Json, read_settings, settings_seeds};
}
Target plan_target() {
  return {"plan", Format::Json, read_plan, plan_seeds};
}
Target training_state_target() {
  return {"training_state", Format::Folder, read_training, training_seeds};
}
Target lesson_target() {
  return {"lesson", Format::Json, read_lesson, lesson_seeds};
}
Target expected_pairs_target() {
  return {"expected_pairs", Format::Json, read_pairs, pairs_seeds};
}

}  // namespace attnscope::fuzz
