#include "core/view/architecture/diagram.h"

#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/model/halting.h"
#include "core/view/architecture/diagram_source.h"

namespace attnscope {
namespace {

using Kind = DiagramPart::Kind;

class DiagramBuilder {
 public:
  DiagramBuilder(const Trace& trace, const Session& session) : source_(trace, session) {}

  Diagram build() {
    diagram_.parameters = source_.parameters;
    if (!source_.architecture.has_self_attention) {
      add_recurrent();
      return std::move(diagram_);
    }
    if (source_.architecture.has_encoder) add_encoder();
    add_decoder();
    return std::move(diagram_);
  }

 private:
  void add_encoder() {
    DiagramColumn column{"Encoder", {}, {}};
    const std::vector<LayerRun> runs =
        layer_runs(source_, Stack::Encoder, encoder_groups(source_.config));
    column.rows.push_back(row_of(token_part(source_, "Source", source_.trace.text_tokens())));
    column.rows.push_back(row_of(embedding_part(
        source_, "Token embedding", "Maps each source token to a vector; the table is shared.")));
    column.rows.back().parts[0].parameters = 0;  // counted with the target's embedding
    if (const auto positions = position_part(source_, runs, "encoder.embed.")) {
      column.rows.push_back(row_of(*positions));
    }
    if (source_.config.embedding.norm) {
      column.rows.push_back(row_of(norm_part(source_, "encoder.embed.norm")));
    }
    add_layers(source_, runs, Stack::Encoder, column);
    if (has_final_norm(source_.config)) {
      column.rows.push_back(row_of(norm_part(source_, "encoder.final_norm")));
    }
    diagram_.columns.push_back(std::move(column));
  }

  void add_decoder() {
    DiagramColumn column{source_.architecture.has_encoder ? "Decoder" : "", {}, {}};
    const std::vector<LayerRun> runs = layer_runs(source_, Stack::Decoder, source_.config.groups);
    add_input(source_, runs, column);
    add_layers(source_, runs, Stack::Decoder, column);
    add_output(source_, column);
    if (source_.architecture.has_encoder) {
      for (std::size_t n = 0; n < column.rows.size(); ++n) {
        if (column.rows[n].parts[0].title != "Cross-attention") continue;
        diagram_.links.push_back({diagram_.columns[0].rows.size() - 1, n});
      }
    }
    diagram_.columns.push_back(std::move(column));
  }

  DiagramPart cell(const std::string& title, const std::string& weights, Index size) const {
    DiagramPart p{Kind::Cell, title};
    p.notes = {"GRU, state of " + grouped(size)};
    p.help = "Reads token after token; gates control how much of the state each token replaces.";
    p.parameters = source_.count(weights);
    p.loops = true;
    return p;
  }

  // Cells of the encoder: one, or one for each direction.
  DiagramRow encoder_cells() const {
    const Index width = source_.config.width;
    if (!source_.config.architecture.values.flag("bidirectional"))
      return row_of(cell("Recurrent cell", "encoder.", width));
    DiagramRow cells = row_of(cell("Forward cell", "encoder.rnn.", width / 2));
    cells.parts.push_back(cell("Backward cell", "encoder.backward.", width / 2));
    cells.parts.back().help = "Reads the source from the last token to the first.";
    const char* directions[] = {"first to last token", "last to first token"};
    for (std::size_t n = 0; n < 2; ++n) {
      cells.parts[n].notes.emplace_back(directions[n]);
      cells.parts[n].loops = false;  // no space between the cells
    }
    return cells;
  }

  // A recurrent network that reads one sequence.
  void add_language_model() {
    DiagramColumn column;
    add_input(source_, {}, column);
    DiagramPart p = cell("Recurrent cell", "rnn.", source_.config.width);
    p.notes.emplace_back("carried to the next token");
    p.loops = false;  // the repetition of the frame is drawn instead
    const Values& values = source_.config.architecture.values;
    DiagramRow row = row_of(p);
    if (uses_halting(values)) row.right = halting_part(source_, "");
    DiagramFrame frame{.first = column.rows.size(), .last = column.rows.size()};
    frame.loops = true;
    frame.loop = repetition(values);
    column.rows.push_back(row);
    column.frames.push_back(frame);
    add_output(source_, column);
    std::erase_if(column.rows, [](const DiagramRow& r) { return r.parts[0].kind == Kind::Norm; });
    diagram_.columns = {std::move(column)};
  }

  void add_recurrent() {
    if (source_.architecture.reads == Reads::Tokens) return add_language_model();
    const std::string score = source_.config.architecture.values.choice("score");
    DiagramColumn encoder{"Encoder", {}, {}}, decoder{"Decoder", {}, {}};
    encoder.rows.push_back(row_of(token_part(source_, "Source", source_.trace.text_tokens())));
    encoder.rows.push_back(
        row_of(embedding_part(source_, "Token embedding", "Maps each source token to a vector.")));
    encoder.rows.back().parts[0].parameters = 0;
    encoder.rows.push_back(encoder_cells());
    if (encoder.rows.back().parts.size() > 1) {
      DiagramPart p{Kind::FeedForward, "Concatenate"};
      p.notes = {"states of " + grouped(source_.config.width)};
      p.help = "Concatenates the states of both directions for each source token.";
      encoder.rows.push_back(row_of(p));
    }
    const std::size_t states = encoder.rows.size() - 1;
    decoder.rows.push_back(row_of(token_part(source_, "Target so far", source_.trace.tokens)));
    decoder.rows.push_back(
        row_of(embedding_part(source_, "Token embedding", "Maps each target token to a vector.")));
    decoder.rows.push_back(row_of(cell("Recurrent cell", "decoder.", source_.config.width)));
    diagram_.links.push_back({2, 2, false});
    if (score != "none") {
      DiagramPart p{Kind::Attention, "Attention"};
      p.notes = {score == "additive" ? "additive score" : "dot-product score",
                 "keys: all encoder states"};
      p.help =
          "Compares the decoder state with every encoder state and computes their "
          "weighted mean.";
      p.view = "alignment";
      p.parameters = source_.count("attend.");
      p.tap = source_.trace.attention.empty() ? nullptr : &source_.trace.attention.front();
      decoder.rows.push_back(row_of(p));
      diagram_.links.push_back({states, 3, true});
      DiagramPart combine{Kind::FeedForward, "Combine"};
      combine.notes = {"tanh([c ; s] W + b)"};
      combine.help = "Combines context and state for predicting the next token.";
      combine.parameters = source_.count("combine.");
      DiagramRow combined = row_of(combine);
      combined.bypass_start = static_cast<int>(decoder.rows.size()) - 1;  // bypasses the context
      decoder.rows.push_back(combined);
    }
    DiagramColumn output;
    add_output(source_, output);
    for (DiagramRow& r : output.rows) {
      if (r.parts[0].kind != Kind::Norm) decoder.rows.push_back(std::move(r));
    }
    diagram_.columns = {std::move(encoder), std::move(decoder)};
  }

  const DiagramSource source_;
  Diagram diagram_;
};

}  // namespace

Diagram model_diagram(const Trace& trace, const Session& session) {
  return DiagramBuilder(trace, session).build();
}

}  // namespace attnscope
