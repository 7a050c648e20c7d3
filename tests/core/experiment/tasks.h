// Models that write targets, walk and make images, as folders, and what they are asked for.
#pragma once

#include "core/experiment/runner.h"
#include "core/training/walks.h"
#include "tests/support/places.h"
#include "tests/support/small_config.h"

namespace attnscope::testing {

inline std::string model_case(const std::string& name) {
  return (source_folder() / "tests" / "model-cases" / name).string();
}

// A model of walks with fresh weights.
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

// An experiment that looks through a view, with its trace and what was found for it.
struct Looked {
  explicit Looked(const Experiment& e) : experiment(e) {
    ExperimentRun run(cpu_only());
    trace = run.run(experiment, {});
    for (const Finding& one : attnscope::findings()) {
      if (one.beside_runs && one.exists(experiment)) {
        one.beside_runs(experiment, run, {}, {}, findings);
      }
    }
  }
  Experiment experiment;
  std::shared_ptr<const Trace> trace;
  Findings findings;
};

inline Experiment writing(const std::string& model) {
  Experiment e;
  e.model = model_case(model);
  e.ids = {5, 14, 12, 2, 9};
  e.view.id = "alignment";
  return e;
}

inline Experiment walking(const std::filesystem::path& model) {
  Experiment e;
  e.model = model.string();
  e.input = (source_folder() / "assets" / "samples" / "walk.safetensors").string();
  e.view.id = "trajectory";
  return e;
}

inline Experiment completing() {
  Experiment e;
  e.model = model_case("image");
  e.ids = {2, 2, 2, 5, 0, 1, 4, 1, 1, 2, 3, 1};
  e.view.id = "image";
  return e;
}

}  // namespace attnscope::testing
