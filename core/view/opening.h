// What a model opens on: something that it reads, and the view that was made for models like it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/checkpoint/card.h"
#include "core/experiment/experiment.h"

namespace attnscope {

// The view in which models of this config have most to say, by their kind: "trajectory" for one
// that acts, "depth" for one with exits; empty: any will do.
std::string own_view(const ModelConfig& config);
std::string own_view(const ModelCard& card);

// Experiments by the task of the model that read them: reading_task(). What a person had before
// another model needed something else.
using ReadBefore = std::map<std::string, Experiment, std::less<>>;

struct OpenedModel {
  Experiment experiment;
  std::vector<std::string> along;  // what else was set, in words: "the sample “24”"
  bool reads_other = false;        // than the model before
};

// The experiment with another model. Where that was trained on something else, it is looked at as
// it was trained, and reads what such a model read before, else the first sample that suits it,
// unless the text does. Its own view opens where nobody chose another: from the map, with which
// all begins, and from the own view of the model before. A folder that cannot be read changes
// nothing else.
OpenedModel with_model(const Experiment& now, const std::string& model,
                       const ReadBefore& before = {});

// Of models that read such a file, a picture or one for --input: this one, else the first bundled
// one; a picture is for this one stretched, and of the very size for bundled ones. Empty: none.
// InputError where a picture cannot be read.
std::string reader_of(const std::filesystem::path& file, const std::string& model);

// A text in place of what was read, by a model that reads texts: another where this one does not.
Experiment reading_text(const std::string& text, const Experiment& now);

// A model from nothing, as it opens. InputError where it cannot be read.
Experiment opened_model(const std::string& model);

}  // namespace attnscope
