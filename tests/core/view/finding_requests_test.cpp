// Finding requests that views derive from their settings.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/view/view.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Settings of the finding `id` in the requests of the session's view; nullopt if not requested.
std::optional<FindingSettings> requested_settings(const Session& session, const char* id) {
  const std::vector<FindingRequest> requests = required_findings(session);
  const auto found = std::ranges::find(requests, id, &FindingRequest::id);
  if (found == requests.end()) return std::nullopt;
  return found->settings;
}

Session session_with_view(const char* view) {
  Session session;
  session.view.id = view;
  return session;
}

TEST(FindingRequests, DependOnView) {
  for (const char* id : {"written", "completion", "exit_work", "heads", "replaced", "errors"}) {
    EXPECT_FALSE(requested_settings(session_with_view("map"), id)) << id;
  }
  EXPECT_EQ(requested_settings(session_with_view("flow"), "token_lens"), FindingSettings());
}

TEST(FindingRequests, PreferThresholdOfRun) {
  Session session = session_with_view("depth");
  EXPECT_EQ(requested_settings(session, "exit_work"), FindingSettings(ExitSettings{0.3}));
  set_view_value(session.view, "depth", "threshold", 0.7);
  set_view_value(session.view, "depth", "decay", 2.0);
  EXPECT_EQ(requested_settings(session, "exit_work"), FindingSettings(ExitSettings{0.7, 2.0}));
  session.run.exit = 0.25;
  EXPECT_EQ(requested_settings(session, "exit_work"), FindingSettings(ExitSettings{0.25, 2.0}));
}

TEST(FindingRequests, ContainBeamsOfTarget) {
  Session session = session_with_view("alignment");
  EXPECT_EQ(requested_settings(session, "written"), FindingSettings(TargetSettings{1}));
  set_view_value(session.view, "alignment", "beams", Index{3});
  session.view.layer = 1;  // has no influence
  EXPECT_EQ(requested_settings(session, "written"), FindingSettings(TargetSettings{3}));
}

TEST(FindingRequests, ContainSeedOnlyForSampling) {
  Session session = session_with_view("image");
  set_view_value(session.view, "image", "rows", Index{2});
  set_view_value(session.view, "image", "seed", Index{5});
  EXPECT_EQ(requested_settings(session, "completion"), FindingSettings(CompletionSettings{2}));
  set_view_value(session.view, "image", "completed", std::string("drawn"));
  EXPECT_EQ(requested_settings(session, "completion"),
            FindingSettings(CompletionSettings{2, true, 5}));
}

TEST(FindingRequests, ContainHeadStatisticsOnlyOfFile) {
  Session session = session_with_view("grid");
  EXPECT_FALSE(requested_settings(session, "heads"));
  session.view.statistics_file = "texts";
  session.view.words = true;
  EXPECT_EQ(requested_settings(session, "heads"),
            FindingSettings(HeadTableSettings{"texts", true}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
