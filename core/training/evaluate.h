// How well a model predicts what it is given: texts, lines of sources and targets, pictures,
// trajectories.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/base/stop.h"
#include "core/checkpoint/checkpoint.h"
#include "core/training/tally.h"

namespace attnscope {

// How a text is read.
struct Reading {
  Index length = 0;              // tokens of a window; 0: the context
  std::optional<double> exit{};  // the threshold at which tokens leave: core/model/exits.h
};

// What came of it; several add up. Means are NaN where nothing was counted.
struct Evaluation {
  Tally tally;                    // of what was predicted: tokens, pixels, actions
  double bytes = 0;               // of the text that was predicted; 0: there was none
  double beginnings = 0;          // nats of first tokens, which nothing foretells
  Index lines = 0, whole = 0;     // targets of a source, and those that are right in all tokens
  double layers = 0, passed = 0;  // that were made for tokens that could leave, and how many could

  void add(const Evaluation& other);
  double loss() const;           // nats per token
  double bits_per_byte() const;  // beginnings count as well
  double mean_layers() const;
};

// InputError for a model that sees what it is to predict: one without a causal mask, unless it
// fills in what is hidden from it.
void check_predicts(const Checkpoint& checkpoint);

// Windows of `length` tokens overlap by half, so that every token but the first ones is predicted
// from at least half a window; the first token counts log2(vocabulary) unless the tokenizer puts a
// special one before it. A model that reads in segments reads the text as one, segment by segment:
// memory does not grow with it. One that fills in what is hidden gets tokens of the text hidden, as
// in its training, from a seed; its text is not counted in bytes. InputError for an empty text or a
// model without a tokenizer; all evaluations refuse what check_predicts() does.
Evaluation evaluate_text(const Checkpoint& checkpoint, std::string_view text,
                         const Reading& reading, const Stop& stop);

// A file of what the model reads: a text; lines of a source, a tab and its target; a picture; a
// trajectory as core/input/input_file.h has it. InputError names the file.
Evaluation evaluate_file(const Checkpoint& checkpoint, const std::filesystem::path& file,
                         const Reading& reading, const Stop& stop);

// Bits that the model needs for each byte of `text`: evaluate_text().
double bits_per_byte(const Checkpoint& checkpoint, std::string_view text, const Stop& stop,
                     Index length = 0);

}  // namespace attnscope
