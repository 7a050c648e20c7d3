#include "core/experiment/notes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/base/json.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/residual_connection.h"
#include "core/model/weights.h"
#include "tests/support/compare.h"
#include "tests/support/golden.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::random_tensor;

AttentionTap tap_of(const Json& json, Index memory = 0) {
  OperationInput input;
  input.heads = input.kv_heads = 2;
  input.variant = variant_from_json(json, "variant");
  input.q = random_tensor({2, 6, 4}, 1);
  input.k = random_tensor({2, 6, 4}, 2);
  input.v = random_tensor({2, 6, 4}, 3);
  input.causal = true;
  input.weights["memorizing.gate"] = Tensor::zeros({2});
  if (memory > 0) {
    input.weights["mem.k"] = random_tensor({2, memory, 4}, 4);
    input.weights["mem.v"] = random_tensor({2, memory, 4}, 5);
  }
  AttentionTap tap;
  tap.variant = input.variant;
  tap.heads = {0, 1};
  tap.record({}, evaluate(input, cpu_backend(), {.output = true, .attention = true}));
  return tap;
}

std::vector<std::string> attention_notes(std::vector<AttentionTap> taps) {
  Trace trace;
  trace.attention = std::move(taps);
  return notes_on_attention(trace);
}

using Notes = std::vector<std::string>;

TEST(Notes, ReportEmptyMemory) {
  const Json segments = {{"type", "segment_memory"}};
  EXPECT_EQ(attention_notes({tap_of(segments)}), (Notes{"Segment memory: the memory is empty"}));
  EXPECT_EQ(attention_notes({tap_of({{"type", "memorizing"}, {"top", 2}})}),
            (Notes{"Memorizing: the memory is empty"}));
  EXPECT_EQ(attention_notes({tap_of(segments, 3)}), Notes{});
  // The first segment of a text has no memory, but later segments have.
  EXPECT_EQ(attention_notes({tap_of(segments), tap_of(segments, 3)}), Notes{});
  EXPECT_EQ(attention_notes({tap_of({{"type", "full"}})}), Notes{});
}

TEST(Notes, ReportLeakedFutureTokens) {
  const Notes leak_notes = attention_notes({tap_of({{"type", "routing"}, {"clusters", 2}})});
  ASSERT_EQ(leak_notes.size(), 1u);
  EXPECT_TRUE(leak_notes[0].starts_with("Routing leaks future tokens: ")) << leak_notes[0];
  EXPECT_EQ(attention_notes({tap_of({{"type", "lsh"}, {"buckets", 4}, {"rounds", 1}})}), Notes{});
}

// Weights that a plain decoder may lack after another architecture, residual connection or exit
// rule is selected.
std::vector<WeightSpec> weights_of_structures() {
  std::vector<WeightSpec> specs;
  const ModelConfig base_config = testing::small_config({.layers = 2});
  const auto add = [&](const ModelConfig& config) {
    for (WeightSpec& spec : weight_specs(config)) specs.push_back(std::move(spec));
  };
  for (const Architecture& type : architectures()) {
    ModelConfig config = base_config;
    config.architecture = {type.id, default_values(type.parameters)};
    if (type.adapt) type.adapt(config);
    for (const char* score : {"dot", "additive"}) {
      if (type.id == "rnn_attention") config.architecture.values.set("score", std::string(score));
      add(config);
    }
  }
  for (const ResidualConnection& type : residual_connections()) {
    ModelConfig config = base_config;
    config.residual_connection = {type.id, default_values(type.parameters)};
    if (type.adapt) type.adapt(config);
    add(config);
  }
  for (const auto& type : exit_rules()) {
    ModelConfig config = base_config;
    config.exits = Choice{type.id, default_values(type.parameters)};
    config.exits->values.set("classifier", std::string("own"));
    add(config);
  }
  return specs;
}

// Tokenizer with a large vocabulary, for texts that are split into bytes.
class LargeByteTokenizer : public Tokenizer {
 public:
  std::string kind() const override { return "bytes"; }
  std::int32_t vocabulary_size() const override { return 8192; }
  std::vector<Token> encode(std::string_view) const override { return {}; }
  std::string bytes(std::int32_t) const override { return ""; }
  bool is_special(std::int32_t) const override { return false; }
  void save(const std::filesystem::path&) const override {}
};

TEST(Notes, ReportTextsSplitIntoBytes) {
  const auto note_of = [](const std::vector<std::string>& parts, bool is_large = true) {
    Trace trace;
    trace.tokenizer = is_large ? std::make_shared<const LargeByteTokenizer>() : byte_tokenizer();
    for (const std::string& part : parts) trace.tokens.push_back({.bytes = part, .label = part});
    return note_on_bytes(trace);
  };
  const std::vector<std::string> russian_bytes(12, "\xD0"), letters(12, "a"), few_bytes(4, "\xD0");
  EXPECT_NE(note_of(russian_bytes).find("single bytes"), std::string::npos);
  EXPECT_EQ(note_of(russian_bytes, false), "");  // byte vocabulary: nothing else possible
  EXPECT_EQ(note_of(letters), "");
  EXPECT_EQ(note_of(few_bytes), "");
  std::vector<std::string> name = letters;  // foreign name in an English text
  name.insert(name.end(), 8, "word");
  name.insert(name.end(), 8, "\xD0");
  EXPECT_EQ(note_of(name), "");
}

TEST(Notes, CountUnknownTokens) {
  class WordTokenizer : public LargeByteTokenizer {
   public:
    std::int32_t unknown_token() const override { return 3; }
    std::string label(std::int32_t) const override { return "[UNK]"; }
  };
  const auto token = [](std::int32_t id, bool special = false) {
    TraceToken result;
    result.id = id;
    result.special = special;
    return result;
  };
  Trace trace;
  trace.tokens = {token(1, true), token(7), token(3), token(8)};
  EXPECT_EQ(note_on_unknown_tokens(trace), "");
  trace.tokenizer = std::make_shared<const LargeByteTokenizer>();
  EXPECT_EQ(note_on_unknown_tokens(trace), "");  // a vocabulary without an unknown token
  trace.tokenizer = std::make_shared<const WordTokenizer>();
  EXPECT_EQ(note_on_unknown_tokens(trace),
            "1 of 3 tokens is unknown: the model's vocabulary lacks this text and the model reads "
            "[UNK] instead");
  trace.tokens.push_back(token(3, true));
  EXPECT_TRUE(note_on_unknown_tokens(trace).starts_with("2 of 4 tokens are unknown"));
  trace.tokens = {token(7), token(8)};
  EXPECT_EQ(note_on_unknown_tokens(trace), "");
}

// Descriptions of weights, such as "the span of each head (span.z)", must be understandable without
// context.
TEST(Notes, DescribeUntrainedWeightsAndNameTensors) {
  std::set<std::string> plain_names;
  for (const WeightSpec& spec : weight_specs(testing::small_config({.layers = 2}))) {
    plain_names.insert(spec.name);
  }
  int described_count = 0;
  for (const WeightSpec& spec : weights_of_structures()) {
    const bool is_shared = plain_names.contains(spec.name) || spec.name.find("embed.weight") == 0;
    if (is_shared || spec.name == "output.weight") continue;
    EXPECT_FALSE(spec.help.empty()) << spec.name;
    for (const char* needs_context : {" it.", "the first.", "the second.", "their "}) {
      EXPECT_EQ(spec.help.find(needs_context), std::string::npos) << spec.name << ": " << spec.help;
    }
    ++described_count;
  }
  EXPECT_GT(described_count, 40);
  Model model = make_model(testing::small_config({}), 1);
  ModelConfig gated = model.config;
  gated.residual_connection = {"gru", default_values(residual_connection("gru").parameters)};
  Model changed = make_model(gated, 1);
  changed.untrained = {"layers.0.attn_join.b", "layers.0.ffn_join.b"};
  const Notes notes = notes_on_model(model, changed);
  EXPECT_EQ(notes.front(), "untrained: bias that closes the gate (attn_join.b, ffn_join.b)");
}

TEST(Notes, ReportBytesFromEightTokensAndFortyPercent) {
  class SizedTokenizer : public LargeByteTokenizer {
   public:
    explicit SizedTokenizer(std::int32_t size) : size_(size) {}
    std::int32_t vocabulary_size() const override { return size_; }

   private:
    std::int32_t size_;
  };
  const auto has_note = [](std::int32_t size, std::size_t bytes, std::size_t others,
                           const std::string& byte = "\xD0", const std::string& other = "word") {
    Trace trace;
    trace.tokenizer = std::make_shared<const SizedTokenizer>(size);
    for (std::size_t n = 0; n < bytes; ++n) trace.tokens.push_back({.bytes = byte, .label = byte});
    for (std::size_t n = 0; n < others; ++n) {
      trace.tokens.push_back({.bytes = other, .label = other});
    }
    return !note_on_bytes(trace).empty();
  };
  EXPECT_TRUE(has_note(512, 8, 0));
  EXPECT_FALSE(has_note(511, 8, 0));
  EXPECT_FALSE(has_note(512, 7, 0));
  EXPECT_TRUE(has_note(512, 8, 12));
  EXPECT_FALSE(has_note(512, 8, 13));
  EXPECT_TRUE(has_note(512, 12, 0, "\x80"));
  EXPECT_FALSE(has_note(512, 12, 0, "\x7f"));
  EXPECT_FALSE(has_note(512, 12, 0, "\xC3\xA9"));
  EXPECT_FALSE(has_note(512, 8, 13, "\xD0", "\xC3\xA9"));
}

// Returns attention of two heads with this pattern, attributed to the variant `id`.
AttentionTap tap_with_pattern(Pattern pattern, const std::string& id = "local") {
  AttentionTap tap;
  tap.variant = {id, default_values(variant(id).parameters)};
  tap.heads = {0, 1};
  tap.result.pattern = std::make_shared<const Pattern>(std::move(pattern));
  return tap;
}

Pattern rows_of(Index heads, Index queries, Index keys,
                const std::function<std::pair<Index, Index>(Index, Index)>& range) {
  PatternBuilder builder(heads, queries, keys, {"window"});
  for (Index head = 0; head < heads; ++head) {
    for (Index i = 0; i < queries; ++i) {
      const auto [begin, end] = range(head, i);
      if (begin < end) builder.add(0, begin, end);
      builder.next_row();
    }
  }
  return builder.finish();
}

TEST(Notes, ReportRowsWithoutKeys) {
  const auto notes_of = [](const std::vector<AttentionTap>& taps) {
    Trace trace;
    trace.attention = taps;
    return notes_on_patterns(trace);
  };
  const auto pattern_without_first_row = [](Index heads) {
    return rows_of(heads, 4, 4, [](Index head, Index i) {
      return std::pair<Index, Index>{0, head == 0 && i == 0 ? 0 : i + 1};
    });
  };
  EXPECT_EQ(notes_of({tap_with_pattern(pattern_without_first_row(1))}),
            (Notes{"no key is allowed in 2 of 8 rows (queries × heads × layers): they are all "
                   "zero"}));
  EXPECT_EQ(notes_of({tap_with_pattern(pattern_without_first_row(2))}),
            (Notes{"no key is allowed in 1 of 8 rows (queries × heads × layers): it is all zero"}));
  EXPECT_EQ(notes_of({tap_with_pattern(pattern_without_first_row(2)),
                      tap_with_pattern(pattern_without_first_row(1)), AttentionTap()}),
            (Notes{"no key is allowed in 3 of 16 rows (queries × heads × layers): they are all "
                   "zero"}));
}

TEST(Notes, ReportPatternsThatOmitNoKeys) {
  const auto has_note = [](Pattern pattern, bool is_imported = false,
                           const std::string& id = "local") {
    Trace trace;
    trace.is_imported = is_imported;
    trace.attention = {tap_with_pattern(std::move(pattern), id)};
    return !notes_on_patterns(trace).empty();
  };
  const auto all_keys = [](Index, Index) { return std::pair<Index, Index>{0, 4}; };
  const auto earlier_keys = [](Index, Index i) { return std::pair<Index, Index>{0, i + 1}; };
  EXPECT_TRUE(has_note(rows_of(1, 4, 4, all_keys)));
  EXPECT_TRUE(has_note(rows_of(2, 4, 4, all_keys)));
  EXPECT_TRUE(has_note(rows_of(1, 4, 4, earlier_keys)));
  EXPECT_TRUE(has_note(rows_of(2, 4, 4, earlier_keys)));
  EXPECT_FALSE(
      has_note(rows_of(1, 4, 4, earlier_keys), true));  // imported: not selected by the user
  EXPECT_FALSE(has_note(Pattern::all(4, 4)));           // the rule is the rule of full attention
  EXPECT_FALSE(has_note(Pattern::causal(4, 4)));
  EXPECT_FALSE(has_note(rows_of(1, 3, 4, all_keys)));      // not square
  EXPECT_FALSE(has_note(rows_of(1, 1, 1, earlier_keys)));  // one token
  // As many pairs as in a causal mask, but different pairs.
  EXPECT_FALSE(has_note(rows_of(1, 4, 4, [](Index, Index i) {
    return std::pair<Index, Index>{i, 4};
  })));
  EXPECT_FALSE(has_note(rows_of(1, 4, 4, [](Index, Index i) {
    return std::pair<Index, Index>{0, std::min<Index>(i + 1, 3)};
  })));
}

// Notes on every untrained weight, and on every setting that differs from training.
TEST(Notes, MatchGolden) {
  std::string text;
  const ModelConfig base_config = testing::small_config({.layers = 2});
  const Model stored = make_model(base_config, 1);
  const auto add_notes = [&](const std::string& name, const ModelConfig& config) {
    Model changed = stored;
    changed.config = config;
    changed.untrained.clear();
    for (const WeightSpec& spec : weight_specs(config)) {
      if (!spec.optional && !stored.weights.contains(spec.name))
        changed.untrained.push_back(spec.name);
    }
    text += name + "\n";
    for (const std::string& note : notes_on_model(stored, changed)) text += "  " + note + "\n";
  };
  for (const Architecture& type : architectures()) {
    ModelConfig config = base_config;
    config.architecture = {type.id, default_values(type.parameters)};
    if (type.adapt) type.adapt(config);
    add_notes(type.id, config);
  }
  for (const ResidualConnection& type : residual_connections()) {
    ModelConfig config = base_config;
    config.residual_connection = {type.id, default_values(type.parameters)};
    if (type.adapt) type.adapt(config);
    add_notes(type.id, config);
  }
  for (const auto& type : exit_rules()) {
    ModelConfig config = base_config;
    config.exits = Choice{type.id, default_values(type.parameters)};
    add_notes(type.id, config);
  }
  for (const Variant& v : variants()) {
    ModelConfig config = base_config;
    const Choice choice{v.id, default_values(v.parameters)};
    config.groups = uniform_groups(config, choice, default_encoding());
    add_notes(v.id, config);
  }
  for (const Encoding& e : encodings()) {
    ModelConfig config = base_config;  // the encoding applies to one head of the last layer
    HeadGroup first_head = config.groups[1][0], second_head = first_head;
    first_head.heads = second_head.heads = 1;
    second_head.encoding = {e.id, default_values(e.parameters)};
    config.groups[1] = {first_head, second_head};
    if (e.embed)
      config.groups = uniform_groups(base_config, default_variant(), second_head.encoding);
    add_notes(e.id, config);
  }
  ModelConfig config = base_config;
  config.segment = 8;
  add_notes("segments", config);
  config = base_config;
  config.causal = false;
  add_notes("bidirectional", config);
  EXPECT_TRUE(testing::matches_golden(text, "core/experiment/notes.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
