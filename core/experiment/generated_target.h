// Target that a model generates from a source, and the run over it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/beam.h"
#include "core/trace/trace.h"

namespace attnscope {

struct GeneratedTarget {
  // Run over the start token and the target without its last id. Row n of the logits and of the
  // attention predicts ids[n], also if ids[n] was given.
  std::shared_ptr<const Trace> trace;
  std::vector<std::int32_t> ids;  // target without the start, with the end if reached
  Index given = 0;                // number of leading ids that were given
  bool ended = false;             // the model produced an end; otherwise the context is full
  BeamSearch search;              // step n produced id given + n
  std::string problem;            // reason for failure, other members are then empty

  Index rows() const { return static_cast<Index>(ids.size()); }
};

// Labels of the target's ids. Byte tokens show their character and the number of the byte: "ü₁",
// "ü₂". The end is "■".
std::vector<std::string> generated_labels(const GeneratedTarget& target);
// The whole target as text, without the end.
std::string generated_text(const GeneratedTarget& target);
// Text of a beam at one step, including the given ids.
std::string beam_text(const GeneratedTarget& target, const Beam& beam);

}  // namespace attnscope
