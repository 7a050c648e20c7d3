// A person's choice of architecture, join, exits and segments in place of what a checkpoint says.
#pragma once

#include <optional>

#include "core/base/json.h"
#include "core/model/model.h"

namespace attnscope {

class JsonObject;  // core/base/strict_json.h

// What is empty stays as the model has it.
struct Structure {
  std::optional<Choice> architecture, join;
  std::optional<Choice> exits;   // no_exits(): none
  std::optional<Index> segment;  // tokens; 0: a text is read at once
  bool operator==(const Structure&) const = default;
};

Choice no_exits();  // {"type": "none"}

// The sizes of a model with this structure; Architecture::adapt may change some. Unchecked.
ModelConfig structured(const ModelConfig& config, const Structure& structure);

// The model with this structure. Weights of the same name and shape stay; those that it needs
// beyond them get their initial values and are named in `untrained`. InputError where the model
// cannot have it.
Model with_structure(const Model& model, const Structure& structure);

// Members "architecture", "join", "exits" and "segment" of an object, where they are there.
// InputErrors begin with the member's name: "join.type: ...".
Structure structure_from_json(JsonObject& object);
void add_to_json(const Structure& structure, Json& object);

}  // namespace attnscope
