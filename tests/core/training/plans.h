// Small training plans for tests.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/file.h"
#include "core/figure/png.h"
#include "core/model/input_kind.h"
#include "core/training/task.h"
#include "tests/support/small_config.h"

namespace attnscope::testing {

inline TrainingPlan tiny_plan(const std::filesystem::path& folder) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "the cat sat on the mat. ";
  write_file(folder / "text.txt", text);
  TrainingPlan plan;
  plan.model = small_config({.layers = 2, .heads = 4, .hidden = 64});
  plan.text = {folder / "text.txt"};
  plan.folder = folder / "model";
  plan.held_out_share = 0.1;
  plan.steps = 120;
  plan.batch = 8;
  plan.learning_rate = 1e-2;
  plan.warm_up = 10;
  plan.evaluate_every = 0;
  plan.half = false;
  return plan;
}

// Writes `count` striped images of 4 x 4 pixels as PNG files to `folder`.
inline void write_stripes(const std::filesystem::path& folder, int count) {
  std::filesystem::create_directories(folder);
  for (int n = 0; n < count; ++n) {
    Image image{4, 4, std::vector<std::uint8_t>(4 * 4 * 4)};
    for (std::size_t i = 0; i < image.rgba.size(); i += 4) {
      const auto grey = static_cast<std::uint8_t>((i / 4 + static_cast<std::size_t>(n)) % 2 * 255);
      image.rgba[i] = image.rgba[i + 1] = image.rgba[i + 2] = grey;
      image.rgba[i + 3] = 255;
    }
    write_file(folder / (std::to_string(n) + ".png"), encode_png(image, {}));
  }
}

// Returns a small plan of a task and writes its input files to `folder`.
inline TrainingPlan plan_of(const std::string& task, const std::filesystem::path& folder) {
  TrainingPlan plan = tiny_plan(folder);
  plan.task = task;
  plan.steps = 6;
  plan.score_batches = 2;
  ModelConfig& model = plan.model;
  const auto default_choice = [](const Info& info) {
    return Choice{info.id, default_values(info.parameters)};
  };
  if (attnscope::task(task).files.empty()) {
    plan.text.clear();
    plan.held_out_share = 0;
  }
  if (task == "masked") {
    model.vocabulary = 257;
    model.causal = false;
    model.architecture.values.set("masked", 0.2);
    model.architecture.values.set("mask", Index{256});
  } else if (attnscope::task(task).reads == Reads::SourceAndTarget) {
    model.vocabulary = 257;
    model.architecture = default_choice(architecture("encoder_decoder"));
    model.architecture.values.set("start", Index{256});
    model.architecture.values.set("encoder_layers", Index{1});
  } else if (task == "trajectory") {
    model.vocabulary = 4;
    model.tied_output = false;
    model.architecture = default_choice(architecture("trajectory"));
    model.architecture.values.set("most_steps", Index{8});
  } else if (task == "steering") {
    model.vocabulary = 2;
    model.tied_output = false;
    model.architecture = default_choice(architecture("trajectory"));
    model.architecture.values.set("most_steps", Index{8});
    model.architecture.values.set("actions", Index{2});
    model.architecture.values.set("continuous", true);
  } else if (task == "image") {
    write_stripes(folder / "pictures", 10);
    plan.text = {folder / "pictures"};
    model.vocabulary = 3;
    model.input = default_choice(input_kind("image"));
    for (const char* key : {"width", "height"}) model.input.values.set(key, Index{4});
    model.input.values.set("levels", Index{2});
  }
  return plan;
}

// A plan of the recurrent model for the numbers task.
inline TrainingPlan recurrent_plan(const std::filesystem::path& folder) {
  TrainingPlan plan = plan_of("numbers", folder);
  ModelConfig& model = plan.model;
  const Architecture& recurrent = architecture("rnn_attention");
  model.architecture = {recurrent.id, default_values(recurrent.parameters)};
  model.architecture.values.set("start", Index{256});
  model.layers = model.heads = model.kv_heads = 1;
  model.hidden = 0;
  model.groups = uniform_groups(model, default_variant(), default_encoding());
  return plan;
}

}  // namespace attnscope::testing
