#include "core/view/view_values.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(ViewSettings, WritePartIfSet) {
  ViewSettings settings;
  const Json json = to_json(settings);
  for (const char* key : {"stack", "kind", "step", "segment"}) EXPECT_FALSE(json.contains(key));
  EXPECT_EQ(view_settings_from_json(json, "view"), settings);
  settings.part = {Stack::Encoder, AttentionKind::Cross, 3, 0};
  EXPECT_EQ(view_settings_from_json(to_json(settings), "view"), settings);
  EXPECT_EQ(to_json(settings)["stack"].text(), "encoder");
}

TEST(ViewSettings, RejectUnknownParts) {
  EXPECT_THROW(view_settings_from_json(Json::parse(R"({"stack": "both"})"), "view"), InputError);
  EXPECT_THROW(view_settings_from_json(Json::parse(R"({"kind": 1})"), "view"), InputError);
  EXPECT_THROW(view_settings_from_json(Json::parse(R"({"step": -1})"), "view"), InputError);
}

TEST(ViewSettings, ReadColourRangeEnd) {
  for (const ColourEnd end : {ColourEnd::Percentile, ColourEnd::Largest, ColourEnd::One}) {
    ViewSettings settings;
    settings.colour_end = end;
    EXPECT_EQ(view_settings_from_json(to_json(settings), "view"), settings);
  }
  EXPECT_EQ(view_settings_from_json(Json::parse("{}"), "view").colour_end, ColourEnd::Percentile);
  EXPECT_THROW(view_settings_from_json(Json::parse(R"({"colours": "all"})"), "view"), InputError);
  // Sessions written before colour ends existed keep their colours.
  const auto end_of = [](const char* text) {
    return view_settings_from_json(Json::parse(text), "view").colour_end;
  };
  EXPECT_EQ(end_of(R"({"normalise": true})"), ColourEnd::Largest);
  EXPECT_EQ(end_of(R"({"normalise": false})"), ColourEnd::One);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
