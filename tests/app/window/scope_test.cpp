#include "app/window/scope.h"

#include <gtest/gtest.h>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

const Choice kLocal{"local", default_values(variant("local").parameters)};
const Choice kStrided{"strided", default_values(variant("strided").parameters)};
const Choice kAlibi{"alibi", default_values(encoding("alibi").parameters)};

Session looking_at(Index layer, Index head) {
  Session e;
  e.view.layer = layer;
  e.view.head = head;
  return e;
}

TEST(Scope, AppliesToAllToLayerAndToHead) {
  Session e = looking_at(1, 2);
  EXPECT_EQ(last_variant(e), nullptr);
  choose_variant(e, ChoiceScope::All, default_variant());
  EXPECT_EQ(e.run.variant, default_variant());
  EXPECT_TRUE(e.run.groups.empty());
  choose_variant(e, ChoiceScope::Head, kLocal);
  choose_variant(e, ChoiceScope::Layer, kStrided);
  choose_encoding(e, ChoiceScope::Layer, kAlibi);
  EXPECT_EQ(e.run.groups, (std::vector<GroupChoice>{{{1}, {}, kStrided, kAlibi},
                                                    {{1}, {2}, kLocal, std::nullopt}}));
  EXPECT_EQ(scoped_variant(e, ChoiceScope::Head), kLocal);
  EXPECT_EQ(scoped_encoding(e, ChoiceScope::Head), std::nullopt);
  EXPECT_EQ(*last_variant(e), kLocal);
  EXPECT_EQ(*last_encoding(e), kAlibi);
  e.view.head = 0;
  EXPECT_EQ(scoped_variant(e, ChoiceScope::Head), std::nullopt);
  EXPECT_EQ(*last_variant(e), kStrided);
  e.view.layer = 0;
  EXPECT_EQ(*last_variant(e), default_variant());
  EXPECT_EQ(last_encoding(e), nullptr);
}

TEST(Scope, RemovesChoices) {
  Session e = looking_at(0, 1);
  const Session before = e;
  choose_variant(e, ChoiceScope::Head, std::nullopt);
  EXPECT_EQ(e, before);
  choose_variant(e, ChoiceScope::Head, kLocal);
  choose_encoding(e, ChoiceScope::Head, kAlibi);
  choose_variant(e, ChoiceScope::Head, std::nullopt);
  EXPECT_EQ(e.run.groups.size(), 1u);
  choose_encoding(e, ChoiceScope::Head, std::nullopt);
  EXPECT_EQ(e, before);
}

TEST(Scope, DescribesChoices) {
  Session e;
  e.run.groups = {{{1}, {}, kLocal, kAlibi}, {{}, {0, 2}, kLocal, std::nullopt}};
  EXPECT_EQ(describe_groups(e),
            (std::vector<std::string>{"Layer 1: Local window, ALiBi, linear bias",
                                      "All layers, heads 0, 2: Local window"}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
