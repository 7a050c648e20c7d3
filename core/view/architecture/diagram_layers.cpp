// Layers of a model's diagram: blocks with their residual connections, and repetitions.
#include <algorithm>

#include "core/figure/plain_text.h"
#include "core/model/exits.h"
#include "core/model/halting.h"
#include "core/model/residual_connection.h"
#include "core/model/separable_convolution.h"
#include "core/model/weights.h"
#include "core/view/architecture/diagram_source.h"
#include "core/view/architecture/diagram_words.h"
#include "core/view/parts/describe.h"

namespace attnscope {
namespace {

using Kind = DiagramPart::Kind;

// Head groups of a layer in the run, or `stored` if the run recorded none.
std::vector<HeadGroup> groups_of(const DiagramSource& source, Stack stack, Index layer,
                                 const std::vector<HeadGroup>& stored) {
  std::vector<HeadGroup> groups;
  const bool has_encoder = source.architecture.has_encoder;
  const AttentionTap* previous = nullptr;
  for (const AttentionTap& tap : source.trace.attention) {
    if (tap.address.layer != layer || tap.address.kind != AttentionKind::Self) continue;
    if (has_encoder && tap.address.stack != stack) continue;
    if (previous && (tap.address.step != previous->address.step ||
                     tap.address.segment != previous->address.segment)) {
      break;  // further steps and segments repeat the groups
    }
    groups.push_back({static_cast<Index>(tap.heads.size()), tap.variant, tap.encoding});
    previous = &tap;
  }
  return groups.empty() ? stored : groups;
}

// True if a norm follows each residual sum.
bool has_norm_after(const ModelConfig& config) {
  return !config.pre_norm && config.norm != Norm::None;
}

class Layers {
 public:
  explicit Layers(const DiagramSource& source) : source_(source) {}

  void add_to(DiagramColumn& column, const std::vector<LayerRun>& runs, Stack stack) const {
    constexpr std::size_t kMinMerged = 4;  // minimum number of unselected runs in one box
    const bool is_selected = !source_.architecture.has_encoder || source_.part.stack == stack;
    const Index layer = is_selected ? source_.session.view.layer : 0;
    std::size_t current = 0;
    for (std::size_t n = 0; n < runs.size(); ++n) {
      if (layer >= runs[n].first && layer <= runs[n].last) current = n;
    }
    const auto add_others = [&](std::size_t first, std::size_t last) {
      if (first > last || last >= runs.size()) return;
      if (last - first + 1 < kMinMerged) {
        for (std::size_t n = first; n <= last; ++n) {
          column.rows.push_back(row_of(other_layers(runs[n], stack, source_.trace.parts.stack)));
        }
        return;
      }
      DiagramPart p = other_layers(runs[first], stack, source_.trace.parts.stack);
      p.title = capitalised(describe_layers(runs[first].first, runs[last].last));
      const bool have_same_blocks = source_.config.model_options.experts.dense_layers.empty();
      p.notes = {have_same_blocks ? "different attention per layer" : "with and without experts"};
      column.rows.push_back(row_of(p));
    };
    if (current > 0) add_others(0, current - 1);
    add_run(column, runs[current], stack, is_selected ? layer : -1);
    add_others(current + 1, runs.size() - 1);
  }

 private:
  const AttentionTap* tap_of(Stack stack, AttentionKind kind, Index layer, Index first_head) const {
    for (const AttentionTap& tap : source_.trace.attention) {
      const Address& address = tap.address;
      if (address.layer != layer || address.kind != kind || tap.heads.empty()) continue;
      if (source_.architecture.has_encoder && address.stack != stack) continue;
      if (source_.trace.parts.step && address.step != source_.part.step) continue;
      if (source_.trace.parts.segment && address.segment != source_.part.segment) continue;
      if (first_head >= 0 && tap.heads.front() != first_head) continue;
      return &tap;
    }
    return nullptr;
  }

  // Click action that selects this attention.
  std::function<void(Session&)> selector(Stack stack, AttentionKind kind, Index layer,
                                         Index head) const {
    const bool stacks = source_.trace.parts.stack, kinds = source_.trace.parts.kind;
    return [=](Session& session) {
      if (stacks) session.view.part.stack = stack;
      if (kinds && stack == Stack::Decoder) session.view.part.kind = kind;
      session.view.layer = layer;
      if (head >= 0) session.view.head = head;
    };
  }

  DiagramPart join_part(const std::string& weights) const {
    const ResidualConnection& join = residual_connection(source_.config.residual_connection.id);
    DiagramPart p{join.has_gate ? Kind::Gate : Kind::Sum, join.has_gate ? join.label : "+"};
    p.help = first_sentence(join.summary);
    p.view = join.has_gate ? "gates" : "depth";
    p.parameters = join.has_gate ? source_.count(weights) : 0;
    return p;
  }

  // A learned scalar of a residual connection: "× α".
  DiagramPart scalar_part(const std::string& symbol, const std::string& weights) const {
    const ResidualConnection& join = residual_connection(source_.config.residual_connection.id);
    DiagramPart p{Kind::Norm, symbol};
    p.help = join.label + ": " + first_sentence(join.summary);
    p.parameters = source_.count(weights);
    return p;
  }

  DiagramPart attention(const HeadGroup& group, Index first_head, bool is_only_group, Stack stack,
                        Index layer) const {
    const Variant& v = variant(group.variant.id);
    const Encoding& position = encoding(group.encoding.id);
    DiagramPart p{Kind::Attention,
                  is_only_group ? "Self-attention" : describe_heads(first_head, group.heads)};
    if (is_only_group) {
      p.notes.push_back(count_text(group.heads, "head") + " of " +
                        std::to_string(source_.config.head_size) + shared_keys());
    }
    const bool omits_note = position.embed != nullptr || position.id == default_encoding().id;
    p.notes.push_back(v.label);
    if (!omits_note) p.notes.push_back(position.label);
    if (is_only_group) add_score_notes(p);
    p.help = first_sentence(v.summary);
    p.view = group.variant.id == "adaptive_span" ? "span" : "map";
    p.select = selector(stack, AttentionKind::Self, layer, first_head);
    p.tap = tap_of(stack, AttentionKind::Self, layer, first_head);
    return p;
  }

  void add_score_notes(DiagramPart& p) const {
    const ModelOptions& model = source_.config.model_options;
    if (model.query_key_norm != QueryKeyNorm::None) p.notes.emplace_back("QK norm");
    if (model.score_cap > 0) p.notes.push_back("scores capped at ±" + brief(model.score_cap, 2));
    if (model.attention_sinks) p.notes.emplace_back("attention sinks");
  }

  std::string shared_keys() const {
    if (source_.config.kv_heads == source_.config.heads || source_.config.kv_heads == 0) return "";
    return ", " + count_text(source_.config.kv_heads, "KV head");
  }

  DiagramRow self_attention(const LayerRun& run, Stack stack, Index layer,
                            const std::string& prefix) const {
    constexpr std::size_t kMaxGroups = 3;
    DiagramRow r;
    Index first = 0;
    for (const HeadGroup& group : run.groups) {
      if (r.parts.size() == kMaxGroups - 1 && run.groups.size() > kMaxGroups) {
        DiagramPart others{Kind::Attention, describe_heads(first, source_.config.heads - first)};
        others.notes = {std::to_string(run.groups.size() - r.parts.size()) + " more groups"};
        others.help = "Head groups with other variants.";
        others.view = "grid";
        r.parts.push_back(others);
        break;
      }
      r.parts.push_back(attention(group, first, run.groups.size() == 1, stack, layer));
      first += group.heads;
    }
    if (!r.parts.empty()) {
      const bool is_encoder = stack == Stack::Encoder && source_.architecture.has_encoder;
      r.parts.front().parameters =
          source_.count(prefix + "attn.") +
          source_.count((is_encoder ? "encoder." : "") + layer_prefix(layer) + "groups.");
    }
    r.left = memory(run);
    return r;
  }

  // Memory of earlier segments; empty if the layer has none.
  std::optional<DiagramPart> memory(const LayerRun& run) const {
    for (const HeadGroup& group : run.groups) {
      const Variant& v = variant(group.variant.id);
      if (!v.memory.remember || source_.config.segment == 0) continue;
      DiagramPart p{Kind::Memory, "Memory"};
      p.notes = {v.label, "segments of " + grouped(source_.config.segment)};
      p.help = first_sentence(v.summary);
      p.view = "memory";
      return p;
    }
    return std::nullopt;
  }

  DiagramPart feed_forward(const std::string& prefix, Stack stack, Index layer) const {
    const std::string d = grouped(source_.config.width);
    DiagramPart p{Kind::FeedForward, "Feed-forward"};
    const Experts& experts = source_.config.model_options.experts;
    const bool is_mixture = has_experts(source_.config, prefix);
    const Index hidden =
        experts.count > 0 && !is_mixture ? experts.dense_hidden : source_.config.hidden;
    p.notes = {d + " → " + grouped(hidden) + " → " + d,
               activation_label(source_.config.activation, source_.config.gated)};
    p.help = source_.config.gated ? "For each token separately: two projections, one gating the "
                                    "other, and a projection back."
                                  : "For each token separately: projection to a larger size, "
                                    "activation, projection back.";
    p.view = "depth";
    if (has_separable_convolution(source_.config)) {
      p.title = "Separable convolution";
      p.notes.push_back("over " + std::to_string(kInKernel) + " and " + std::to_string(kOutKernel) +
                        " tokens");
      p.help =
          "Each channel is convolved over neighbouring tokens before each projection, so that it "
          "mixes tokens, too.";
    }
    if (is_mixture) {
      p.notes.push_back(count_text(experts.count, "expert") + ", " +
                        std::to_string(experts.chosen) + " per token");
      p.help =
          "A router selects experts for each token; their outputs are multiplied by gates and "
          "summed.";
      if (experts.shared_hidden > 0) {
        p.notes.push_back("shared expert " + d + " → " + grouped(experts.shared_hidden) + " → " +
                          d);
        p.help += " A shared expert with a gate of its own processes all tokens.";
      }
      p.view = "gates";
    }
    p.select = selector(stack, AttentionKind::Self, layer, -1);
    p.parameters = source_.count(prefix + "ffn.");
    return p;
  }

  DiagramPart cross_attention(const std::string& prefix, Index layer) const {
    DiagramPart p{Kind::Attention, "Cross-attention"};
    p.notes = {count_text(source_.config.heads, "head") + " of " +
                   std::to_string(source_.config.head_size) + shared_keys(),
               "keys from the encoder"};
    p.help = "Queries of the target attend to keys and values of the encoder output.";
    p.view = "alignment";
    p.select = selector(Stack::Decoder, AttentionKind::Cross, layer, -1);
    p.tap = tap_of(Stack::Decoder, AttentionKind::Cross, layer, -1);
    p.parameters = source_.count(prefix + "cross.");
    return p;
  }

  // Adds a block with its residual connection and its norms.
  void add_block(DiagramColumn& column, DiagramRow block, const std::string& weights,
                 const std::string& join_weights, int stream) const {
    const int first_row = static_cast<int>(column.rows.size());
    const ResidualConnection& connection =
        residual_connection(source_.config.residual_connection.id);
    if (has_input_norm(source_.config)) column.rows.push_back(row_of(norm_part(source_, weights)));
    if (!connection.shift_symbol.empty()) {
      column.rows.push_back(row_of(scalar_part(connection.shift_symbol, join_weights + "bias_in")));
    }
    column.rows.push_back(std::move(block));
    if (source_.config.model_options.output_norm != OutputNorm::None) {
      std::string output_norm = weights;  // "layers.0.attn_norm" -> "layers.0.attn_output_norm"
      output_norm.insert(output_norm.rfind("norm"), "output_");
      column.rows.push_back(row_of(norm_part(source_, output_norm)));
    }
    if (!connection.scale_symbol.empty()) {
      const std::string& scale = connection.weights.back().name;
      column.rows.push_back(row_of(scalar_part(connection.scale_symbol, join_weights + scale)));
    }
    if (connection.has_bypass) {
      DiagramRow join = row_of(join_part(join_weights));
      join.bypass_start = stream < 0 ? first_row : -1;
      join.stream = stream;
      column.rows.push_back(join);
    }
    if (has_norm_after(source_.config)) column.rows.push_back(row_of(norm_part(source_, weights)));
  }

  // Adds parallel attention and feed-forward with a single residual addition.
  void add_parallel(DiagramColumn& column, DiagramRow attention, DiagramPart feed_forward,
                    const std::string& prefix) const {
    const int first_row = static_cast<int>(column.rows.size());
    const ModelOptions& options = source_.config.model_options;
    if (has_input_norm(source_.config)) {
      DiagramRow norms = row_of(norm_part(source_, prefix + "attn_norm"));
      if (!options.shared_norm) norms.parts.push_back(norm_part(source_, prefix + "ffn_norm"));
      column.rows.push_back(std::move(norms));
    }
    if (attention.parts.size() == 1) attention.parts[0].title = "Attention";  // narrower box
    attention.parts.push_back(std::move(feed_forward));
    column.rows.push_back(std::move(attention));
    if (options.output_norm != OutputNorm::None) {
      DiagramRow norms = row_of(norm_part(source_, prefix + "attn_output_norm"));
      norms.parts.push_back(norm_part(source_, prefix + "ffn_output_norm"));
      column.rows.push_back(std::move(norms));
    }
    DiagramRow sum = row_of(join_part(prefix + "attn_join."));
    sum.bypass_start = first_row;
    column.rows.push_back(sum);
  }

  DiagramPart other_layers(const LayerRun& run, Stack stack, bool stacks) const {
    DiagramPart p{Kind::Layers, capitalised(describe_layers(run.first, run.last))};
    std::vector<std::string> labels;
    for (const HeadGroup& group : run.groups) {
      const std::string& label = variant(group.variant.id).label;
      if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
    }
    std::string text;
    for (const std::string& label : labels) text += (text.empty() ? "" : ", ") + label;
    const Experts& experts = source_.config.model_options.experts;
    const bool has_dense_layers = !experts.dense_layers.empty();
    if (has_dense_layers)
      text += run.is_mixture ? ", " + std::to_string(experts.count) + " experts" : ", no experts";
    p.notes = {text, "otherwise identical"};
    p.help = std::string("Layers with other attention") +
             (has_dense_layers ? " or feed-forwards" : "") + "; click to draw them in full.";
    p.select = [layer = run.first, stack, stacks](Session& session) {
      session.view.layer = layer;
      if (stacks) session.view.part.stack = stack;
    };
    return p;
  }

  void add_run(DiagramColumn& column, const LayerRun& run, Stack stack, Index selected) const {
    const bool is_encoder = stack == Stack::Encoder && source_.architecture.has_encoder;
    const bool is_selected = selected >= run.first && selected <= run.last;
    const Index layer = is_selected ? selected : run.first;
    const std::string prefix = is_encoder ? "encoder." + layer_prefix(layer)
                                          : layer_prefix(weights_of_layer(source_.config, layer));
    const bool has_streams =
        residual_connection(source_.config.residual_connection.id).run_layers != nullptr;
    DiagramFrame frame;
    frame.first = column.rows.size();
    const bool is_parallel = source_.config.model_options.parallel;
    if (is_parallel) {
      add_parallel(column, self_attention(run, stack, layer, prefix),
                   feed_forward(prefix, stack, layer), prefix);
    } else {
      add_block(column, self_attention(run, stack, layer, prefix), prefix + "attn_norm",
                prefix + "attn_join.", has_streams ? 0 : -1);
    }
    if (source_.architecture.has_encoder && !is_encoder) {
      add_block(column, row_of(cross_attention(prefix, layer)), prefix + "cross_norm",
                prefix + "cross_join.", -1);
    }
    if (source_.config.hidden > 0 && !is_parallel) {
      add_block(column, row_of(feed_forward(prefix, stack, layer)), prefix + "ffn_norm",
                prefix + "ffn_join.", has_streams ? 1 : -1);
    }
    frame.last = column.rows.size() - 1;
    frame.is_selected = is_selected;
    frame.has_streams = has_streams;
    const Index count = run.last - run.first + 1;
    if (count > 1) frame.labels.push_back("× " + std::to_string(count));
    frame.labels.push_back(describe_layers(run.first, run.last));
    const Index own_layers = source_.config.own_layers;
    if (own_layers > 0 && !is_encoder) {
      frame.labels.push_back(own_layers == 1 ? "same weights"
                                             : std::to_string(own_layers) + " weight sets");
    }
    if (is_selected && count > 1) frame.labels.push_back("shown: " + std::to_string(selected));
    add_recurrence(frame, column, is_encoder);
    if (!is_encoder && source_.config.exits) column.rows[frame.last].right = exit_part();
    column.frames.push_back(frame);
  }

  // Marks the frame's layers as repeated if the model has recurrence over depth.
  void add_recurrence(DiagramFrame& frame, DiagramColumn& column, bool is_encoder) const {
    const Values& values = source_.config.architecture.values;
    if (!values.has("steps")) return;
    frame.loops = true;
    frame.loop = repetition(values);
    if (uses_halting(values))
      column.rows[frame.last].right = halting_part(source_, is_encoder ? "encoder." : "");
  }

  DiagramPart exit_part() const {
    const ExitRule& rule = exit_rule(source_.config.exits->id);
    DiagramPart p{Kind::Exit, "Early exit"};
    p.notes = {rule.label};
    const Values& values = source_.config.exits->values;
    if (values.has("classifier")) {
      p.notes.push_back(values.choice("classifier") + " predictions");
    }
    p.help = first_sentence(rule.summary);
    p.view = "depth";
    p.parameters = source_.count("exit");
    return p;
  }

  const DiagramSource& source_;
};

}  // namespace

std::vector<LayerRun> layer_runs(const DiagramSource& source, Stack stack,
                                 const std::vector<std::vector<HeadGroup>>& stored) {
  std::vector<LayerRun> runs;
  for (Index layer = 0; layer < static_cast<Index>(stored.size()); ++layer) {
    std::vector<HeadGroup> groups =
        groups_of(source, stack, layer, stored[static_cast<std::size_t>(layer)]);
    const bool is_encoder = stack == Stack::Encoder && source.architecture.has_encoder;
    const bool is_mixture =
        has_experts(source.config, (is_encoder ? "encoder." : "") + layer_prefix(layer));
    if (!runs.empty() && runs.back().groups == groups && runs.back().is_mixture == is_mixture) {
      runs.back().last = layer;
    } else {
      runs.push_back({layer, layer, std::move(groups), is_mixture});
    }
  }
  return runs;
}

DiagramPart halting_part(const DiagramSource& source, const std::string& stack) {
  DiagramPart p{Kind::Exit, "Halting"};
  p.notes = {"h = σ(x·w + b)", "until Σh ≥ 1 − ε"};
  p.help =
      "Predicts after each step the probability that a token halts; once these probabilities "
      "sum to 1, the token's state no longer changes.";
  p.view = "steps";
  p.parameters = source.count(stack + "halt.");
  return p;
}

std::string repetition(const Values& values) {
  const Index steps = values.integer("steps");
  return (uses_halting(values) ? "up to T = " : "T = ") + std::to_string(steps) +
         (steps == 1 ? " time" : " times");
}

DiagramPart norm_part(const DiagramSource& source, const std::string& weights) {
  const bool rms = source.config.norm == Norm::RmsNorm;
  DiagramPart p{Kind::Norm, rms ? "RMS norm" : "Layer norm"};
  p.help = rms ? "Scales each token's vector to length √d, then each component by a weight."
               : "Normalises each token's vector to mean 0 and deviation 1, then applies weight "
                 "and bias.";
  p.parameters = source.count(weights);
  return p;
}

void add_layers(const DiagramSource& source, const std::vector<LayerRun>& runs, Stack stack,
                DiagramColumn& column) {
  Layers(source).add_to(column, runs, stack);
}

}  // namespace attnscope
