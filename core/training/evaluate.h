// Evaluation of predictions on texts, source-target pairs, images and trajectories.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/checkpoint/checkpoint.h"
#include "core/model/retrieval.h"
#include "core/training/text_pairs.h"

namespace attnscope {

struct EvaluationOptions {
  Index length = 0;                      // tokens per window; 0: the context
  std::optional<double> exit{};          // early-exit confidence threshold (core/model/exits.h)
  const Retrieval* retrieval = nullptr;  // mixes with the predictions of texts; null: none
  Backend* backend = nullptr;            // null: the CPU
};

// Result of an evaluation; results can be added. Means are NaN if nothing was counted.
struct Evaluation {
  Tally tally;                  // predictions of tokens, pixels or actions
  double bytes = 0;             // bytes of the predicted text; 0 without text
  double first_token_nats = 0;  // cost of first tokens, which have no context
  TallyByLength by_length{};    // source-target pairs
  double layers = 0;            // sum of exit layers
  Index tokens_with_exits = 0;  // tokens whose exit layers are summed

  void add(const Evaluation& other);
  double loss() const;           // nats per token
  double bits_per_byte() const;  // bits per byte, including first tokens
  double mean_layers() const;
};

// Log-probabilities of the retrieval mixture, else logits.  [.., vocabulary]
const Tensor& predictions(const Output& output);

// Throws InputError for models that see the tokens that they predict: models without a causal mask,
// except masked language models.
void check_predicts(const Checkpoint& checkpoint);

// Evaluates a text in windows that overlap by half, so that every token after the first window is
// predicted from at least half a window. The first token costs log2(vocabulary) bits unless the
// tokenizer puts a special token before it. Models with segments process the text as one sequence,
// segment by segment, in constant memory. For masked language models, tokens are masked at random
// as in training, with a fixed seed, and bytes are not counted. Throws InputError for an empty text
// or a model without a tokenizer. All evaluations call check_predicts().
Evaluation evaluate_text(const Checkpoint& checkpoint, std::string_view text,
                         const EvaluationOptions& settings);

// Evaluates a file of the model's input type: a text; lines of source, tab and target; an image; a
// trajectory (core/input/input_file.h). InputErrors name the file.
Evaluation evaluate_file(const Checkpoint& checkpoint, const std::filesystem::path& file,
                         const EvaluationOptions& settings);

// Bits per byte of `text`, from evaluate_text().
double bits_per_byte(const Checkpoint& checkpoint, std::string_view text, Index length = 0);

}  // namespace attnscope
