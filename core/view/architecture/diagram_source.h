// What a model's figure is made from, and its pieces, from below to above.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/architecture.h"
#include "core/view/architecture/diagram.h"

namespace attnscope {

struct DiagramSource {
  DiagramSource(const Trace& of, const Experiment& by);

  const Trace& trace;
  const Experiment& experiment;
  const ModelConfig& config;
  const Architecture& architecture;
  const TracePart part;                  // that is looked at
  Index parameters = 0;                  // of all that is trained
  std::map<std::string, Index> sizes{};  // of each weight

  // Of all weights whose names begin so.
  Index count(const std::string& prefix) const;
};

// A run of layers of which all is alike.
struct LayerRun {
  Index first = 0, last = 0;
  std::vector<HeadGroup> groups;
};
// As they ran, else as `stored` in the config.
std::vector<LayerRun> layer_runs(const DiagramSource& source, Stack stack,
                                 const std::vector<std::vector<HeadGroup>>& stored);

DiagramRow row_of(DiagramPart part);

// What goes in.
DiagramPart token_part(const DiagramSource& source, const std::string& what,
                       const std::vector<TraceToken>& tokens);
DiagramPart embedding_part(const DiagramSource& source, const std::string& title,
                           const std::string& help);
// What an encoding of the input adds; nothing where positions act elsewhere.
std::optional<DiagramPart> position_part(const DiagramSource& source,
                                         const std::vector<LayerRun>& runs,
                                         const std::string& prefix);
void add_input(const DiagramSource& source, const std::vector<LayerRun>& runs,
               DiagramColumn& column);

// Layers, of which those that are looked at are drawn in full.
DiagramPart norm_part(const DiagramSource& source, const std::string& weights);
void add_layers(const DiagramSource& source, const std::vector<LayerRun>& runs, Stack stack,
                DiagramColumn& column);

// What comes out.
void add_output(const DiagramSource& source, DiagramColumn& column);

}  // namespace attnscope
