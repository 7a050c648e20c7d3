// Inputs of a model's diagram, and functions that add its parts, from bottom to top.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/architecture.h"
#include "core/view/architecture/diagram.h"

namespace attnscope {

struct DiagramSource {
  DiagramSource(const Trace& run_trace, const Session& run_session);

  const Trace& trace;
  const Session& session;
  const ModelConfig& config;
  const Architecture& architecture;
  const TracePart part;                  // the selected part
  Index parameters = 0;                  // number of trained parameters
  std::map<std::string, Index> sizes{};  // number of parameters by weight name

  // Number of parameters of the weights whose names start with `prefix`.
  Index count(const std::string& prefix) const;
};

// Consecutive layers with the same head groups and kind of feed-forward.
struct LayerRun {
  Index first = 0, last = 0;
  std::vector<HeadGroup> groups;
  bool is_mixture = false;  // the feed-forward is a mixture of experts
};
// Splits a stack's layers into runs. `stored`: the config's head groups, for unrecorded layers.
std::vector<LayerRun> layer_runs(const DiagramSource& source, Stack stack,
                                 const std::vector<std::vector<HeadGroup>>& stored);

DiagramRow row_of(DiagramPart part);

DiagramPart token_part(const DiagramSource& source, const std::string& title,
                       const std::vector<TraceToken>& tokens);
DiagramPart embedding_part(const DiagramSource& source, const std::string& title,
                           const std::string& help);
// Positional encoding of the input; empty if the model has none.
std::optional<DiagramPart> position_part(const DiagramSource& source,
                                         const std::vector<LayerRun>& runs,
                                         const std::string& prefix);
void add_input(const DiagramSource& source, const std::vector<LayerRun>& runs,
               DiagramColumn& column);

DiagramPart norm_part(const DiagramSource& source, const std::string& weights);
// Adds the layers of a stack; shows the selected layer in full.
void add_layers(const DiagramSource& source, const std::vector<LayerRun>& runs, Stack stack,
                DiagramColumn& column);

// Halting unit below `stack` ("" or "encoder.").
DiagramPart halting_part(const DiagramSource& source, const std::string& stack);
// Number of repetitions in a recurrence over depth: "up to T = 8 times".
std::string repetition(const Values& architecture_values);

void add_output(const DiagramSource& source, DiagramColumn& column);

}  // namespace attnscope
