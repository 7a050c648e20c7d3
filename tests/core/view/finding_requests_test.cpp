// Requests for findings that views derive from their settings.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/view/view.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// The settings of the finding `id` that the session's view requests; nullopt if it does not.
std::optional<FindingSettings> requested(const Session& e, const char* id) {
  const std::vector<FindingRequest> requests = required_findings(e);
  const auto found = std::ranges::find(requests, id, &FindingRequest::id);
  if (found == requests.end()) return std::nullopt;
  return found->settings;
}

Session showing(const char* view) {
  Session e;
  e.view.id = view;
  return e;
}

TEST(FindingRequests, DependOnView) {
  for (const char* id : {"written", "completion", "exit_work", "heads", "replaced", "errors"}) {
    EXPECT_FALSE(requested(showing("map"), id)) << id;
  }
  EXPECT_EQ(requested(showing("flow"), "lens"), FindingSettings());
}

TEST(FindingRequests, PreferThresholdOfRun) {
  Session e = showing("depth");
  EXPECT_EQ(requested(e, "exit_work"), FindingSettings(ExitSettings{0.3}));
  set_view_value(e.view, "depth", "threshold", 0.7);
  set_view_value(e.view, "depth", "decay", 2.0);
  EXPECT_EQ(requested(e, "exit_work"), FindingSettings(ExitSettings{0.7, 2.0}));
  e.run.exit = 0.25;
  EXPECT_EQ(requested(e, "exit_work"), FindingSettings(ExitSettings{0.25, 2.0}));
}

TEST(FindingRequests, ContainBeamsOfTarget) {
  Session e = showing("alignment");
  EXPECT_EQ(requested(e, "written"), FindingSettings(TargetSettings{1}));
  set_view_value(e.view, "alignment", "beams", Index{3});
  e.view.layer = 1;  // has no influence
  EXPECT_EQ(requested(e, "written"), FindingSettings(TargetSettings{3}));
}

TEST(FindingRequests, ContainSeedOnlyForSampling) {
  Session e = showing("image");
  set_view_value(e.view, "image", "rows", Index{2});
  set_view_value(e.view, "image", "seed", Index{5});
  EXPECT_EQ(requested(e, "completion"), FindingSettings(CompletionSettings{2}));
  set_view_value(e.view, "image", "completed", std::string("drawn"));
  EXPECT_EQ(requested(e, "completion"), FindingSettings(CompletionSettings{2, true, 5}));
}

TEST(FindingRequests, ContainHeadsOnlyOfFile) {
  Session e = showing("grid");
  EXPECT_FALSE(requested(e, "heads"));
  e.view.statistics_file = "texts";
  e.view.words = true;
  EXPECT_EQ(requested(e, "heads"), FindingSettings(HeadTableSettings{"texts", true}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
