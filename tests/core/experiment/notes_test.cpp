#include "core/experiment/notes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/json.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/join.h"
#include "core/model/weights.h"
#include "tests/support/compare.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace {

using testing::random_tensor;

AttentionTap tap_of(const Json& json, Index memory = 0) {
  OperationInput in;
  in.heads = in.kv_heads = 2;
  in.variant = variant_from_json(json, "variant");
  in.q = random_tensor({2, 6, 4}, 1);
  in.k = random_tensor({2, 6, 4}, 2);
  in.v = random_tensor({2, 6, 4}, 3);
  in.causal = true;
  in.weights["memorizing.gate"] = Tensor::zeros({2});
  if (memory > 0) {
    in.weights["mem.k"] = random_tensor({2, memory, 4}, 4);
    in.weights["mem.v"] = random_tensor({2, memory, 4}, 5);
  }
  AttentionTap tap;
  tap.variant = in.variant;
  tap.heads = {0, 1};
  tap.result = evaluate(in, cpu_backend(), {.output = true, .attention = true}, Stop());
  return tap;
}

std::vector<std::string> notes(std::vector<AttentionTap> taps) {
  Trace trace;
  trace.attention = std::move(taps);
  return notes_on_attention(trace);
}

using Notes = std::vector<std::string>;

TEST(Notes, SayThatAMemoryIsEmpty) {
  const Json segments = {{"type", "segment_memory"}};
  EXPECT_EQ(notes({tap_of(segments)}), (Notes{"Segment memory: the memory is empty"}));
  EXPECT_EQ(notes({tap_of({{"type", "memorizing"}, {"top", 2}})}),
            (Notes{"Memorizing: the memory is empty"}));
  EXPECT_EQ(notes({tap_of(segments, 3)}), Notes{});
  // As with a text's first segment.
  EXPECT_EQ(notes({tap_of(segments), tap_of(segments, 3)}), Notes{});
  EXPECT_EQ(notes({tap_of({{"type", "full"}})}), Notes{});
}

TEST(Notes, SayWhatLooksAhead) {
  const Notes found = notes({tap_of({{"type", "routing"}, {"clusters", 2}})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].starts_with("Routing looks ahead: ")) << found[0];
  EXPECT_EQ(notes({tap_of({{"type", "lsh"}, {"buckets", 4}, {"rounds", 1}})}), Notes{});
}

// Everything that a plain decoder may lack when another structure is chosen for it.
std::vector<WeightSpec> weights_of_structures() {
  std::vector<WeightSpec> all;
  const ModelConfig plain = testing::small_config({.layers = 2});
  const auto add = [&](const ModelConfig& config) {
    for (WeightSpec& spec : weight_specs(config)) all.push_back(std::move(spec));
  };
  for (const Architecture& of : architectures()) {
    ModelConfig config = plain;
    config.architecture = {of.id, default_values(of.parameters)};
    if (of.adapt) of.adapt(config);
    for (const char* score : {"dot", "additive"}) {
      if (of.id == "rnn_attention") config.architecture.values.set("score", std::string(score));
      add(config);
    }
  }
  for (const Join& of : joins()) {
    ModelConfig config = plain;
    config.join = {of.id, default_values(of.parameters)};
    add(config);
  }
  for (const auto& of : exit_rules()) {
    ModelConfig config = plain;
    config.exits = Choice{of.id, default_values(of.parameters)};
    config.exits->values.set("classifier", std::string("own"));
    add(config);
  }
  return all;
}

// "the span of each head (span.z)": words that can be read without others around them.
// A vocabulary in which each byte is a token, and of which there could be many more.
class LargeBytes : public Tokenizer {
 public:
  std::string kind() const override { return "bytes"; }
  std::int32_t vocabulary_size() const override { return 8192; }
  std::vector<Token> encode(std::string_view) const override { return {}; }
  std::string bytes(std::int32_t) const override { return ""; }
  bool is_special(std::int32_t) const override { return false; }
  void save(const std::filesystem::path&) const override {}
};

TEST(Notes, SayWhenATextFallsApartIntoBytes) {
  const auto note_of = [](const std::vector<std::string>& parts, bool large = true) {
    Trace trace;
    trace.tokenizer = large ? std::make_shared<const LargeBytes>() : byte_tokenizer();
    for (const std::string& part : parts) trace.tokens.push_back({.bytes = part, .label = part});
    return note_on_bytes(trace);
  };
  const std::vector<std::string> russian(12, "\xD0"), letters(12, "a"), few(4, "\xD0");
  EXPECT_NE(note_of(russian).find("single bytes"), std::string::npos);
  EXPECT_EQ(note_of(russian, false), "");  // of bytes: it has nothing else
  EXPECT_EQ(note_of(letters), "");
  EXPECT_EQ(note_of(few), "");
  std::vector<std::string> name = letters;  // a foreign name in an English text
  name.insert(name.end(), 8, "word");
  name.insert(name.end(), 8, "\xD0");
  EXPECT_EQ(note_of(name), "");
}

TEST(Notes, NameUntrainedWeightsInWordsWithTheirTensorsBehind) {
  std::set<std::string> of_plain;
  for (const WeightSpec& spec : weight_specs(testing::small_config({.layers = 2}))) {
    of_plain.insert(spec.name);
  }
  int named = 0;
  for (const WeightSpec& spec : weights_of_structures()) {
    const bool shared = of_plain.contains(spec.name) || spec.name.find("embed.weight") == 0;
    if (shared || spec.name == "output.weight") continue;
    EXPECT_FALSE(spec.help.empty()) << spec.name;
    for (const char* needs_others : {" it.", "the first.", "the second.", "their "}) {
      EXPECT_EQ(spec.help.find(needs_others), std::string::npos) << spec.name << ": " << spec.help;
    }
    ++named;
  }
  EXPECT_GT(named, 40);
  Model model = make_model(testing::small_config({}), 1);
  ModelConfig gated = model.config;
  gated.join = {"gru", default_values(join("gru").parameters)};
  Model used = make_model(gated, 1);
  used.untrained = {"layers.0.attn_join.b", "layers.0.ffn_join.b"};
  const Notes found = notes_on_model(model, used);
  EXPECT_EQ(found.front(), "untrained: how far the gate is shut (attn_join.b, ffn_join.b)");
}

}  // namespace
}  // namespace attnscope
