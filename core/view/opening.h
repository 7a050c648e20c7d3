// Initial input and view for a newly opened model.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/checkpoint/card.h"
#include "core/experiment/session.h"

namespace attnscope {

// Id of the view recommended for a model: "trajectory" for trajectory models, "depth" for models
// with exits; empty if none.
std::string recommended_view(const ModelConfig& config);
std::string recommended_view(const ModelCard& card);

// Initial view of a run: "alignment" if the model maps a source to a target and the run has no
// target, because the decoder's maps then have only the row of the start token; else "map".
std::string initial_view(const ModelConfig& config, const RunSpec& run);

// Last run and view of each kind of input, by reading_task(); restored when a model that reads the
// kind opens again.
using InputHistory = std::map<std::string, RunView, std::less<>>;

struct OpenedModel {
  RunView viewed;
  std::vector<std::string> implied;  // implied changes, in words: "the sample “24”"
  bool input_kind_changed = false;   // the previous model read another kind of input
};

// Switches a run to another model. If the models were trained on different kinds of input, the new
// model opens with its trained settings and reads the last input of its kind, else the first
// compatible sample. The new model's recommended view opens if the current view is the initial one
// (map) or recommended for the previous model. If the folder is unreadable, only the model changes.
OpenedModel with_model(const RunView& current, const std::string& model,
                       const InputHistory& history = {});

// Name of a model that reads `file` (an image, or a file for --input): `model` if it can, else the
// first bundled model that can; empty if none. `model` resizes images; a bundled model must have
// the image's size. Throws InputError if the file or `model` cannot be read.
std::string model_that_reads(const std::filesystem::path& file, const std::string& model);

// Replaces the input by a text; switches to the default model if the current one reads no text.
RunView with_text(const std::string& text, const RunView& current);

// Run and view of a newly opened model. Throws InputError if the model cannot be read.
RunView open_model(const std::string& model);

}  // namespace attnscope
