// Bundled sample inputs, assets/samples/samples.json, each for models trained on one task:
//   [{"id": "nested", "task": "brackets", "title": "Deeply nested", "shows": "the deeper, ...",
//     "text": "((()))"}, ...]
// Instead of "text" an entry may name a file next to the list: "file" with a text, or "input" as in
// RunSpec::input.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/card.h"
#include "core/experiment/run_spec.h"

namespace attnscope {

struct Sample {
  std::string id, title, shows;
  std::string task;      // training task of the models that read it
  std::string text;      // empty if `input` is set
  std::string input;     // path of a file: RunSpec::input
  bool is_long = false;  // true if longer than a segment and most attention spans
  Index segment = 1;     // segment to show; segment 0 has no memory yet
};

// In file order; empty if the list is missing. Throws InputError if the list is invalid.
const std::vector<Sample>& samples();

// Task whose samples a model reads: its training task; "text" for models trained to repeat text.
std::string reading_task(const ModelCard& card);
// Samples for a model, the most suitable first.
std::vector<const Sample*> samples_for(const ModelCard& card);
// Sample that is the run's input; null if the input is no sample.
const Sample* current_sample(const RunSpec& spec);
// True if the card names another sample than `current`, or if it names none, the model illustrates
// long texts (memory, long spans) and `current` is short.
bool prefers_other_sample(const ModelCard& card, const Sample& current);
// True if a text written for another task is meaningful to models of this task.
bool fits_task(std::string_view task, const std::string& text);

// Replaces the run's text, ids, target and file by the sample.
void use_sample(RunSpec& spec, const Sample& sample);
// Replaces the run's text, ids, target, files and tensors by those of `other`.
void copy_input(RunSpec& spec, const RunSpec& other);

}  // namespace attnscope
