#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/experiment/session.h"
#include "core/view/session_file.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Session full_session() {
  Session session;
  session.run.text = "Alice \"was\" \xe4\xb8\xad\n";
  session.run.ids = {1, 2, 3};
  session.run.model = "/some/where";
  session.run.variant = Choice{"local", default_values(variant("local").parameters)};
  session.run.variant->values.set("window", Index{7});
  session.run.encoding = Choice{"rope", default_values(encoding("rope").parameters)};
  session.run.causal = false;
  session.run.groups = {{{0, 2}, {1, 3}, session.run.variant, std::nullopt},
                        {{}, {0}, std::nullopt, session.run.encoding}};
  session.run.backend = BackendChoice::Cpu;
  session.run.overlong = Overlong::All;
  session.view.id = "grid";
  session.view.layer = 2;
  session.view.head = 3;
  session.view.colour_map = "magma";
  session.view.colour_end = ColourEnd::Largest;
  session.view.row = 1.5;
  session.view.width = 20;
  session.view.pinned_query = 4;
  RunView& run_b = session.b.emplace();
  run_b.run.text = "Alice";
  run_b.view.head = 1;
  return session;
}

TEST(Session, RoundTripsThroughJson) {
  EXPECT_EQ(session_from_json(to_json(full_session())), full_session());
  EXPECT_EQ(session_from_json(to_json(Session{})), Session{});
}

TEST(Session, PreservesInvalidUtf8) {
  Session session;
  session.run.text = std::string("\xff\x00\xe4zz", 5);
  EXPECT_EQ(session_from_json(to_json(session)), session);
  const testing::TemporaryFolder folder;
  save_session(folder.path() / "s.json", session);
  EXPECT_EQ(load_session(folder.path() / "s.json"), session);
}

TEST(Session, RejectsUnknownOrInvalidMembers) {
  const auto expect_rejected = [](const std::string& text) {
    const testing::TemporaryFolder folder;
    write_file(folder.path() / "s.json", text);
    EXPECT_THROW(load_session(folder.path() / "s.json"), InputError) << text;
  };
  expect_rejected("");
  expect_rejected("{}");  // no version
  for (const char* group :
       {"{}", "3", R"({"layers": [0]})", R"({"position": {"type": "nonesuch"}})",
        R"({"layers": [], "position": {"type": "alibi"}})",
        R"({"layers": [-1], "position": {"type": "alibi"}})",
        R"({"heads": ["a"], "position": {"type": "alibi"}})",
        R"({"head": [0], "position": {"type": "alibi"}})"}) {
    expect_rejected(std::string(R"({"attnscope": 1, "groups": [)") + group + "]}");
  }
  expect_rejected(R"({"attnscope": 2})");
  expect_rejected(R"({"attnscope": 1, "txt": "a"})");
  expect_rejected(R"({"attnscope": 1, "text": 3})");
  expect_rejected(R"({"attnscope": 1, "view": {"type": "nothing"}})");
  expect_rejected(R"({"attnscope": 1, "view": {"colour_map": "nothing"}})");
  expect_rejected(R"({"attnscope": 1, "view": {"options": 3}})");
  expect_rejected(R"({"attnscope": 1, "view": {"options": {"nothing": {}}}})");
  expect_rejected(R"({"attnscope": 1, "view": {"options": {"map": {"nothing": 1}}}})");
  expect_rejected(R"({"attnscope": 1, "text_hex": "0g"})");
  expect_rejected(R"({"attnscope": 1, "text_hex": "012"})");
  expect_rejected(R"({"attnscope": 1, "ids": [-1]})");
  expect_rejected(R"({"attnscope": 1, "ids": [4294967296]})");
  expect_rejected(R"({"attnscope": 1, "variant": {"type": "local", "windw": 3}})");
  expect_rejected(R"({"attnscope": 1, "variant": {}})");
  expect_rejected(R"({"attnscope": 1, "position": "rope"})");
  expect_rejected(R"({"attnscope": 1, "backend": "tpu"})");
  expect_rejected(R"({"attnscope": 1, "overlong": "middle"})");
  expect_rejected(R"({"attnscope": 1, "view": {"type": "map", "layer": -1}})");
  expect_rejected(R"({"attnscope": 1, "view": {"zoom": 1}})");
}

TEST(Session, ErrorsBeginWithFileName) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "s.json";
  for (const char* text : {"{", "{}", R"({"attnscope": 1, "view": {"type": "none"}})",
                           R"({"attnscope": 1, "interventions": [{"type": "none"}]})"}) {
    write_file(file, text);
    try {
      load_session(file);
      ADD_FAILURE() << text;
    } catch (const InputError& e) {
      EXPECT_EQ(std::string(e.what()).find(file.string()), 0U) << e.what();
    }
  }
}

TEST(Session, ContainsAtMostOneOtherRun) {
  const Session session = full_session();
  ASSERT_TRUE(reference_of(session));
  EXPECT_EQ(*reference_of(session), Session{*session.b});
  EXPECT_FALSE(reference_of(Session{}));

  Session with_other_view = session, with_other_run = session;
  with_other_view.b->view.layer = 5;
  EXPECT_TRUE(same_run(session, with_other_view));
  with_other_run.b->run.text = "Bob";
  EXPECT_FALSE(same_run(session, with_other_run));
  with_other_run.b.reset();
  EXPECT_FALSE(same_run(session, with_other_run));

  Json nested = to_json(session);
  nested["compare"]["compare"] = to_json(Session{});
  EXPECT_THROW(session_from_json(nested), InputError);
}

TEST(Session, ViewSettingsDoNotAffectSameRun) {
  Session a = full_session(), b = a;
  b.view.layer = 0;
  EXPECT_TRUE(same_run(a, b));
  b.run.text += "x";
  EXPECT_FALSE(same_run(a, b));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
