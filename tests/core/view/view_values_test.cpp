#include "core/view/view_values.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace attnscope {
namespace {

TEST(ViewSettings, APartIsWrittenWhereItIsNamed) {
  ViewSettings settings;
  const Json plain = to_json(settings);
  for (const char* key : {"stack", "kind", "step", "segment"}) EXPECT_FALSE(plain.contains(key));
  EXPECT_EQ(view_settings_from_json(plain, "view"), settings);
  settings.part = {Stack::Encoder, AttentionKind::Cross, 3, 0};
  EXPECT_EQ(view_settings_from_json(to_json(settings), "view"), settings);
  EXPECT_EQ(to_json(settings)["stack"].text(), "encoder");
}

TEST(ViewSettings, RefusesOtherParts) {
  EXPECT_THROW(view_settings_from_json(Json::parse(R"({"stack": "both"})"), "view"), InputError);
  EXPECT_THROW(view_settings_from_json(Json::parse(R"({"kind": 1})"), "view"), InputError);
  EXPECT_THROW(view_settings_from_json(Json::parse(R"({"step": -1})"), "view"), InputError);
}

}  // namespace
}  // namespace attnscope
