// What a model goes on from, and how far it can.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/experiment/experiment.h"

namespace attnscope {

struct Continuation {
  std::vector<std::int32_t> source;  // what an encoder reads; empty: there is none
  std::vector<std::int32_t> prompt;  // what is there already, at least one id
  Index kept = 0;                    // ids at its beginning that are never forgotten
  Index room = -1;                   // how many ids may come; -1: any number
  Index levels = 0;                  // they are below this; 0: any of the vocabulary
  Index columns = 0;                 // they stand in rows of so many; 0: in one
  std::vector<std::int32_t> ends;    // ids with which the model ends
};

// rows: of a picture that the experiment names, how many it begins with; -1: half of them.
// InputError where a model does not go on: one that fills in what is hidden, or acts.
Continuation continuation(const Checkpoint& checkpoint, const ModelConfig& config,
                          const Experiment& experiment, Index rows);

// What helps to predict, with its store in memory; nothing where the experiment names none.
std::optional<Retrieval> chosen_retrieval(const Experiment& experiment, const ModelConfig& config);

// Logits of the action to come, [actions], of a trajectory whose last action is open. InputError
// where it is not: the state behind it is nobody's to know here.
Tensor action_logits(const Checkpoint& checkpoint, const Model& model, const Experiment& experiment,
                     Backend& backend, const Stop& stop);

}  // namespace attnscope
