#include "core/view/architecture/diagram.h"

#include "core/figure/plain_text.h"
#include "core/model/config.h"
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

  DiagramPart cell(const std::string& title, const std::string& weights) const {
    DiagramPart p{Kind::Cell, title};
    p.notes = {"GRU, state of " + grouped(source_.config.width)};
    p.help = "Reads token after token; gates control how much of the state each token replaces.";
    p.parameters = source_.count(weights);
    p.loops = true;
    return p;
  }

  void add_recurrent() {
    const std::string score = source_.config.architecture.values.choice("score");
    DiagramColumn encoder{"Encoder", {}, {}}, decoder{"Decoder", {}, {}};
    encoder.rows.push_back(row_of(token_part(source_, "Source", source_.trace.text_tokens())));
    encoder.rows.push_back(
        row_of(embedding_part(source_, "Token embedding", "Maps each source token to a vector.")));
    encoder.rows.back().parts[0].parameters = 0;
    encoder.rows.push_back(row_of(cell("Recurrent cell", "encoder.")));
    decoder.rows.push_back(row_of(token_part(source_, "Target so far", source_.trace.tokens)));
    decoder.rows.push_back(
        row_of(embedding_part(source_, "Token embedding", "Maps each target token to a vector.")));
    decoder.rows.push_back(row_of(cell("Recurrent cell", "decoder.")));
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
      diagram_.links.push_back({2, 3, true});
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
