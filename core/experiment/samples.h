// Things to read that come with the program: assets/samples/samples.json, each for models that were
// trained on one task, with what it shows.
//   [{"id": "nested", "task": "brackets", "title": "Deeply nested", "shows": "the deeper, ...",
//     "text": "((()))"}, ...]
// in place of "text" the name of a file beside it: "file" with a text, or "input" with what
// Experiment::input names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/card.h"
#include "core/experiment/experiment.h"

namespace attnscope {

struct Sample {
  std::string id, title, shows;
  std::string task;      // of the models that read it
  std::string text;      // what they read ...
  std::string input;     // ... or the file with it, whole
  bool is_long = false;  // longer than a segment, and than short spans
  Index segment = 1;     // of models that read in segments: the first remembers nothing yet
};

// In the order of lists; empty where the folder is not there. InputError where the list is broken.
const std::vector<Sample>& samples();

// The task whose samples a model reads: as it was trained, where what is hidden from or repeated to
// a model is text as well.
std::string reading_task(const ModelCard& card);
// What such a model reads, what shows it best first.
std::vector<const Sample*> samples_for(const ModelCard& card);
// The sample that is read; null: something else.
const Sample* sample_read(const Experiment& experiment);
// Whether such a model shows little of itself on a sample that was chosen for another, as a model
// that remembers does on a text of one segment.
bool wants_another(const ModelCard& card, const Sample& read);
// Whether a text that was written for something else says something to models of the task.
bool suits(std::string_view task, const std::string& text);

// The experiment's text, ids, target and file give way to the sample.
void read_sample(Experiment& experiment, const Sample& sample);
// Takes those of another experiment.
void read_as(Experiment& experiment, const Experiment& other);

}  // namespace attnscope
