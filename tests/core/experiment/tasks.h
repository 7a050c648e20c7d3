// Model folders and sessions for tests of target generation, trajectories and image completion.
#pragma once

#include "core/experiment/run.h"
#include "core/training/walks.h"
#include "core/view/view.h"
#include "tests/support/places.h"
#include "tests/support/small_config.h"

namespace attnscope::testing {

inline std::string model_case(const std::string& name) {
  return (source_folder() / "tests" / "model-cases" / name).string();
}

// Saves a trajectory model with fresh weights.
inline void save_walker(const std::filesystem::path& folder) {
  Checkpoint checkpoint;
  ModelConfig config = small_config({.vocabulary = Grid::kActions, .context = 24, .layers = 2});
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  config.tied_output = false;
  Json json = to_json(config);
  json["architecture"] = {{"type", "trajectory"},
                          {"state_size", Grid::kStateSize},
                          {"actions", Grid::kActions},
                          {"most_steps", 8}};
  checkpoint.model = make_model(model_config_from_json(json, "config"), 7);
  save_checkpoint(folder, checkpoint, false);
}

inline Findings background_findings(const Session& session) {
  ExperimentRun run(cpu_only());
  return compute_background_findings(session, required_findings(session), run, {});
}

// A session with its trace and the background findings of its view.
struct ViewedRun {
  explicit ViewedRun(const Session& viewed_session) : session(viewed_session) {
    ExperimentRun run(cpu_only());
    trace = run.run(session.run, {});
    findings = compute_background_findings(session, required_findings(session), run, {});
  }
  Session session;
  std::shared_ptr<const Trace> trace;
  Findings findings;
};

inline Session alignment_session(const std::string& model) {
  Session session;
  session.run.model = model_case(model);
  session.run.ids = {5, 14, 12, 2, 9};
  session.view.id = "alignment";
  return session;
}

inline Session trajectory_session(const std::filesystem::path& model) {
  Session session;
  session.run.model = model.string();
  session.run.input = (source_folder() / "assets" / "samples" / "walk.safetensors").string();
  session.view.id = "trajectory";
  return session;
}

inline Session completion_session() {
  Session session;
  session.run.model = model_case("image");
  session.run.ids = {2, 2, 2, 5, 0, 1, 4, 1, 1, 2, 3, 1};
  session.view.id = "image";
  return session;
}

}  // namespace attnscope::testing
