// User's choice of architecture, residual connection, exits and segments for a loaded model.
#pragma once

#include <optional>

#include "core/base/json.h"
#include "core/model/model.h"

namespace attnscope {

class JsonObject;  // core/base/strict_json.h

// Empty members keep the setting of the model.
struct Structure {
  std::optional<Choice> architecture, residual_connection;
  std::optional<Choice> exits;   // no_exits(): model without exits
  std::optional<Index> segment;  // tokens; 0: no segments
  bool operator==(const Structure&) const = default;
};

Choice no_exits();  // {"type": "none"}

// Configuration with this structure; Architecture::adapt may change sizes,
// ResidualConnection::adapt norms. Not validated.
ModelConfig apply_structure(const ModelConfig& config, const Structure& structure);

// Returns the model with this structure. Weights with unchanged name and shape are kept; new
// weights get initial values and are listed in `untrained`. Throws InputError if the model cannot
// have the structure.
Model with_structure(const Model& model, const Structure& structure);

// Reads the optional members "architecture", "join", "exits" and "segment" of an object.
// InputErrors begin with the member's name: "join.type: ...".
Structure structure_from_json(JsonObject& object);
void add_to_json(const Structure& structure, Json& object);

}  // namespace attnscope
