// What a model writes from a source alone: the target that it gives, letter by letter, and the run
// over it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/model/beam.h"
#include "core/trace/trace.h"

namespace attnscope {

struct WrittenTarget {
  // Over the start and all of the target but its last id: row n of its logits and attention is
  // that with which the model wrote id n (or would have, of those that were given).
  std::shared_ptr<const Trace> trace;
  std::vector<std::int32_t> ids;  // the target without the start, with the end where there is one
  Index given = 0;                // the first so many were there before
  bool ended = false;             // by the model; else the context is full
  BeamSearch search;              // step n wrote id given + n
  std::string problem;            // why there is nothing; then all else is empty

  Index rows() const { return static_cast<Index>(ids.size()); }
};

// How many beginnings are kept, where the experiment looks at a target being written (the view
// "alignment"); 0: it does not.
Index beams_wished(const Experiment& experiment);

// What each id of the target is called: of a character of several byte tokens the character, with
// the number of the byte ("ü₁", "ü₂"); "■" for the end.
std::vector<std::string> written_labels(const WrittenTarget& written);
// All of it as a text, without the end.
std::string written_text(const WrittenTarget& written);
// The same of one of the beams of a step (with what was given before it).
std::string beam_text(const WrittenTarget& written, const Beam& beam);

}  // namespace attnscope
