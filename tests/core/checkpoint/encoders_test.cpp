// Tests metadata and errors of the readers of encoders, encoder-decoders and image models.
// layouts_test.cpp compares the computed numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/input_kind.h"
#include "tests/core/checkpoint/files.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

fs::path layout(const std::string& name) {
  return testing::source_folder() / "tests" / "layouts" / name;
}

// Copy of a folder of tests/layouts in which `members` replace members of config.json.
class ChangedLayout {
 public:
  ChangedLayout(const std::string& name, const std::string& members) {
    for (const auto& entry : fs::directory_iterator(layout(name))) {
      fs::copy(entry.path(), folder_.path() / entry.path().filename());
    }
    const fs::path file = folder_.path() / "config.json";
    Json config = parse_json(read_file(file, 1 << 20), "config.json");
    const Json other = parse_json(members, "members");
    for (const auto& [key, value] : other.items()) config[key] = value;
    write_file(file, config.dump(2));
  }
  fs::path path() const { return folder_.path(); }
  std::string error() const {
    return testing::message_of<InputError>([&] { load_checkpoint(folder_.path().string()); });
  }

 private:
  testing::TemporaryFolder folder_;
};

TEST(Encoders, ReadMaskTokenFromTokenizerFiles) {
  const ChangedLayout bert("bert", "{}");
  EXPECT_EQ(mask_id(load_checkpoint(bert.path().string()).model.config), -1);
  EXPECT_TRUE(is_masked_model(load_checkpoint(bert.path().string()).model.config));
  write_file(bert.path() / "vocab.txt", "[PAD]\n[CLS]\n[SEP]\n[MASK]\nword\n");
  EXPECT_EQ(mask_id(load_checkpoint(bert.path().string()).model.config), 3);
  const ChangedLayout roberta("roberta", "{}");
  write_file(roberta.path() / "vocab.json", R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<mask>": 50})");
  EXPECT_EQ(mask_id(load_checkpoint(roberta.path().string()).model.config), 50);
}

// Released models use the config keys of GPT-2.
TEST(Encoders, ReadReleasedConfigOfNomicBert) {
  const ChangedLayout released("nomic_bert", R"({
    "hidden_size": null, "n_embd": 32, "num_hidden_layers": null, "n_layer": 2,
    "num_attention_heads": null, "n_head": 4, "intermediate_size": null, "n_inner": 24,
    "max_position_embeddings": null, "n_positions": 70, "layer_norm_eps": null,
    "layer_norm_epsilon": 1e-12, "hidden_act": null, "activation_function": "swiglu",
    "rope_parameters": null, "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0,
    "prenorm": false, "qkv_proj_bias": false, "causal": false})");
  EXPECT_TRUE(load_checkpoint(released.path().string()).model.config ==
              load_checkpoint(layout("nomic_bert").string()).model.config);
  for (const char* key : {"prenorm", "qkv_proj_bias", "causal", "use_rms_norm"}) {
    const ChangedLayout other("nomic_bert", "{\"" + std::string(key) + "\": true}");
    EXPECT_NE(other.error().find(key), std::string::npos) << other.error();
  }
  const ChangedLayout gelu("nomic_bert", R"({"activation_function": "gelu"})");
  EXPECT_NE(gelu.error().find("swiglu"), std::string::npos) << gelu.error();
}

TEST(Encoders, NoteOmittedTensors) {
  const Checkpoint checkpoint = load_checkpoint(layout("bert-pretraining").string());
  ASSERT_EQ(checkpoint.model.notes.size(), 2u);
  EXPECT_NE(checkpoint.model.notes[0].find("bert.pooler."), std::string::npos);
  EXPECT_NE(checkpoint.model.notes[1].find("cls.seq_relationship."), std::string::npos);
  EXPECT_TRUE(load_checkpoint(layout("bert").string()).model.notes.empty());
}

TEST(Encoders, DropUnusedPositionRows) {
  const ModelConfig config = load_checkpoint(layout("roberta").string()).model.config;
  EXPECT_EQ(config.context, 68);  // the table has 70 rows
}

TEST(Encoders, RejectUnsupportedSettingsByName) {
  const auto expect = [](const std::string& name, const std::string& members,
                         const std::string& setting) {
    const std::string error = ChangedLayout(name, members).error();
    EXPECT_NE(error.find(setting), std::string::npos) << error;
  };
  expect("bert", R"({"position_embedding_type": "relative_key"})", "position_embedding_type");
  expect("bert", R"({"is_decoder": true})", "is_decoder");
  expect("bert", R"({"hidden_act": "mish"})", "hidden_act");
  expect("albert", R"({"inner_group_num": 2})", "inner_group_num");
  expect("deberta-v2", R"({"conv_kernel_size": 3})", "conv_kernel_size");
  expect("deberta-v2", R"({"pos_att_type": ["c2p"]})", "pos_att_type");
  expect("deberta-v2", R"({"position_biased_input": true})", "position_biased_input");
  expect("bart", R"({"encoder_ffn_dim": 48})", "encoder_ffn_dim");
  expect("marian", R"({"share_encoder_decoder_embeddings": false})",
         "share_encoder_decoder_embeddings");
  expect("t5", R"({"feed_forward_proj": "gated-relu"})", "feed_forward_proj");
  expect("xlnet", R"({"attn_type": "uni"})", "attn_type");
  expect("vit", R"({"num_channels": 1})", "num_channels");
  expect("modernbert", R"({"layer_types": ["full_attention"]})", "layer_types");
  expect("longformer", R"({"attention_window": [7]})", "attention_window");
  expect("decision_transformer", R"({"scale_attn_weights": false})", "scale_attn_weights");
}

// Tests the parameter only: the reference has 7 tokens, so its distances never reach a clamp_len of
// 9.
TEST(Encoders, XlnetClampsDistances) {
  const auto clamp = [](const Checkpoint& checkpoint) {
    const Values& values = checkpoint.model.config.groups[0][0].encoding.values;
    return values.has("clamp") ? values.integer("clamp") : 0;
  };
  EXPECT_EQ(clamp(load_checkpoint(layout("xlnet").string())), 0);
  EXPECT_EQ(clamp(load_checkpoint(ChangedLayout("xlnet", R"({"clamp_len": 9})").path().string())),
            9);
}

TEST(Encoders, BigBirdBlocksFollowConfig) {
  const ChangedLayout sparse(
      "big_bird", R"({"attention_type": "block_sparse", "block_size": 4, "num_random_blocks": 1})");
  const Checkpoint checkpoint = load_checkpoint(sparse.path().string());
  const HeadGroup& group = checkpoint.model.config.groups[0][0];
  ASSERT_EQ(group.variant.id, "bigbird");
  const Pattern pattern = variant("bigbird").pattern(
      {.values = group.variant.values, .weights = {}, .heads = 4, .queries = 40, .keys = 40});
  for (Index head = 0; head < 4; ++head) {
    for (Index i = 0; i < 40; ++i) {
      EXPECT_TRUE(pattern.allowed(head, i, 2));   // first block: all rows attend to it
      EXPECT_TRUE(pattern.allowed(head, i, 37));  // last block: all rows attend to it,
      EXPECT_TRUE(pattern.allowed(head, 38, i));  // and its rows attend to all keys
      EXPECT_TRUE(pattern.allowed(head, i, std::min<Index>(39, i + 4)));
    }
    EXPECT_EQ(pattern.row_size(head, 18), 4 * (2 + 3 + 1));
  }
  bool differs = false;
  for (Index j = 0; j < 40; ++j) differs |= pattern.allowed(0, 18, j) != pattern.allowed(1, 18, j);
  for (Index j = 0; j < 40; ++j) differs |= pattern.allowed(0, 18, j) != pattern.allowed(2, 18, j);
  EXPECT_TRUE(differs);
}

TEST(Clip, LoadsTextAndImageTowers) {
  const std::string folder = layout("clip").string();
  const Checkpoint texts = load_checkpoint(folder),
                   images = load_checkpoint(folder + "/vision_model");
  EXPECT_TRUE(texts.model.config.causal);
  EXPECT_EQ(load_checkpoint(folder + "/text_model").model.config, texts.model.config);
  EXPECT_TRUE(input_kind(images.model.config.input.id).uses_patches);
  EXPECT_EQ(images.name, "clip/vision_model");
  EXPECT_NE(testing::message_of<InputError>([] {
              load_checkpoint(layout("bert").string() + "/vision_model");
            }).find("vision_model"),
            std::string::npos);
}

// CLIPForImageClassification
TEST(Clip, SuggestsImageTowerOfClassifier) {
  const ChangedLayout clip("clip", "{}");
  const fs::path file = clip.path() / "model.safetensors";
  const SafetensorsFile tensors = read_safetensors(file);
  SafetensorsFile images;
  for (const auto& [name, tensor] : tensors.tensors) {
    if (name.starts_with("vision_model.")) images.tensors.emplace(name, tensor.copy());
  }
  images.tensors["classifier.weight"] = stored(Tensor::zeros({2, 32}));
  write_safetensors(clip.path() / "other.safetensors", images);
  fs::rename(clip.path() / "other.safetensors", file);
  const std::string folder = clip.path().string();
  EXPECT_EQ(testing::message_of<InputError>([&] { load_checkpoint(folder); }),
            folder + "/config.json: expected a text tower, found only an image tower: open " +
                folder + "/vision_model");
  EXPECT_TRUE(
      input_kind(load_checkpoint(folder + "/vision_model").model.config.input.id).uses_patches);
}

TEST(Vision, ReadsNormalisationFromPreprocessor) {
  const Values image = load_checkpoint(layout("vit").string()).model.config.input.values;
  EXPECT_EQ(image.get<std::vector<double>>("mean"), (std::vector<double>{0.4, 0.5, 0.6}));
  const ChangedLayout without("vit", "{}");
  fs::remove(without.path() / "preprocessor_config.json");
  EXPECT_EQ(load_checkpoint(without.path().string())
                .model.config.input.values.get<std::vector<double>>("mean"),
            std::vector<double>(3, 0.5));
}

// A stack without a stored table uses sinusoids, as in the Hugging Face libraries. The layout
// pegasus-table compares the results with these libraries.
TEST(Marian, UsesStoredPositionTable) {
  const ChangedLayout marian("marian", "{}");
  const fs::path file = marian.path() / "model.safetensors";
  SafetensorsFile tensors = read_safetensors(file);
  const std::string name = "model.encoder.embed_positions.weight";
  for (const char* stack : {"encoder.", "decoder."}) {
    tensors.tensors.erase("model." + std::string(stack) + "embed_positions.weight");
  }
  tensors.tensors[name] = stored(Tensor::full({70, 32}, 0.5f));
  SafetensorsFile copy;
  for (const auto& [stored_name, tensor] : tensors.tensors) {
    copy.tensors.emplace(stored_name, tensor.copy());
  }
  write_safetensors(marian.path() / "other.safetensors", copy);
  fs::rename(marian.path() / "other.safetensors", file);
  const Model model = load_checkpoint(marian.path().string()).model;
  EXPECT_EQ(model.config.groups[0][0].encoding.id, "learned");
  EXPECT_EQ(model.weights.at("encoder.embed.pos.embedding").value()[5], 0.5f);
  const Tensor decoder = model.weights.at("embed.pos.embedding").value();
  EXPECT_EQ(decoder(0, 0), 0);
  EXPECT_NEAR(decoder(1, 0), std::sin(1.0F), 1e-6);
  EXPECT_EQ(load_checkpoint(layout("marian").string()).model.config.groups[0][0].encoding.id,
            "sinusoidal");
}

TEST(Encoders, FindMaskTokenInEveryFile) {
  const auto mask = [](const std::string& layout, const std::string& file,
                       const std::string& text) {
    const ChangedLayout folder(layout, "{}");
    write_file(folder.path() / file, text);
    return mask_id(load_checkpoint(folder.path().string()).model.config);
  };
  EXPECT_EQ(mask("bert", "vocab.txt", "[PAD]\n\n[MASK]"), 2);  // third line; the second is empty
  EXPECT_EQ(mask("bert", "vocab.txt", "[MASK]\r\nword\r\n"), 0);
  EXPECT_EQ(mask("bert", "vocab.txt", "[PAD]\r\n[MASK]\r\nword\r\n"), 1);
  EXPECT_EQ(mask("bert", "vocab.txt", ""), -1);
  const Index vocabulary =
      load_checkpoint(ChangedLayout("bert", "{}").path().string()).model.config.vocabulary;
  const auto row = [&](Index id) { return R"({"[MASK]": )" + std::to_string(id) + "}"; };
  EXPECT_EQ(mask("bert", "vocab.json", row(vocabulary - 1)), vocabulary - 1);
  EXPECT_EQ(mask("bert", "vocab.json", row(vocabulary)), -1);
  EXPECT_EQ(mask("bert", "vocab.json", row(0)), 0);
  EXPECT_EQ(mask("bert", "vocab.json", R"({"[MASK]": "0"})"), -1);
  EXPECT_EQ(mask("bert", "vocab.json", R"(["[MASK]"])"), -1);
}

TEST(Vision, ReadsSideLengthsFromOneOrTwoNumbers) {
  const auto load_error = [](const std::string& members) {
    return ChangedLayout("vit", members).error();
  };
  const Json config = parse_json(
      read_file(ChangedLayout("vit", "{}").path() / "config.json", 1 << 20), "config.json");
  const Index patch = config["patch_size"].get<Index>();
  const auto sides = [](Index height, Index width) {
    return R"({"image_size": [)" + std::to_string(height) + ", " + std::to_string(width) + "]}";
  };
  const Index largest = 4096 / patch * patch;
  const auto is_size = [](const std::string& found) {
    return found.find("image_size: expected a number of pixels, or two") != std::string::npos;
  };
  for (const auto& [height, width] : {std::pair<Index, Index>{patch, largest}, {largest, patch}}) {
    EXPECT_FALSE(is_size(load_error(sides(height, width)))) << load_error(sides(height, width));
  }
  for (const auto& [height, width] :
       {std::pair<Index, Index>{patch, 4097}, {4097, patch}, {0, patch}, {patch, 0}, {-1, patch}}) {
    EXPECT_TRUE(is_size(load_error(sides(height, width)))) << load_error(sides(height, width));
  }
  EXPECT_TRUE(is_size(load_error(R"({"image_size": [8]})")));
  EXPECT_TRUE(is_size(load_error(R"({"image_size": [8, 8, 8]})")));
  EXPECT_TRUE(is_size(load_error(R"({"image_size": [8.0, 8]})")));
  // Largest supported size and the first beyond it, with patches of one pixel.
  for (const Index side : {4096, 4097}) {
    const std::string found =
        load_error(R"({"patch_size": [1, 1], "image_size": [)" + std::to_string(side) + ", 1]}");
    EXPECT_EQ(is_size(found), side > 4096) << found;
  }
  const std::string piece = "[" + std::to_string(patch) + ", " + std::to_string(patch) + "]";
  const Index size = config["image_size"].is_array() ? config["image_size"][0].get<Index>()
                                                     : config["image_size"].get<Index>();
  const std::string image = "[" + std::to_string(size) + ", " + std::to_string(size) + "]";
  EXPECT_EQ(load_error(R"({"patch_size": )" + piece + R"(, "image_size": )" + image + "}"),
            "no error");
  EXPECT_NE(load_error(sides(size, size + 1)).find("a multiple of patch_size"), std::string::npos);
  EXPECT_NE(load_error(sides(size + 1, size)).find("a multiple of patch_size"), std::string::npos);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
