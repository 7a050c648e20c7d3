// What a viewer must know to trust a picture: Trace::notes.
#pragma once

#include <string>
#include <vector>

#include "core/experiment/trace.h"
#include "core/model/model.h"

namespace attnscope {

// "untrained: pos.bias" for weights that the checkpoint lacks; "trained with ..., not ..." where
// a person chose something else than the checkpoint.
std::vector<std::string> notes_on_model(const Model& stored, const Model& used);

// Masks without effect at this length, rows in which nothing is allowed.
std::vector<std::string> notes_on_patterns(const Trace& trace);

}  // namespace attnscope
