// Input rows of a model's diagram.
#include "core/figure/plain_text.h"
#include "core/model/input_kind.h"
#include "core/view/architecture/diagram_source.h"
#include "core/view/architecture/diagram_words.h"

namespace attnscope {
namespace {

void add_trajectory(const DiagramSource& source, DiagramColumn& column) {
  const Values& values = source.config.architecture.values;
  const auto text_part = [](const char* title) {
    return DiagramPart{DiagramPart::Kind::Words, title, {}, "The trajectory so far, step by step."};
  };
  column.rows.push_back(
      {.parts = {text_part("Return to go"), text_part("State"), text_part("Action")}});
  const auto embed = [&](const char* title, Index size, const std::string& help,
                         const char* weight) {
    DiagramPart p{DiagramPart::Kind::Embedding, title};
    p.notes = {grouped(size) + " → " + grouped(source.config.width)};
    p.help = help;
    p.view = "trajectory";
    p.parameters = source.count(weight);
    return p;
  };
  column.rows.push_back(
      {.parts = {
           embed("Linear", 1, "Maps the remaining desired return to a vector.", "embed.return."),
           embed("Linear", values.integer("state_size"), "Maps the numbers of a state to a vector.",
                 "embed.state."),
           values.flag("continuous")
               ? embed("Linear", values.integer("actions"),
                       "Maps the numbers of an action to a vector.", "embed.action")
               : embed("Embedding", values.integer("actions"), "Maps each action to a vector.",
                       "embed.action")}});
  DiagramPart time{DiagramPart::Kind::Position, "+ time;  R₁ s₁ a₁ R₂ s₂ a₂ …"};
  time.help = "Adds the vector of the time step to all three tokens of the step.";
  time.view = "trajectory";
  time.parameters = source.count("embed.time");
  column.rows.push_back(row_of(time));
}

}  // namespace

DiagramPart token_part(const DiagramSource& source, const std::string& title,
                       const std::vector<TraceToken>& tokens) {
  DiagramPart p{DiagramPart::Kind::Words, title};
  std::string text;
  for (const TraceToken& token : tokens) text += (text.empty() ? "" : " ") + token.label;
  if (!text.empty() && !source.trace.pixels) p.notes = {text};
  p.help = "The model's input.";
  return p;
}

DiagramPart embedding_part(const DiagramSource& source, const std::string& title,
                           const std::string& help) {
  DiagramPart p{DiagramPart::Kind::Embedding, title};
  p.notes = {grouped(source.config.vocabulary) + " → " + grouped(source.config.width)};
  p.help = help;
  p.view = "next";
  p.parameters = source.count("embed.weight") + source.count("embed.cluster");
  return p;
}

std::optional<DiagramPart> position_part(const DiagramSource& source,
                                         const std::vector<LayerRun>& runs,
                                         const std::string& prefix) {
  std::vector<std::vector<HeadGroup>> groups;
  for (const LayerRun& run : runs) groups.push_back(run.groups);
  if (groups.empty() || groups[0].empty()) return std::nullopt;
  const Choice& first = groups[0][0].encoding;
  const Encoding& position_encoding = encoding(first.id);
  if (!position_encoding.embed) return std::nullopt;
  DiagramPart p{DiagramPart::Kind::Position, "+ " + position_encoding.label};
  p.help = first_sentence(position_encoding.summary);
  p.view = "position";
  for (const WeightInfo& weight : position_encoding.weights)
    p.parameters += source.count(prefix + weight.name);
  return p;
}

void add_input(const DiagramSource& source, const std::vector<LayerRun>& runs,
               DiagramColumn& column) {
  if (source.architecture.reads == Reads::Trajectories) return add_trajectory(source, column);
  const bool pixels = !input_kind(source.config.input.id).is_text;
  const bool has_patches = input_kind(source.config.input.id).uses_patches;
  const bool has_encoder = source.architecture.has_encoder;
  if (pixels) {
    const Values& image = source.config.input.values;
    DiagramPart p{DiagramPart::Kind::Words, has_patches ? "Image patches" : "Pixels so far"};
    p.notes = {std::to_string(image.integer("width")) + " × " +
               std::to_string(image.integer("height")) +
               (has_patches ? " pixels in patches of " + std::to_string(image.integer("patch")) +
                                  " × " + std::to_string(image.integer("patch"))
                            : " of " + std::to_string(image.integer("levels")) + " levels")};
    p.help = first_sentence(input_kind(source.config.input.id).summary);
    p.view = "image";
    column.rows.push_back(row_of(p));
  } else {
    column.rows.push_back(
        row_of(token_part(source, has_encoder ? "Target so far" : "Tokens", source.trace.tokens)));
  }
  if (has_patches) {
    DiagramPart p{DiagramPart::Kind::Embedding, "Linear, per patch"};
    p.notes = {grouped(source.config.width) + " numbers each"};
    p.help = "Maps the colours of a patch to a vector; special tokens have their own vectors.";
    p.view = "image";
    p.parameters = source.count("embed.patch") + source.count("embed.weight");
    column.rows.push_back(row_of(p));
  } else {
    column.rows.push_back(
        row_of(embedding_part(source, pixels ? "Level embedding" : "Token embedding",
                              "Maps each token to a vector of " + grouped(source.config.width) +
                                  " numbers, a row of a table.")));
  }
  if (pixels && !has_patches) {
    DiagramPart p{DiagramPart::Kind::Position, "+ row and column"};
    p.help = "Adds a vector for the row and one for the column of the next pixel.";
    p.view = "image";
    p.parameters = source.count("embed.row") + source.count("embed.column");
    column.rows.push_back(row_of(p));
  }
  if (const auto positions = position_part(source, runs, "embed."))
    column.rows.push_back(row_of(*positions));
  const EmbeddingConfig& embedding = source.config.embedding;
  if (embedding.types > 1) {
    DiagramPart p{DiagramPart::Kind::Position, "+ segment embedding"};
    p.help = "Adds one vector to the first sentence, another to the second.";
    p.parameters = source.count("embed.type");
    column.rows.push_back(row_of(p));
  }
  if (embedding.norm) column.rows.push_back(row_of(norm_part(source, "embed.norm")));
  if (embedding.width > 0 && embedding.adaptive.cutoffs.empty()) {
    DiagramPart p{DiagramPart::Kind::Embedding, "Linear"};
    p.notes = {grouped(embedding.width) + " → " + grouped(source.config.width)};
    p.help = "The token table is narrower than the model.";
    p.parameters = source.count("embed.project.");
    column.rows.push_back(row_of(p));
  }
}

}  // namespace attnscope
