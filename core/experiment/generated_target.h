// Target that a model generates from a source, and the run over it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/beam.h"
#include "core/trace/trace.h"

namespace attnscope {

struct GeneratedTarget {
  // Run that reads the start token and the target without its last id. Row n of the logits and of
  // the attention belongs to the prediction of ids[n].
  std::shared_ptr<const Trace> trace;
  std::vector<std::int32_t> ids;  // target without the start id; includes a generated end id
  Index given = 0;                // number of leading ids that were given
  bool ended = false;   // true if the model generated an end id; otherwise the context is full
  BeamSearch search;    // step n generated ids[given + n]
  std::string problem;  // reason for failure (other members are empty); empty on success

  Index rows() const { return static_cast<Index>(ids.size()); }
};

// Labels of the target's ids. A byte token shows its character and its index among the character's
// bytes: "ü₁", "ü₂". The end is "■".
std::vector<std::string> generated_labels(const GeneratedTarget& target);
// Text of the whole target, without the end id.
std::string generated_text(const GeneratedTarget& target);
// Text of a beam at one step, including the given ids.
std::string beam_text(const GeneratedTarget& target, const Beam& beam);

}  // namespace attnscope
