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
  DiagramSource(const Trace& of, const Session& by);

  const Trace& trace;
  const Session& session;
  const ModelConfig& config;
  const Architecture& architecture;
  const TracePart part;                  // selected
  Index parameters = 0;                  // total trained parameters
  std::map<std::string, Index> sizes{};  // by weight name

  // Total size of weights whose names start with `prefix`.
  Index count(const std::string& prefix) const;
};

// Consecutive identical layers.
struct LayerRun {
  Index first = 0, last = 0;
  std::vector<HeadGroup> groups;
};
// Layers as they ran, else as `stored` in the config.
std::vector<LayerRun> layer_runs(const DiagramSource& source, Stack stack,
                                 const std::vector<std::vector<HeadGroup>>& stored);

DiagramRow row_of(DiagramPart part);

// Input parts.
DiagramPart token_part(const DiagramSource& source, const std::string& what,
                       const std::vector<TraceToken>& tokens);
DiagramPart embedding_part(const DiagramSource& source, const std::string& title,
                           const std::string& help);
// Positional part of the input; none if positions enter elsewhere.
std::optional<DiagramPart> position_part(const DiagramSource& source,
                                         const std::vector<LayerRun>& runs,
                                         const std::string& prefix);
void add_input(const DiagramSource& source, const std::vector<LayerRun>& runs,
               DiagramColumn& column);

// Layer parts; the selected layers are drawn in full.
DiagramPart norm_part(const DiagramSource& source, const std::string& weights);
void add_layers(const DiagramSource& source, const std::vector<LayerRun>& runs, Stack stack,
                DiagramColumn& column);

// Output parts.
void add_output(const DiagramSource& source, DiagramColumn& column);

}  // namespace attnscope
