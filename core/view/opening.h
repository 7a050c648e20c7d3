// Initial input and view for a newly opened model.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/checkpoint/card.h"
#include "core/experiment/session.h"

namespace attnscope {

// Recommended view for models of this kind: "trajectory" for models that act, "depth" for models
// with exits; empty: no preference.
std::string recommended_view(const ModelConfig& config);
std::string recommended_view(const ModelCard& card);

// Last run and view for each kind of model input (reading_task()), kept while the user works with
// models that require another.
using InputHistory = std::map<std::string, RunView, std::less<>>;

struct OpenedModel {
  RunView viewed;
  std::vector<std::string> implied;  // implied changes, in words: "the sample “24”"
  bool input_kind_changed = false;   // reads another kind of input than the model before
};

// Switches a run to another model. If the models were trained on different kinds of input,
// the new one opens with its trained settings and reads the last input of its kind, else the first
// compatible sample. Its recommended view opens unless the user chose a view: from the map (the
// initial view) and from the previous model's recommended view. An unreadable folder changes only
// the model.
OpenedModel with_model(const RunView& now, const std::string& model,
                       const InputHistory& before = {});

// A model that reads this file (an image or one for --input): `model` itself, else the first
// bundled one; empty: none. Images are resized for `model`; bundled models require their exact
// size. Throws InputError if an image cannot be read.
std::string model_that_reads(const std::filesystem::path& file, const std::string& model);

// Replaces the input by a text, switching to a model of texts if necessary.
RunView reading_text(const std::string& text, const RunView& now);

// A newly opened model. Throws InputError if it cannot be read.
RunView open_model(const std::string& model);

}  // namespace attnscope
