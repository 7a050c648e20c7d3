// Target that a model generates from a source, and the run over it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/beam.h"
#include "core/trace/trace.h"

namespace attnscope {

struct GeneratedTarget {
  // Run over the start token and the target without its last id: row n of the logits and of the
  // attention predicts ids[n], given or generated.
  std::shared_ptr<const Trace> trace;
  std::vector<std::int32_t> ids;  // target without the start id, with the end id if generated
  Index given = 0;                // number of leading ids that were given
  bool ended = false;   // true if the model generated an end id; otherwise the context is full
  BeamSearch search;    // step n generated ids[given + n]
  std::string problem;  // reason for failure, with all other members empty; else empty

  Index rows() const { return static_cast<Index>(ids.size()); }
};

// Labels of the target's ids. Byte tokens show their character and the number of the byte: "ü₁",
// "ü₂". The end is "■".
std::vector<std::string> generated_labels(const GeneratedTarget& target);
// Text of the whole target, without the end id.
std::string generated_text(const GeneratedTarget& target);
// Text of a beam at one step, including the given ids.
std::string beam_text(const GeneratedTarget& target, const Beam& beam);

}  // namespace attnscope
