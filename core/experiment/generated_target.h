// Target that a model generates from a source, and the run over it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/beam.h"
#include "core/trace/trace.h"

namespace attnscope {

struct GeneratedTarget {
  // Run over the start and all of the target except its last id: logits and attention in row n are
  // those that predicted id n (or would have, for given ids).
  std::shared_ptr<const Trace> trace;
  std::vector<std::int32_t> ids;  // target without the start, with the end if reached
  Index given = 0;                // number of leading ids that were given
  bool ended = false;             // the model produced an end; otherwise the context is full
  BeamSearch search;              // step n produced id given + n
  std::string problem;            // reason for failure; then all else is empty

  Index rows() const { return static_cast<Index>(ids.size()); }
};

// Label of each id of the target: for a character of several byte tokens the character with the
// number of the byte ("ü₁", "ü₂"); "■" for the end.
std::vector<std::string> generated_labels(const GeneratedTarget& written);
// The whole target as text, without the end.
std::string generated_text(const GeneratedTarget& written);
// Text of a beam of a step, including the given ids.
std::string beam_text(const GeneratedTarget& written, const Beam& beam);

}  // namespace attnscope
