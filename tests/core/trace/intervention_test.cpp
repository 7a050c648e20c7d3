#include "core/trace/intervention.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/experiment/session.h"
#include "core/view/session_file.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::string error_message(const std::string& line) {
  try {
    intervention_from_text(line);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Intervention, DescribesTokensByName) {
  const Intervention intervention = intervention_from_text("replace position=7 token=276");
  EXPECT_EQ(describe(intervention), "token 7 is replaced by token 276");
  EXPECT_EQ(
      describe(intervention, {.token = [](std::int32_t id) { return id == 276 ? "␣cat" : ""; }}),
      "token 7 is replaced by “␣cat”");
  EXPECT_EQ(describe(intervention, {.token = [](std::int32_t) { return ""; }}),
            "token 7 is replaced by token 276");
}

TEST(Intervention, ForbidsPairsOfMatchingHeads) {
  const Interventions forbidden{intervention_from_text("forbid layer=1 head=2 query=5 key=3")};
  EXPECT_TRUE(forbids(forbidden, 1, 2, 5, 3));
  EXPECT_FALSE(forbids(forbidden, 1, 2, 5, 4));
  EXPECT_FALSE(forbids(forbidden, 1, 2, 6, 3));
  EXPECT_FALSE(forbids(forbidden, 0, 2, 5, 3));
  const Interventions forced{intervention_from_text("force query=5 key=3")};
  EXPECT_FALSE(forbids(forced, 0, 0, 5, 3));
  EXPECT_TRUE(forbids(forced, 0, 0, 5, 4));
  EXPECT_FALSE(forbids(forced, 0, 0, 6, 4));
}

TEST(Intervention, RoundTripsAsText) {
  for (const char* line : {"off layer=2", "off layer=2 head=1", "forbid query=5 key=3",
                           "forbid key=0", "forbid key=0 layer=1 head=2",
                           "force query=5 key=3 layer=0", "replace position=4 token=312",
                           "replace position=4 text= cat", "replace position=0 text=a b = c"}) {
    const Intervention intervention = intervention_from_text(line);
    EXPECT_EQ(to_text(intervention), line);
    EXPECT_FALSE(describe(intervention).empty());
    const Json json = to_json(Interventions{intervention});
    EXPECT_EQ(interventions_from_json(json, "session.interventions"), Interventions{intervention})
        << line;
  }
}

TEST(Intervention, RejectsInvalidText) {
  EXPECT_NE(error_message("kill layer=2").find("off, forbid, force or replace"), std::string::npos);
  EXPECT_NE(error_message("").find("found \"\""), std::string::npos);
  EXPECT_NE(error_message("off").find("layer="), std::string::npos);
  EXPECT_NE(error_message("off head=2").find("layer="), std::string::npos);
  EXPECT_NE(error_message("off layer=two").find("layer=two"), std::string::npos);
  EXPECT_NE(error_message("off layer=-1").find("layer=-1"), std::string::npos);
  EXPECT_NE(error_message("off layer=1 layer=2").find("once"), std::string::npos);
  EXPECT_NE(error_message("off layer=99999999999999999999").find("number"), std::string::npos);
  EXPECT_NE(error_message("forbid query=2").find("key="), std::string::npos);
  EXPECT_NE(error_message("forbid kye=2").find("kye=2"), std::string::npos);
  EXPECT_NE(error_message("replace position=1").find("text="), std::string::npos);
  EXPECT_NE(error_message("replace position=1 token=3 text=a").find("not both"), std::string::npos);
  EXPECT_NE(error_message("replace position=1 text=\xff").find("UTF-8"), std::string::npos);
}

TEST(Intervention, ParsesJsonStrictly) {
  const auto expect_rejected = [](const char* text) {
    EXPECT_THROW(interventions_from_json(Json::parse(text), "i"), InputError) << text;
  };
  expect_rejected("{}");
  expect_rejected(R"([{"type": "stop"}])");
  expect_rejected(R"([{"type": "off"}])");
  expect_rejected(R"([{"type": "off", "layer": 1, "key": 2}])");
  expect_rejected(R"([{"type": "forbid", "key": -1}])");
  expect_rejected(R"([{"type": "forbid", "key": 1.5}])");
  expect_rejected(R"([{"type": "replace", "position": 1}])");
  expect_rejected(R"([7])");
}

TEST(Intervention, RejectsIndicesBeyondTheModel) {
  const ModelExtent extent{.layers = 2, .heads = 3, .vocabulary = 10, .tokens = 5};
  for (const char* line :
       {"off layer=2", "off layer=1 head=3", "forbid key=5", "force query=5 key=0",
        "replace position=5 token=1", "replace position=0 token=10"}) {
    EXPECT_THROW(check({intervention_from_text(line)}, extent), InputError) << line;
  }
  EXPECT_NO_THROW(check({intervention_from_text("force query=4 key=0 layer=1 head=2")}, extent));
}

// Interventions on heads and pairs affect only the self-attention of the decoder.
TEST(Intervention, PairsReferToTheDecodersOwnTokens) {
  const auto expect_rejected = [](const char* line, const ModelExtent& extent) {
    EXPECT_THROW(check({intervention_from_text(line)}, extent), InputError) << line;
  };
  const auto expect_accepted = [](const char* line, const ModelExtent& extent) {
    EXPECT_NO_THROW(check({intervention_from_text(line)}, extent)) << line;
  };
  ModelExtent extent{.layers = 2, .heads = 3, .vocabulary = 10, .tokens = 5};
  extent.attended = 2;  // an encoder-decoder: five source tokens, two target tokens
  expect_rejected("forbid key=2", extent);
  expect_accepted("forbid key=1", extent);
  expect_accepted("replace position=4 token=1", extent);
  extent.attended = -1;
  extent.segments = true;
  expect_rejected("forbid key=0", extent);
  expect_rejected("force query=1 key=0", extent);
  expect_accepted("off layer=1 head=0", extent);
  expect_accepted("replace position=4 token=1", extent);
  extent.segments = false;
  extent.self_attention = false;
  expect_rejected("off layer=0", extent);
  expect_rejected("forbid key=0", extent);
  expect_accepted("replace position=4 token=1", extent);
}

std::vector<Index> allowed_keys(const Pattern& pattern, Index head, Index query) {
  std::vector<Index> result;
  for (Index c = 0; c < pattern.keys(); ++c) {
    if (pattern.allowed(head, query, c)) result.push_back(c);
  }
  return result;
}

using Keys = std::vector<Index>;

TEST(ChangedPattern, ForbidsPairsAndColumns) {
  const Pattern causal = Pattern::causal(4, 4);
  const Interventions list{intervention_from_text("forbid key=0 layer=1"),
                           intervention_from_text("forbid query=3 key=2 head=1")};
  EXPECT_TRUE(changes_pattern(list, 0, 1, 1));
  EXPECT_FALSE(changes_pattern(list, 0, 0, 1));
  const Pattern changed = changed_pattern(causal, list, 1, 0, 2);
  EXPECT_EQ(changed.heads(), 2);
  EXPECT_EQ(changed.rules(), causal.rules());
  EXPECT_EQ(allowed_keys(changed, 0, 0), Keys());
  EXPECT_EQ(allowed_keys(changed, 0, 3), Keys({1, 2, 3}));
  EXPECT_EQ(allowed_keys(changed, 1, 3), Keys({1, 3}));
  EXPECT_EQ(allowed_keys(changed_pattern(causal, list, 0, 1, 1), 0, 3), Keys({0, 1, 3}));
}

TEST(ChangedPattern, ForcesOnlyAllowedKeys) {
  const Pattern causal = Pattern::causal(4, 4);
  const Interventions forced_column{intervention_from_text("force key=1")};
  const Pattern changed = changed_pattern(causal, forced_column, 0, 0, 1);
  EXPECT_EQ(allowed_keys(changed, 0, 0), Keys({0}));  // query 0 may not attend to the forced key
  EXPECT_EQ(allowed_keys(changed, 0, 2), Keys({1}));
  const Interventions same_query{intervention_from_text("force query=3 key=1"),
                                 intervention_from_text("force query=3 key=3"),
                                 intervention_from_text("forbid query=3 key=3")};
  EXPECT_EQ(allowed_keys(changed_pattern(causal, same_query, 0, 0, 1), 0, 3), Keys({1}));
  try {
    changed_pattern(causal, {intervention_from_text("force query=1 key=3")}, 2, 4, 1);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("query 1 may not attend to key 3 in layer 2, head 4"),
              std::string::npos)
        << e.what();
  }
}

TEST(ChangedPattern, RemovesColumnsFromSteppedRuns) {
  PatternBuilder builder(1, 1, 12, {"strided"});
  builder.add(0, 1, 12, 3);  // keys 1, 4, 7 and 10
  builder.next_row();
  const Pattern strided = builder.finish();
  const auto remaining_keys = [&](const char* line) {
    return allowed_keys(changed_pattern(strided, {intervention_from_text(line)}, 0, 0, 1), 0, 0);
  };
  EXPECT_EQ(remaining_keys("forbid key=4"), Keys({1, 7, 10}));
  EXPECT_EQ(remaining_keys("forbid key=1"), Keys({4, 7, 10}));
  EXPECT_EQ(remaining_keys("forbid key=10"), Keys({1, 4, 7}));
  EXPECT_EQ(remaining_keys("forbid key=5"), Keys({1, 4, 7, 10}));
}

TEST(Intervention, ReferenceSessionHasNoInterventions) {
  Session session;
  session.run.text = "abc";
  EXPECT_FALSE(reference_of(session).has_value());
  session.run.interventions.push_back(intervention_from_text("off layer=0"));
  Session reference = session;
  reference.run.interventions.clear();
  EXPECT_EQ(reference_of(session), reference);
  EXPECT_FALSE(same_run(session, reference));
  session.b = Session();
  EXPECT_EQ(reference_of(session), Session());
  EXPECT_EQ(session_from_json(to_json(session)), session);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
