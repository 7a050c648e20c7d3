// Prompt and limits of a generation.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/experiment/run_spec.h"

namespace attnscope {

struct Continuation {
  std::vector<std::int32_t> source;  // encoder input; empty without an encoder
  std::vector<std::int32_t> prompt;  // at least one id
  Index kept = 0;                    // number of leading ids that stay in the context
  Index room = -1;                   // maximum number of new ids; -1: unlimited
  Index levels = 0;                  // new ids are below this; 0: the whole vocabulary
  Index columns = 0;                 // ids per row of an image; 0: a single row
  std::vector<std::int32_t> ends;    // end-of-sequence ids
};

// rows: number of leading rows of the run's image in the prompt; -1: half of the rows. Throws
// InputError for masked models, and for inputs that are invalid, missing or complete. Trajectory
// models generate no tokens: use action_logits().
Continuation continuation(const Checkpoint& checkpoint, const ModelConfig& config,
                          const RunSpec& spec, Index rows);

// Retrieval with its datastore in memory; nullopt if the run has none.
std::optional<Retrieval> make_retrieval(const RunSpec& spec, const ModelConfig& config);

// Logits [actions] of the last action of a trajectory, or its components [a] if it is continuous.
// It must be unknown (-1, or no row). Throws InputError if the last action is known, because the
// state after it is unknown.
Tensor action_logits(const Checkpoint& checkpoint, const Model& model, const RunSpec& spec,
                     Backend& backend);

}  // namespace attnscope
