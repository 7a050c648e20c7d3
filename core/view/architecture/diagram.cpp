#include "core/view/architecture/diagram.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/input_kind.h"
#include "core/model/join.h"
#include "core/model/weights.h"
#include "core/view/architecture/diagram_words.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"

namespace attnscope {
namespace {

using Kind = DiagramPart::Kind;

// What is the same for all layers of a run of equal ones.
struct LayerRun {
  Index first = 0, last = 0;
  std::vector<HeadGroup> groups;
};

class DiagramMaker {
 public:
  DiagramMaker(const Trace& trace, const Experiment& experiment)
      : trace_(trace),
        experiment_(experiment),
        config_(*trace.config),
        architecture_(architecture(config_.architecture.id)),
        part_(trace.part(experiment.view.part)) {
    for (const WeightSpec& spec : weight_specs(config_)) {
      if (spec.constant || !spec.initial) continue;  // not trained, or not there
      Index size = 1;
      for (const Index extent : spec.shape) size *= extent;
      sizes_[spec.name] = size;
      diagram_.parameters += size;
    }
  }

  Diagram make() {
    if (!architecture_.has_self_attention) {
      make_recurrent();
      return std::move(diagram_);
    }
    if (architecture_.has_encoder) make_encoder();
    make_decoder();
    return std::move(diagram_);
  }

 private:
  // Of all weights whose names begin so.
  Index count(const std::string& prefix) const {
    Index sum = 0;
    for (auto it = sizes_.lower_bound(prefix); it != sizes_.end(); ++it) {
      if (!it->first.starts_with(prefix)) break;
      sum += it->second;
    }
    return sum;
  }

  // --- What goes in -----------------------------------------------------------------------------

  static DiagramRow row(DiagramPart part) { return {.parts = {std::move(part)}}; }

  DiagramPart tokens(const std::string& what, const std::vector<TraceToken>& tokens) const {
    DiagramPart p{Kind::Words, what};
    std::string text;
    for (const TraceToken& token : tokens) text += (text.empty() ? "" : " ") + token.label;
    if (!text.empty() && !trace_.pixels) p.notes = {text};
    p.help = "What the model reads.";
    return p;
  }

  DiagramPart embedding(const std::string& title, const std::string& help) const {
    DiagramPart p{Kind::Embedding, title};
    p.notes = {grouped(config_.vocabulary) + " → " + std::to_string(config_.width)};
    p.help = help;
    p.view = "next";
    p.parameters = count("embed.weight");
    return p;
  }

  // What an encoding of the input adds; nothing where positions act elsewhere.
  std::optional<DiagramPart> position(const std::vector<LayerRun>& runs,
                                      const std::string& prefix) const {
    std::vector<std::vector<HeadGroup>> groups;
    for (const LayerRun& run : runs) groups.push_back(run.groups);
    if (groups.empty() || groups[0].empty()) return std::nullopt;
    const Choice& first = groups[0][0].encoding;
    const Encoding& placed = encoding(first.id);
    if (!placed.embed) return std::nullopt;
    DiagramPart p{Kind::Position, "+ " + placed.label};
    p.help = first_sentence(placed.summary);
    p.view = "position";
    for (const WeightInfo& weight : placed.weights) p.parameters += count(prefix + weight.name);
    return p;
  }

  void add_input(DiagramColumn& column, const std::vector<LayerRun>& runs) const {
    if (architecture_.reads == Reads::Trajectories) return add_trajectory(column);
    const bool pixels = config_.input.id != "text";
    const bool target = architecture_.has_encoder;
    if (pixels) {
      const Values& image = config_.input.values;
      DiagramPart p{Kind::Words, "Pixels so far"};
      p.notes = {std::to_string(image.integer("width")) + " × " +
                 std::to_string(image.integer("height")) + " of " +
                 std::to_string(image.integer("levels")) + " levels"};
      p.help = first_sentence(input_kind(config_.input.id).summary);
      p.view = "image";
      column.rows.push_back(row(p));
    } else {
      column.rows.push_back(row(tokens(target ? "Target so far" : "Tokens", trace_.tokens)));
    }
    column.rows.push_back(
        row(embedding(pixels ? "Level embedding" : "Token embedding",
                      "Each token becomes a vector of " + std::to_string(config_.width) +
                          " numbers, its row of a table.")));
    if (pixels) {
      DiagramPart p{Kind::Position, "+ row and column"};
      p.help = "Adds a vector for the row and one for the column of the pixel that comes next.";
      p.view = "image";
      p.parameters = count("embed.row") + count("embed.column");
      column.rows.push_back(row(p));
    }
    if (const auto placed = position(runs, "embed.")) column.rows.push_back(row(*placed));
  }

  void add_trajectory(DiagramColumn& column) const {
    const Values& values = config_.architecture.values;
    const auto words = [](const char* title) {
      return DiagramPart{Kind::Words, title, {}, "What was done so far, step by step."};
    };
    column.rows.push_back({.parts = {words("Return to go"), words("State"), words("Action")}});
    const auto embed = [&](const char* title, Index size, const std::string& help,
                           const char* weight) {
      DiagramPart p{Kind::Embedding, title};
      p.notes = {std::to_string(size) + " → " + std::to_string(config_.width)};
      p.help = help;
      p.view = "trajectory";
      p.parameters = count(weight);
      return p;
    };
    column.rows.push_back(
        {.parts = {embed("Linear", 1, "The return that is still asked for, as a vector.",
                         "embed.return."),
                   embed("Linear", values.integer("state_size"),
                         "The numbers of a state, as a vector.", "embed.state."),
                   embed("Embedding", values.integer("actions"), "Each action has a vector.",
                         "embed.action")}});
    DiagramPart time{Kind::Position, "+ time;  R₁ s₁ a₁ R₂ s₂ a₂ …"};
    time.help = "All three of a step get the vector of that step, and stand one after the other.";
    time.view = "trajectory";
    time.parameters = count("embed.time");
    column.rows.push_back(row(time));
  }

  // --- Layers -----------------------------------------------------------------------------------

  // The head groups of a layer as they ran.
  std::vector<HeadGroup> groups_of(Stack stack, Index layer,
                                   const std::vector<HeadGroup>& otherwise) const {
    std::vector<HeadGroup> groups;
    const bool both = architecture_.has_encoder;
    const AttentionTap* before = nullptr;
    for (const AttentionTap& tap : trace_.attention) {
      if (tap.address.layer != layer || tap.address.kind != AttentionKind::Self) continue;
      if (both && tap.address.stack != stack) continue;
      if (before && (tap.address.step != before->address.step ||
                     tap.address.segment != before->address.segment)) {
        break;  // the same again
      }
      groups.push_back({static_cast<Index>(tap.heads.size()), tap.variant, tap.encoding});
      before = &tap;
    }
    return groups.empty() ? otherwise : groups;
  }

  std::vector<LayerRun> runs_of(Stack stack,
                                const std::vector<std::vector<HeadGroup>>& stored) const {
    std::vector<LayerRun> runs;
    for (Index layer = 0; layer < static_cast<Index>(stored.size()); ++layer) {
      std::vector<HeadGroup> groups =
          groups_of(stack, layer, stored[static_cast<std::size_t>(layer)]);
      if (!runs.empty() && runs.back().groups == groups) {
        runs.back().last = layer;
      } else {
        runs.push_back({layer, layer, std::move(groups)});
      }
    }
    return runs;
  }

  const AttentionTap* tap_of(Stack stack, AttentionKind kind, Index layer, Index first_head) const {
    for (const AttentionTap& tap : trace_.attention) {
      const Address& at = tap.address;
      if (at.layer != layer || at.kind != kind || tap.heads.empty()) continue;
      if (architecture_.has_encoder && at.stack != stack) continue;
      if (trace_.parts.step && at.step != part_.step) continue;
      if (trace_.parts.segment && at.segment != part_.segment) continue;
      if (first_head >= 0 && tap.heads.front() != first_head) continue;
      return &tap;
    }
    return nullptr;
  }

  // What a click on attention looks at.
  std::function<void(Experiment&)> aim_at(Stack stack, AttentionKind kind, Index layer,
                                          Index head) const {
    const bool stacks = trace_.parts.stack, kinds = trace_.parts.kind;
    return [=](Experiment& e) {
      if (stacks) e.view.part.stack = stack;
      if (kinds && stack == Stack::Decoder) e.view.part.kind = kind;
      e.view.layer = layer;
      if (head >= 0) e.view.head = head;
    };
  }

  DiagramPart norm(const std::string& weights) const {
    const bool rms = config_.norm == Norm::RmsNorm;
    DiagramPart p{Kind::Norm, rms ? "RMS norm" : "Layer norm"};
    p.help = rms ? "Scales each token's vector to length √d, then each number by a weight."
                 : "Takes mean 0 and deviation 1 of each token's vector, then a weight and a bias.";
    p.parameters = count(weights);
    return p;
  }

  DiagramPart joint(const std::string& weights) const {
    const Join& j = join(config_.join.id);
    const bool gates = !j.weights.empty();
    DiagramPart p{gates ? Kind::Gate : Kind::Sum, gates ? j.label : "+"};
    p.help = first_sentence(j.summary);
    p.view = gates ? "gates" : "depth";
    p.parameters = gates ? count(weights) : 0;
    return p;
  }

  DiagramPart attention(const HeadGroup& group, Index first_head, bool alone, Stack stack,
                        Index layer) const {
    const Variant& v = variant(group.variant.id);
    const Encoding& e = encoding(group.encoding.id);
    DiagramPart p{Kind::Attention, alone ? "Self-attention" : heads_words(first_head, group.heads)};
    if (alone) {
      p.notes.push_back(std::to_string(group.heads) + " heads of " +
                        std::to_string(config_.head_size) + shared_keys());
    }
    const bool placed = e.embed != nullptr || e.id == default_encoding().id;
    p.notes.push_back(v.label);
    if (!placed) p.notes.push_back(e.label);
    p.help = first_sentence(v.summary);
    p.view = group.variant.id == "adaptive_span" ? "span" : "map";
    p.aim = aim_at(stack, AttentionKind::Self, layer, first_head);
    p.tap = tap_of(stack, AttentionKind::Self, layer, first_head);
    return p;
  }

  std::string shared_keys() const {
    if (config_.kv_heads == config_.heads || config_.kv_heads == 0) return "";
    return ", " + std::to_string(config_.kv_heads) + " of keys";
  }

  DiagramRow self_attention(const LayerRun& run, Stack stack, Index layer,
                            const std::string& prefix) const {
    constexpr std::size_t kMostGroups = 3;
    DiagramRow r;
    Index first = 0;
    for (const HeadGroup& group : run.groups) {
      if (r.parts.size() == kMostGroups - 1 && run.groups.size() > kMostGroups) {
        DiagramPart rest{Kind::Attention, heads_words(first, config_.heads - first)};
        rest.notes = {std::to_string(run.groups.size() - r.parts.size()) + " groups more"};
        rest.help = "Head groups with variants of their own.";
        rest.view = "grid";
        r.parts.push_back(rest);
        break;
      }
      r.parts.push_back(attention(group, first, run.groups.size() == 1, stack, layer));
      first += group.heads;
    }
    if (!r.parts.empty()) {
      r.parts.front().parameters = count(prefix + "attn.") + count(prefix + "groups.");
    }
    r.left = memory(run);
    return r;
  }

  // What the layer remembers of earlier segments, or keeps beside the text.
  std::optional<DiagramPart> memory(const LayerRun& run) const {
    for (const HeadGroup& group : run.groups) {
      const Variant& v = variant(group.variant.id);
      if (!v.remember || config_.segment == 0) continue;
      DiagramPart p{Kind::Memory, "Memory"};
      p.notes = {v.label, "segments of " + grouped(config_.segment)};
      p.help = first_sentence(v.summary);
      p.view = "memory";
      return p;
    }
    return std::nullopt;
  }

  DiagramPart feed_forward(const std::string& prefix, Stack stack, Index layer) const {
    const std::string d = std::to_string(config_.width);
    DiagramPart p{Kind::FeedForward, "Feed-forward"};
    p.notes = {d + " → " + std::to_string(config_.hidden) + " → " + d,
               activation_words(config_.activation, config_.gated)};
    p.help = config_.gated
                 ? "Each token by itself: two projections, one of which gates the other, and back."
                 : "Each token by itself: widened, bent by the activation, and narrowed again.";
    p.view = "depth";
    p.aim = aim_at(stack, AttentionKind::Self, layer, -1);
    p.parameters = count(prefix + "ffn.");
    return p;
  }

  DiagramPart cross_attention(const std::string& prefix, Index layer) const {
    DiagramPart p{Kind::Attention, "Cross-attention"};
    p.notes = {std::to_string(config_.heads) + " heads of " + std::to_string(config_.head_size) +
                   shared_keys(),
               "keys from the encoder"};
    p.help =
        "Queries of the target look at keys and values of what the encoder made of the source.";
    p.view = "alignment";
    p.aim = aim_at(Stack::Decoder, AttentionKind::Cross, layer, -1);
    p.tap = tap_of(Stack::Decoder, AttentionKind::Cross, layer, -1);
    p.parameters = count(prefix + "cross.");
    return p;
  }

  // A block with its join; before it or behind it the norm.
  void add_block(DiagramColumn& column, DiagramRow block, const std::string& weights,
                 const std::string& join_weights, int stream) const {
    const int enters = static_cast<int>(column.rows.size());
    if (config_.pre_norm) column.rows.push_back(row(norm(weights)));
    column.rows.push_back(std::move(block));
    DiagramRow joins = row(joint(join_weights));
    joins.skips = stream < 0 ? enters : -1;
    joins.stream = stream;
    column.rows.push_back(joins);
    if (!config_.pre_norm) column.rows.push_back(row(norm(weights)));
  }

  static DiagramPart other_layers(const LayerRun& run, Stack stack, bool stacks) {
    DiagramPart p{Kind::Layers, capitalised(layers_words(run.first, run.last))};
    std::vector<std::string> labels;
    for (const HeadGroup& group : run.groups) {
      const std::string& label = variant(group.variant.id).label;
      if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
    }
    std::string all;
    for (const std::string& label : labels) all += (all.empty() ? "" : ", ") + label;
    p.notes = {all, "otherwise alike"};
    p.help = "Layers whose heads attend otherwise; a click draws them in full.";
    p.aim = [layer = run.first, stack, stacks](Experiment& e) {
      e.view.layer = layer;
      if (stacks) e.view.part.stack = stack;
    };
    return p;
  }

  void add_layers(DiagramColumn& column, const std::vector<LayerRun>& runs, Stack stack) const {
    constexpr std::size_t kMostRuns = 4;  // those farther from the chosen one are put together
    const bool here = !architecture_.has_encoder || part_.stack == stack;
    const Index shown = here ? experiment_.view.layer : 0;
    std::size_t chosen = 0;
    for (std::size_t n = 0; n < runs.size(); ++n) {
      if (shown >= runs[n].first && shown <= runs[n].last) chosen = n;
    }
    const auto others = [&](std::size_t first, std::size_t last) {
      if (first > last || last >= runs.size()) return;
      if (last - first + 1 < kMostRuns) {
        for (std::size_t n = first; n <= last; ++n) {
          column.rows.push_back(row(other_layers(runs[n], stack, trace_.parts.stack)));
        }
        return;
      }
      DiagramPart p = other_layers(runs[first], stack, trace_.parts.stack);
      p.title = capitalised(layers_words(runs[first].first, runs[last].last));
      p.notes = {"each with attention of its own"};
      column.rows.push_back(row(p));
    };
    if (chosen > 0) others(0, chosen - 1);
    add_run(column, runs[chosen], stack, here ? shown : -1);
    others(chosen + 1, runs.size() - 1);
  }

  void add_run(DiagramColumn& column, const LayerRun& run, Stack stack, Index shown) const {
    const bool encoder = stack == Stack::Encoder && architecture_.has_encoder;
    const bool inside = shown >= run.first && shown <= run.last;
    const Index layer = inside ? shown : run.first;
    const std::string prefix = (encoder ? "encoder." : "") + layer_prefix(layer);
    const bool streams = join(config_.join.id).run_layers != nullptr;
    DiagramFrame frame;
    frame.first = column.rows.size();
    add_block(column, self_attention(run, stack, layer, prefix), prefix + "attn_norm",
              prefix + "attn_join.", streams ? 0 : -1);
    if (architecture_.has_encoder && !encoder) {
      add_block(column, row(cross_attention(prefix, layer)), prefix + "cross_norm",
                prefix + "cross_join.", -1);
    }
    if (config_.hidden > 0) {
      add_block(column, row(feed_forward(prefix, stack, layer)), prefix + "ffn_norm",
                prefix + "ffn_join.", streams ? 1 : -1);
    }
    frame.last = column.rows.size() - 1;
    frame.chosen = inside;
    frame.streams = streams;
    const Index times = run.last - run.first + 1;
    if (times > 1) frame.labels.push_back("× " + std::to_string(times));
    frame.labels.push_back(layers_words(run.first, run.last));
    if (inside && times > 1) frame.labels.push_back("shown: " + std::to_string(shown));
    if (!encoder) add_recurrence(frame, column);
    if (!encoder && config_.exits) column.rows[frame.last].right = exit_part();
    column.frames.push_back(frame);
  }

  // Over depth: the same layers again.
  void add_recurrence(DiagramFrame& frame, DiagramColumn& column) const {
    const Values& values = config_.architecture.values;
    if (config_.architecture.id != "universal") return;
    const bool halts = values.choice("halting") == "act";
    frame.loops = true;
    frame.loop = (halts ? "up to T = " : "T = ") + std::to_string(values.integer("steps")) +
                 (values.integer("steps") == 1 ? " time" : " times");
    if (!halts) return;
    DiagramPart p{Kind::Exit, "Halting"};
    p.notes = {"h = σ(x·w + b)", "until Σh ≥ 1 − ε"};
    p.help =
        "Says after each step how likely a token stops; one whose chances add up to 1 stays "
        "as it is.";
    p.view = "steps";
    p.parameters = count("halt.");
    column.rows[frame.last].right = p;
  }

  DiagramPart exit_part() const {
    const Exits& rule = exit_rule(config_.exits->id);
    DiagramPart p{Kind::Exit, "Early exit"};
    p.notes = {rule.label};
    const Values& values = config_.exits->values;
    if (values.has("classifier")) {
      p.notes.push_back(values.choice("classifier") + " predictions");
    }
    p.help = first_sentence(rule.summary);
    p.view = "depth";
    p.parameters = count("exit");
    return p;
  }

  // --- What comes out ---------------------------------------------------------------------------

  void add_output(DiagramColumn& column) const {
    if (config_.pre_norm) column.rows.push_back(row(norm("final_norm")));
    const bool acts = architecture_.reads == Reads::Trajectories;
    DiagramPart p{Kind::Output, acts ? "Actions" : "Linear"};
    p.notes = {std::to_string(config_.width) + " → " + grouped(config_.vocabulary) +
               (config_.tied_output ? ", tied to the embedding" : "")};
    p.help = acts ? "From the row of each state, how much speaks for each action."
                  : "How much speaks for each token of the vocabulary: the logits.";
    p.view = acts ? "trajectory" : "next";
    p.parameters = config_.tied_output ? 0 : count("output.");
    column.rows.push_back(row(p));
    DiagramPart end{Kind::Words, acts                         ? "Action to take"
                                 : fills_in_places(trace_)    ? "What fills each place"
                                 : config_.input.id != "text" ? "Next pixel"
                                                              : "Next token"};
    end.help = "Softmax makes probabilities of the logits.";
    if (!acts && config_.input.id == "text") end.notes = prediction();
    end.view = config_.input.id != "text" ? "image" : p.view;
    column.rows.push_back(row(end));
    if (experiment_.retrieval) column.rows.back().left = retrieval_part();
  }

  // What comes most likely behind the token that is looked at.
  std::vector<std::string> prediction() const {
    const auto tokens = static_cast<Index>(trace_.tokens.size());
    if (!trace_.logits.defined() || tokens == 0 || trace_.logits.dim(0) != tokens) return {};
    const Index at = shown_position(experiment_.view, trace_);
    const Index size = trace_.logits.dim(1);
    const float* row = trace_.logits.data() + at * size;
    const auto best = static_cast<Index>(std::max_element(row, row + size) - row);
    double sum = 0;
    for (Index n = 0; n < size; ++n) sum += std::exp(static_cast<double>(row[n] - row[best]));
    const std::string& before = trace_.tokens[static_cast<std::size_t>(at)].label;
    const std::string where = fills_in_places(trace_) ? "at “" : "after “";
    return {where + before + "”: " + token_label(trace_, static_cast<std::int32_t>(best)) + "  " +
            fixed(100 / sum, 0) + " %"};
  }

  DiagramPart retrieval_part() const {
    const Mixer& m = mixer(experiment_.retrieval->mixer.id);
    DiagramPart p{Kind::Memory, "Retrieval"};
    p.notes = {m.label};
    p.help = first_sentence(m.summary);
    p.view = "retrieval";
    p.parameters = count("spalm");
    return p;
  }

  void make_encoder() {
    DiagramColumn column{"Encoder", {}, {}};
    const std::vector<LayerRun> runs = runs_of(Stack::Encoder, encoder_groups(config_));
    column.rows.push_back(row(tokens("Source", trace_.text_tokens())));
    column.rows.push_back(row(embedding(
        "Token embedding", "Each token of the source becomes a vector; the table is shared.")));
    column.rows.back().parts[0].parameters = 0;  // counted once, with the target's
    if (const auto placed = position(runs, "encoder.embed.")) column.rows.push_back(row(*placed));
    add_layers(column, runs, Stack::Encoder);
    if (config_.pre_norm) column.rows.push_back(row(norm("encoder.final_norm")));
    diagram_.columns.push_back(std::move(column));
  }

  void make_decoder() {
    DiagramColumn column{architecture_.has_encoder ? "Decoder" : "", {}, {}};
    const std::vector<LayerRun> runs = runs_of(Stack::Decoder, config_.groups);
    add_input(column, runs);
    add_layers(column, runs, Stack::Decoder);
    add_output(column);
    if (architecture_.has_encoder) {
      for (std::size_t n = 0; n < column.rows.size(); ++n) {
        if (column.rows[n].parts[0].title != "Cross-attention") continue;
        diagram_.links.push_back({diagram_.columns[0].rows.size() - 1, n});
      }
    }
    diagram_.columns.push_back(std::move(column));
  }

  // --- Recurrent networks -----------------------------------------------------------------------

  DiagramPart cell(const std::string& title, const std::string& weights) const {
    DiagramPart p{Kind::Cell, title};
    p.notes = {"GRU, state of " + std::to_string(config_.width)};
    p.help = "Reads token after token; gates decide how much of its state the next one replaces.";
    p.parameters = count(weights);
    p.loops = true;
    return p;
  }

  void make_recurrent() {
    const std::string score = config_.architecture.values.choice("score");
    DiagramColumn encoder{"Encoder", {}, {}}, decoder{"Decoder", {}, {}};
    encoder.rows.push_back(row(tokens("Source", trace_.text_tokens())));
    encoder.rows.push_back(
        row(embedding("Token embedding", "Each token of the source becomes a vector.")));
    encoder.rows.back().parts[0].parameters = 0;
    encoder.rows.push_back(row(cell("Recurrent cell", "encoder.")));
    decoder.rows.push_back(row(tokens("Target so far", trace_.tokens)));
    decoder.rows.push_back(
        row(embedding("Token embedding", "Each token of the target becomes a vector.")));
    decoder.rows.push_back(row(cell("Recurrent cell", "decoder.")));
    diagram_.links.push_back({2, 2, false});
    if (score != "none") {
      DiagramPart p{Kind::Attention, "Attention"};
      p.notes = {score == "additive" ? "additive score" : "product of the states",
                 "keys: all states of the encoder"};
      p.help =
          "Compares the decoder's state with every state of the encoder, and takes their "
          "weighted mean.";
      p.view = "alignment";
      p.parameters = count("attend.");
      p.tap = trace_.attention.empty() ? nullptr : &trace_.attention.front();
      decoder.rows.push_back(row(p));
      diagram_.links.push_back({2, 3, true});
      DiagramPart both{Kind::FeedForward, "Combine"};
      both.notes = {"tanh([c ; s] W + b)"};
      both.help = "Context and state together become what predicts the next token.";
      both.parameters = count("combine.");
      DiagramRow combined = row(both);
      combined.skips = static_cast<int>(decoder.rows.size()) - 1;  // the state goes around
      decoder.rows.push_back(combined);
    }
    DiagramColumn end;
    add_output(end);
    for (DiagramRow& r : end.rows) {
      if (r.parts[0].kind != Kind::Norm) decoder.rows.push_back(std::move(r));
    }
    diagram_.columns = {std::move(encoder), std::move(decoder)};
  }

  const Trace& trace_;
  const Experiment& experiment_;
  const ModelConfig& config_;
  const Architecture& architecture_;
  const TracePart part_;
  std::map<std::string, Index> sizes_;  // of each weight
  Diagram diagram_;
};

}  // namespace

Diagram model_diagram(const Trace& trace, const Experiment& experiment) {
  return DiagramMaker(trace, experiment).make();
}

}  // namespace attnscope
