#include "app/window/scope.h"

#include <gtest/gtest.h>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

const Choice kLocal{"local", default_values(variant("local").parameters)};
const Choice kStrided{"strided", default_values(variant("strided").parameters)};
const Choice kAlibi{"alibi", default_values(encoding("alibi").parameters)};

Session session_at(Index layer, Index head) {
  Session session;
  session.view.layer = layer;
  session.view.head = head;
  return session;
}

TEST(Scope, HeadOverridesLayerAndLayerOverridesModel) {
  Session session = session_at(1, 2);
  EXPECT_EQ(effective_variant(session), nullptr);
  choose_variant(session, ChoiceScope::All, default_variant());
  EXPECT_EQ(session.run.variant, default_variant());
  EXPECT_TRUE(session.run.groups.empty());
  choose_variant(session, ChoiceScope::Head, kLocal);
  choose_variant(session, ChoiceScope::Layer, kStrided);
  choose_encoding(session, ChoiceScope::Layer, kAlibi);
  EXPECT_EQ(session.run.groups, (std::vector<GroupChoice>{{{1}, {}, kStrided, kAlibi},
                                                          {{1}, {2}, kLocal, std::nullopt}}));
  EXPECT_EQ(scoped_variant(session, ChoiceScope::Head), kLocal);
  EXPECT_EQ(scoped_encoding(session, ChoiceScope::Head), std::nullopt);
  EXPECT_EQ(*effective_variant(session), kLocal);
  EXPECT_EQ(*effective_encoding(session), kAlibi);
  session.view.head = 0;
  EXPECT_EQ(scoped_variant(session, ChoiceScope::Head), std::nullopt);
  EXPECT_EQ(*effective_variant(session), kStrided);
  session.view.layer = 0;
  EXPECT_EQ(*effective_variant(session), default_variant());
  EXPECT_EQ(effective_encoding(session), nullptr);
}

TEST(Scope, ClearedChoicesLeaveNoGroups) {
  Session session = session_at(0, 1);
  const Session initial = session;
  choose_variant(session, ChoiceScope::Head, std::nullopt);
  EXPECT_EQ(session, initial);
  choose_variant(session, ChoiceScope::Head, kLocal);
  choose_encoding(session, ChoiceScope::Head, kAlibi);
  choose_variant(session, ChoiceScope::Head, std::nullopt);
  EXPECT_EQ(session.run.groups.size(), 1u);
  choose_encoding(session, ChoiceScope::Head, std::nullopt);
  EXPECT_EQ(session, initial);
}

TEST(Scope, DescribesLayersAndHeadsOfChoices) {
  Session session;
  session.run.groups = {{{1}, {}, kLocal, kAlibi}, {{}, {0, 2}, kLocal, std::nullopt}};
  EXPECT_EQ(describe_groups(session),
            (std::vector<std::string>{"Layer 1: Local window, ALiBi, linear bias",
                                      "All layers, heads 0, 2: Local window"}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
