#include "core/experiment/run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/stop.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

class Run : public ::testing::Test {
 protected:
  Run() { testing::save_byte_model(folder_.path(), 2, 16, 12); }

  RunSpec spec(const std::string& text) const {
    RunSpec run_spec;
    run_spec.model = folder_.path().string();
    run_spec.text = text;
    return run_spec;
  }
  std::shared_ptr<const Trace> run(const RunSpec& spec) { return run_.run(spec); }

  static bool has_note_with(const Trace& trace, const std::string& text_part) {
    return std::ranges::any_of(trace.notes, [&](const std::string& note) {
      return note.find(text_part) != std::string::npos;
    });
  }

  testing::TemporaryFolder folder_;
  ExperimentRun run_{cpu_only()};
};

// Device that is available but loses its context during a computation.
class LostDevice : public Backend {
 public:
  std::string name() const override { return "lost device"; }
  std::string refusal(const Part&, const ResultRequest&) const override { return {}; }
  PartResult run(const Part&, const ResultRequest&) override {
    throw WorkError("GPU: OpenGL: context lost while computing scores");
  }
};

TEST_F(Run, FallsBackToCpuIfDeviceIsLost) {
  LostDevice lost;
  ExperimentRun run([&lost](BackendChoice) { return BackendOffer{&lost, ""}; });
  RunSpec run_spec = spec("ab c\n");
  const auto trace = run.run(run_spec), expected = run_.run(run_spec);
  EXPECT_TRUE(testing::close(trace->logits, expected->logits, 0));
  EXPECT_TRUE(
      testing::close(trace->attention[1].attention(1), expected->attention[1].attention(1)));
  EXPECT_EQ(std::count(trace->notes.begin(), trace->notes.end(),
                       "GPU: OpenGL: context lost while computing scores"),
            1);
  run_spec.interventions = {intervention_from_text("forbid key=1")};
  EXPECT_TRUE(testing::close(run.run(run_spec)->attention[0].attention(0),
                             run_.run(run_spec)->attention[0].attention(0)));
  // If the user selected the GPU explicitly, the lost device is an error.
  run_spec.backend = BackendChoice::Gpu;
  EXPECT_THROW(run.run(run_spec), InputError);
}

TEST_F(Run, RecordsTokensAttentionAndLogits) {
  const auto trace = run(spec("ab c\n"));
  ASSERT_EQ(trace->tokens.size(), 5u);
  EXPECT_EQ(trace->tokens[2].bytes, " ");
  EXPECT_EQ(trace->tokens[2].begin, 2u);
  EXPECT_EQ(trace->tokens[4].label, "⏎");
  EXPECT_EQ(trace->logits.shape(), (Shape{5, 256}));
  EXPECT_EQ(trace->layer_count({}), 2);
  EXPECT_EQ(trace->head_count({}, 1), 4);
  const Tensor map = trace->find({1, 3})->attention(3);
  for (Index i = 0; i < 5; ++i) {
    float sum = 0;
    for (Index j = 0; j < 5; ++j) sum += map(i, j);
    EXPECT_NEAR(sum, 1, 1e-5);
    for (Index j = i + 1; j < 5; ++j) EXPECT_EQ(map(i, j), 0);
  }
  EXPECT_FALSE(trace->backend.empty());
  EXPECT_TRUE(trace->taps.contains("layers.1.residual"));
  EXPECT_TRUE(trace->notes.empty());
}

TEST_F(Run, NotesUsedPartOfLongText) {
  RunSpec run_spec = spec("0123456789abcdef");
  auto trace = run(run_spec);
  EXPECT_EQ(trace->tokens.size(), 12u);
  EXPECT_EQ(trace->tokens[0].bytes, "0");
  EXPECT_TRUE(has_note_with(*trace, "the text has 16 tokens; the first 12 are used"));
  run_spec.overlong = Overlong::Last;
  trace = run(run_spec);
  EXPECT_EQ(trace->tokens[0].bytes, "4");
  EXPECT_TRUE(has_note_with(*trace, "the text has 16 tokens; the last 12 are used"));
}

TEST_F(Run, ExtendsTrainedContextOnRequest) {
  RunSpec run_spec = spec("0123456789abcdefghij");
  run_spec.overlong = Overlong::All;
  const auto trace = run(run_spec);
  EXPECT_EQ(trace->tokens.size(), 20u);
  EXPECT_EQ(trace->logits.shape(), (Shape{20, 256}));
  EXPECT_TRUE(has_note_with(*trace, "trained on 12 tokens at a time"));
  EXPECT_EQ(trace->config->context, 12);
  // Earlier results do not depend on later tokens.
  run_spec.text = "0123456789ab";
  const auto shorter = run(run_spec);
  EXPECT_TRUE(shorter->notes.empty());
  EXPECT_TRUE(testing::close(trace->logits.value().slice(0, 12), shorter->logits, 1e-5));
  // Untrained weights of a selected encoding have the required size.
  run_spec.text = "0123456789abcdefghij";
  run_spec.encoding = Choice{"learned", default_values(encoding("learned").parameters)};
  EXPECT_EQ(run(run_spec)->tokens.size(), 20u);
}

TEST_F(Run, RejectsPositionsBeyondTrainedEncoding) {
  const testing::TemporaryFolder folder;
  testing::save_byte_model(folder.path(), 1, 16, 12, "learned");
  RunSpec run_spec = spec("0123456789abcdefghij");
  run_spec.model = folder.path().string();
  run_spec.overlong = Overlong::All;
  try {
    run(run_spec);
    FAIL() << "accepted more positions than the model was trained on";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("(learned) of this model has shape"), std::string::npos) << message;
    EXPECT_NE(message.find("overlong: embed.pos.embedding"), std::string::npos) << message;
    EXPECT_NE(message.find("found 20 tokens"), std::string::npos) << message;
  }
  run_spec.encoding = Choice{"alibi", default_values(encoding("alibi").parameters)};
  EXPECT_EQ(run(run_spec)->tokens.size(), 20u);
}

// 8 maps of 4,200 x 4,200 weights exceed the limit for stored maps.
TEST_F(Run, DerivesMapsTooLargeToStore) {
  RunSpec run_spec = spec(std::string(4200, 'x'));
  for (std::size_t i = 0; i < run_spec.text.size(); ++i)
    run_spec.text[i] = static_cast<char>('a' + i * 7 % 26);
  run_spec.overlong = Overlong::All;
  const auto trace = run(run_spec);
  const AttentionTap& tap = *trace->find({1, 2});
  EXPECT_FALSE(tap.stores_map());
  ASSERT_NE(tap.result.tiles, nullptr);
  const Tensor rows = tap.rows(2, 4100, 3);
  ASSERT_EQ(rows.shape(), (Shape{3, 4200}));
  for (Index r = 0; r < 3; ++r) {
    double sum = 0;
    for (Index c = 0; c < 4200; ++c) sum += rows(r, c);
    EXPECT_NEAR(sum, 1, 1e-4);
    EXPECT_EQ(rows(r, 4100 + r + 1), 0);
  }
  EXPECT_TRUE(testing::close(tap.attention(2).slice(4100, 3), rows, 1e-6));
}

TEST_F(Run, AcceptsTokenIds) {
  RunSpec run_spec = spec("");
  run_spec.ids = {97, 98};
  EXPECT_EQ(run(run_spec)->tokens.size(), 2u);
  run_spec.ids = {97, 256};
  EXPECT_THROW(run(run_spec), InputError);
}

TEST_F(Run, AppliesVariantAndDirectionOfSpec) {
  RunSpec run_spec = spec("abcdefgh");
  run_spec.variant = Choice{"local", default_values(variant("local").parameters)};
  run_spec.variant->values.set("window", Index{1});
  run_spec.causal = false;
  const auto trace = run(run_spec);
  const Tensor map = trace->find({0, 0})->attention(0);
  EXPECT_GT(map(3, 4), 0);
  EXPECT_EQ(map(3, 5), 0);
  EXPECT_TRUE(has_note_with(*trace, "trained with a causal mask"));
  EXPECT_TRUE(has_note_with(*trace, "trained with the attention \"Full\", not"));
}

// Masked models have logits but no surprisal of next tokens.
TEST_F(Run, MaskedModelPredictsNoNextToken) {
  RunSpec run_spec;
  run_spec.model = testing::source_folder() / "tests" / "model-cases" / "decoder-masked";
  run_spec.ids = {4, 2, 3, 7};
  const auto trace = run(run_spec);
  EXPECT_TRUE(trace->logits.defined());
  EXPECT_FALSE(trace->token_bits.defined());
  EXPECT_FALSE(has_note_with(*trace, "see it"));
}

// The mask token includes the space before "[mask]".
TEST_F(Run, MaskedModelReadsMaskedText) {
  ModelConfig config = testing::small_config({.vocabulary = 257, .context = 16});
  config.causal = false;
  config.architecture.values.set("masked", 0.2);
  config.architecture.values.set("mask", Index{256});
  testing::save_lively_model(folder_.path() / "masked", config);
  RunSpec run_spec;
  run_spec.model = (folder_.path() / "masked").string();
  run_spec.text = "ab [mask] c";
  const auto trace = run(run_spec);
  std::vector<std::int32_t> ids;
  for (const TraceToken& token : trace->tokens) ids.push_back(token.id);
  EXPECT_EQ(ids, (std::vector<std::int32_t>{'a', 'b', 256, ' ', 'c'}));
  EXPECT_EQ(trace->tokens[2].label, "[mask]");
  EXPECT_EQ(trace->tokens[2].begin, 2u);
  EXPECT_EQ(trace->tokens[2].end, 9u);
  EXPECT_EQ(trace->tokens[3].begin, 9u);
  run_spec.text = "[mask]";
  EXPECT_EQ(run(run_spec)->tokens.size(), 1u);
  run_spec.model = spec("x").model;
  EXPECT_EQ(run(run_spec)->tokens.size(), 6u);  // other models read the literal text
}

// If the tokenizer has a mask token, "[mask]" maps to that token.
TEST_F(Run, MaskedModelUsesTokenizerMask) {
  ModelConfig config = testing::small_config({.vocabulary = 10, .context = 16});
  config.causal = false;
  config.architecture.values.set("masked", 0.2);
  config.architecture.values.set("mask", Index{4});
  const auto folder = folder_.path() / "bert";
  testing::save_lively_model(folder, config);
  std::filesystem::remove(folder / "tokenizer.json");
  write_file(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##able\nthe\ncat\n.\n");
  RunSpec run_spec;
  run_spec.model = folder.string();
  for (const char* text : {"The [mask] unable.", "the [MASK] unable."}) {
    run_spec.text = text;
    const auto trace = run(run_spec);
    std::string labels;
    for (const TraceToken& token : trace->tokens) labels += token.label + " ";
    EXPECT_EQ(labels, "[CLS] the [MASK] un ##able . [SEP] ") << text;
  }
}

TEST_F(Run, NotesMaskWithoutEffect) {
  RunSpec run_spec = spec("abcd");
  run_spec.variant = Choice{"local", default_values(variant("local").parameters)};
  run_spec.variant->values.set("window", Index{50});
  EXPECT_TRUE(has_note_with(*run(run_spec), "masks no pair at this length"));
  run_spec.variant = Choice{"linear", default_values(variant("linear").parameters)};  // never masks
  EXPECT_FALSE(has_note_with(*run(run_spec), "masks no pair at this length"));
}

TEST_F(Run, NotesUntrainedWeights) {
  for (const Encoding& candidate : encodings()) {
    if (candidate.weights.empty() || candidate.weights[0].file.optional) continue;
    RunSpec run_spec = spec("abcd");
    run_spec.encoding = Choice{candidate.id, default_values(candidate.parameters)};
    EXPECT_TRUE(has_note_with(*run(run_spec), "untrained: ")) << candidate.id;
  }
  RunSpec run_spec = spec("abcd");
  run_spec.encoding = Choice{"relative_bias", default_values(encoding("relative_bias").parameters)};
  const auto trace = run(run_spec);
  EXPECT_TRUE(has_note_with(*trace, "untrained: score bias by head and offset (pos.bias)"));
  EXPECT_FALSE(trace->untrained.empty());
  EXPECT_TRUE(run(spec("abcd"))->untrained.empty());
}

TEST_F(Run, NotesPredictionsThatSeeTargets) {
  RunSpec run_spec = spec("abcd");
  const auto has_note = [&] {
    return has_note_with(*run(run_spec), "positions see the token that they predict");
  };
  EXPECT_FALSE(has_note());
  run_spec.causal = false;
  EXPECT_TRUE(has_note());
  // No note if attention is causal by definition.
  run_spec.variant = Choice{"strided", default_values(variant("strided").parameters)};
  EXPECT_FALSE(has_note());
}

TEST_F(Run, RejectsInvalidSpecs) {
  EXPECT_THROW(run(spec("")), InputError);
  RunSpec run_spec = spec("ab");
  run_spec.backend = BackendChoice::Gpu;
  EXPECT_THROW(run(run_spec), InputError);
  run_spec = spec("ab");
  run_spec.model = (folder_.path() / "absent").string();
  EXPECT_THROW(run(run_spec), InputError);
  EXPECT_THROW(run(spec(std::string(std::size_t{2} << 20, 'a'))), InputError);
  Stop stop;
  stop.request();
  const StopScope scope(stop);
  EXPECT_THROW(run_.run(spec("ab")), Stopped);
}

// The worker of the window, head statistics and exports share one model.
TEST_F(Run, SharesModelInMemory) {
  const auto models = std::make_shared<ModelStore>();
  ExperimentRun first_run(cpu_only(), models), second_run(cpu_only(), models);
  const auto first_trace = first_run.run(spec("abc")), second_trace = second_run.run(spec("ab"));
  EXPECT_EQ(first_trace->trained, second_trace->trained);  // stored in the checkpoint
  EXPECT_EQ(models->reads(), 1);
  const std::shared_ptr<const Checkpoint> stored = models->checkpoint(folder_.path().string());
  EXPECT_EQ(&stored->model.config, first_trace->trained.get());
}

TEST_F(Run, RunsAgainAfterPublication) {
  const auto models = std::make_shared<ModelStore>();
  ExperimentRun runs(cpu_only(), models);
  Session session{{spec("abc"), {}}};
  RunSpec& run_spec = session.run;
  run_spec.model = "in training";
  EXPECT_THROW(runs.run(run_spec), InputError);
  Checkpoint snapshot = load_checkpoint(folder_.path().string());
  models->publish(run_spec.model, std::make_shared<const Checkpoint>(snapshot));
  const Traces first_traces = runs.observe(session, {});
  EXPECT_TRUE(testing::close(first_traces.trace->logits, run(spec("abc"))->logits, 0));
  EXPECT_EQ(runs.observe(session, {}).trace, first_traces.trace);
  models->publish("another", models->checkpoint(run_spec.model));
  EXPECT_EQ(runs.observe(session, {}).trace, first_traces.trace);
  models->publish(run_spec.model, models->checkpoint(run_spec.model));
  EXPECT_NE(runs.observe(session, {}).trace, first_traces.trace);
  snapshot.model = make_model(snapshot.model.config, 5);
  models->publish(run_spec.model, std::make_shared<const Checkpoint>(snapshot));
  EXPECT_TRUE(
      testing::differs(runs.observe(session, {}).trace->logits, first_traces.trace->logits, 1e-6));
}

TEST_F(Run, DetectsChangedCheckpoint) {
  const Tensor old_logits = run(spec("abc"))->logits;
  Checkpoint changed = load_checkpoint(folder_.path().string());
  changed.model = make_model(changed.model.config, 77);
  save_checkpoint(folder_.path(), changed, false);
  std::filesystem::last_write_time(
      folder_.path() / "model.safetensors",
      std::filesystem::last_write_time(folder_.path() / "model.safetensors") +
          std::chrono::seconds(5));
  const Tensor new_logits = run(spec("abc"))->logits;
  EXPECT_TRUE(testing::differs(new_logits, old_logits, 1e-6));
  // Different configuration, same weights.
  changed.model.config.norm_epsilon = 0.5;
  write_file(folder_.path() / "config.json", to_json(changed.model.config).dump());
  std::filesystem::last_write_time(
      folder_.path() / "config.json",
      std::filesystem::last_write_time(folder_.path() / "config.json") + std::chrono::seconds(9));
  EXPECT_TRUE(testing::differs(run(spec("abc"))->logits, new_logits, 1e-6));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
