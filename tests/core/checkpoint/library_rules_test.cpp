// Rules of the Hugging Face libraries beyond the stored layouts: settings that they ignore, tensors
// that they leave out or prefer, and windows beyond the context. The numbers of each rule were
// compared with the libraries (transformers 5.24).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/checkpoint/format.h"
#include "core/model/linear.h"
#include "core/model/weights.h"
#include "core/tensor/safetensors.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

// A stored layout whose configuration and tensors can be changed.
struct StoredLayout {
  explicit StoredLayout(const std::string& name)
      : folder(testing::source_folder() / "tests" / "layouts" / name),
        source(checkpoint_container(folder).open(folder)),
        tensors(read_safetensors(folder / "model.safetensors")) {
    source.tensors = tensors.tensors;
  }

  void add(const std::string& name, const Tensor& numbers) {
    source.tensors.insert_or_assign(name, stored(numbers));
  }
  Tensor numbers(const std::string& name) const { return source.tensors.at(name).floats(); }
  Model load() const {
    const std::string type = source.config["model_type"].get<std::string>();
    return std::ranges::find(checkpoint_formats(), type, &CheckpointFormat::model_type)
        ->load(source);
  }

  fs::path folder;
  CheckpointSource source;
  SafetensorsFile tensors;
};

bool has_note(const Model& model, const std::string& part) {
  return std::ranges::any_of(model.notes,
                             [&](const std::string& note) { return note.find(part) != note.npos; });
}

Tensor logits_of(const Model& model) {
  Batch batch;
  batch.ids = IntTensor::from({1, 5}, {5, 17, 33, 61, 8});
  return run(model, batch, {}).logits.value();
}

TEST(LibraryRules, KeepWindowsOfAtLeastTheContext) {
  for (const char* name : {"mistral", "gemma2", "olmo3", "starcoder2"}) {
    StoredLayout layout(name);
    layout.source.config["max_position_embeddings"] = 4;
    EXPECT_EQ(layout.load().config.groups[0][0].variant.id, "local") << name;
  }
}

TEST(LibraryRules, IgnoreSettingsWithNote) {
  StoredLayout llama("llama-linear");
  llama.source.config["partial_rotary_factor"] = 0.5;
  const Model model = llama.load();
  EXPECT_EQ(model.config.groups[0][0].encoding.values.integer("dims"), model.config.head_size);
  EXPECT_TRUE(has_note(model, "partial_rotary_factor of config.json is ignored"));
  StoredLayout gemma("gemma3_text");
  gemma.source.config["attn_logit_softcapping"] = 2.0;
  EXPECT_EQ(gemma.load().config.model_options.score_cap, 0);
  EXPECT_TRUE(has_note(gemma.load(), "attn_logit_softcapping of config.json is ignored"));
}

TEST(LibraryRules, UntiedNarrowOptUsesItsOwnHead) {
  StoredLayout layout("opt-350m");
  const Tensor tied = logits_of(layout.load());
  Tensor head = layout.numbers("model.decoder.embed_tokens.weight").copy();
  for (float& x : head) x *= 2;
  layout.add("lm_head.weight", head);
  EXPECT_THROW(layout.load(), InputError) << "config.json ties other numbers";
  layout.source.config["tie_word_embeddings"] = false;
  const Tensor untied = logits_of(layout.load());
  for (Index n = 0; n < tied.size(); ++n) ASSERT_TRUE(std::abs(untied[n] - 2 * tied[n]) <= 1e-4F);
}

TEST(LibraryRules, T5AndUmt5ScaleTiedOutputs) {
  StoredLayout layout("t5");
  layout.source.config.erase("scale_decoder_outputs");
  layout.source.config["tie_word_embeddings"] = true;
  const double scale = 1 / std::sqrt(layout.source.config["d_model"].get<double>());
  for (const auto& [type, expected] : {std::pair{"t5", scale}, {"umt5", scale}, {"mt5", 1.0}}) {
    layout.source.config["model_type"] = type;
    EXPECT_EQ(layout.load().config.model_options.logit_scale, expected) << type;
  }
  layout.source.config["scale_decoder_outputs"] = true;
  EXPECT_EQ(layout.load().config.model_options.logit_scale, 1) << "mT5 ignores it";
}

TEST(LibraryRules, LeaveOutClassifiers) {
  StoredLayout deberta("deberta-v2");
  deberta.add("pooler.dense.weight", Tensor::zeros({32, 32}));
  deberta.add("pooler.dense.bias", Tensor::zeros({32}));
  deberta.add("classifier.weight", Tensor::zeros({2, 32}));
  EXPECT_TRUE(has_note(deberta.load(), "the pooler"));
  StoredLayout gpt2("gpt2");
  gpt2.source.config["architectures"] = Json::array({"GPT2DoubleHeadsModel"});
  gpt2.add("multiple_choice_head.summary.weight", Tensor::zeros({1, 32}));
  EXPECT_TRUE(gpt2.load().config.model_options.output_head);
  gpt2.source.config["architectures"] = Json::array({"GPT2ForSequenceClassification"});
  gpt2.add("score.weight", Tensor::zeros({2, 32}));
  EXPECT_FALSE(gpt2.load().config.model_options.output_head);
}

TEST(LibraryRules, HeadsWithoutOrWithSeveralBiases) {
  StoredLayout reformer("reformer");
  const Tensor used = reformer.numbers("lm_head.bias");
  reformer.add("lm_head.decoder.bias", used);
  reformer.add("lm_head.bias", Tensor::full(used.shape(), 7));
  EXPECT_TRUE(testing::close(reformer.load().weights.at("output.bias").value(), used));
  StoredLayout modernbert("modernbert");
  modernbert.source.tensors.erase("decoder.bias");
  modernbert.source.config["decoder_bias"] = false;
  EXPECT_TRUE(modernbert.load().config.model_options.output_head);
  modernbert.source.config["architectures"] = Json::array({"ModernBertForSequenceClassification"});
  EXPECT_FALSE(modernbert.load().config.model_options.output_head);
}

TEST(LibraryRules, EmbeddingNormOfDecisionTransformerHasItsOwnEpsilon) {
  StoredLayout layout("decision_transformer");
  layout.source.config["layer_norm_epsilon"] = 0.25;
  const Model model = layout.load();
  EXPECT_EQ(model.config.norm_epsilon, 0.25);
  EXPECT_EQ(model.config.architecture.values.real("norm_epsilon"), 1e-5);
  const Var x = testing::random_tensor({2, model.config.width}, 1, 0.1);
  const Tensor own = apply_norm(model, x, "embed.norm").value();
  Model other = model;
  other.config.norm_epsilon = 1e-5;
  EXPECT_TRUE(testing::close(own, apply_norm(other, x, "embed.norm").value()));
  EXPECT_TRUE(testing::differs(apply_norm(model, x, "final_norm").value(),
                               apply_norm(other, x, "final_norm").value(), 1e-3));
}

TEST(LibraryRules, TextTowersEqualTheirTextModels) {
  for (const auto& [text, type] : {std::pair{"gemma3_text", "gemma3"}, {"mistral", "mistral3"}}) {
    const Tensor expected = logits_of(StoredLayout(text).load());
    for (const char* prefix : {"model.language_model.", "language_model.model."}) {
      StoredLayout layout(text);
      Json inner = layout.source.config;
      StoredTensors renamed;
      for (const auto& [name, tensor] : layout.source.tensors) {
        const bool is_inner = name.starts_with("model.");
        renamed.emplace(is_inner ? prefix + name.substr(6) : name, tensor);
      }
      layout.source.tensors = renamed;
      layout.add("vision_tower.x", Tensor::zeros({1}));
      layout.source.config = {{"model_type", type},
                              {"text_config", inner},
                              {"tie_word_embeddings", inner["tie_word_embeddings"]}};
      const Model model = layout.load();
      EXPECT_TRUE(testing::close(logits_of(model), expected)) << type << ", " << prefix;
      EXPECT_TRUE(has_note(model, "the image tower"));
    }
  }
}

TEST(LibraryRules, PaddingTokensOfRobertaAreRefused) {
  const Model model = StoredLayout("roberta").load();
  Batch batch;
  batch.ids = IntTensor::from({1, 3}, {5, 1, 8});
  EXPECT_THROW(run(model, batch, {}), InputError);
  batch.ids = IntTensor::from({1, 3}, {5, 2, 8});
  EXPECT_NO_THROW(run(model, batch, {}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
