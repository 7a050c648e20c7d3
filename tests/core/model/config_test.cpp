#include "core/model/config.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

ModelConfig parse_config(const std::string& text) {
  return model_config_from_json(parse_json(text, "config.json"), "config.json");
}

std::string error_of(const std::string& text) {
  try {
    parse_config(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

const std::string kSizes =
    R"("vocabulary": 50, "context": 16, "width": 24, "layers": 2, "heads": 4, "hidden": 32)";

TEST(ModelConfig, FillsInDefaults) {
  const ModelConfig config = parse_config("{" + kSizes + "}");
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.head_size, 6);
  EXPECT_EQ(config.groups.size(), 2u);
  EXPECT_EQ(config.groups[1][0].heads, 4);
  EXPECT_EQ(config.groups[1][0].variant, default_variant());
  EXPECT_TRUE(config.causal);
}

TEST(ModelConfig, RoundTripsThroughJson) {
  const ModelConfig uniform_config =
      parse_config("{" + kSizes + R"(, "kv_heads": 2, "norm": "layer",
      "activation": "gelu_tanh", "gated": false, "attention_biases": true, "tied_output": false,
      "pre_norm": false, "causal": false, "dropout": 0.25,
      "variant": {"type": "local", "window": 3}, "position": {"type": "alibi"}})");
  EXPECT_EQ(model_config_from_json(to_json(uniform_config), "again"), uniform_config);
  EXPECT_TRUE(to_json(uniform_config).contains("variant"));
  const ModelConfig mixed_config = parse_config("{" + kSizes + R"(, "groups": [
      [{"heads": 4}],
      [{"heads": 1, "position": {"type": "rope", "base": 500}},
       {"heads": 3, "variant": {"type": "local", "window": 2, "dilation": 2}}]]})");
  EXPECT_EQ(mixed_config.groups[1].size(), 2u);
  EXPECT_EQ(mixed_config.groups[1][0].encoding.values.real("base"), 500);
  EXPECT_EQ(model_config_from_json(to_json(mixed_config), "again"), mixed_config);
}

TEST(ModelConfig, ReportsInvalidMembers) {
  EXPECT_EQ(error_of("{}"),
            "config.json: vocabulary: expected an integer from 1 to 4194304, found nothing");
  EXPECT_NE(error_of("{" + kSizes + R"(, "kv_heads": 3})").find("multiple of kv_heads 3"),
            std::string::npos);
  EXPECT_NE(error_of("{" + kSizes + R"(, "wdth": 3})").find("\"wdth\": unknown key"),
            std::string::npos);
  EXPECT_NE(error_of("{" + kSizes + R"(, "groups": [[{"heads": 4}]]})").find("2 layers, found 1"),
            std::string::npos);
  EXPECT_NE(error_of("{" + kSizes + R"(, "groups": [[{"heads": 4}], [{"heads": 3}]]})")
                .find("layer 1 has 3 heads, expected 4"),
            std::string::npos);
  EXPECT_NE(error_of("{" + kSizes + R"(, "position": {"type": "rope", "dims": 5}})"), "no error");
  EXPECT_NE(error_of("{" + kSizes + R"(, "variant": {"type": "nonesuch"}})").find("nonesuch"),
            std::string::npos);
  // An input encoding applies to all heads.
  EXPECT_NE(error_of("{" + kSizes + R"(, "groups": [[{"heads": 4}],
      [{"heads": 4, "position": {"type": "sinusoidal"}}]]})"),
            "no error");
}

TEST(ModelConfig, RejectsHugeSizes) {
  for (const char* key : {"vocabulary", "context", "width", "layers", "heads", "hidden"}) {
    Json object = parse_json("{" + kSizes + "}", "x");
    object[key] = std::uint64_t{1} << 62;
    EXPECT_THROW(model_config_from_json(object, "x"), InputError) << key;
    object[key] = -1;
    EXPECT_THROW(model_config_from_json(object, "x"), InputError) << key;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
