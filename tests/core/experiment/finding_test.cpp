#include "core/experiment/finding.h"

#include <gtest/gtest.h>

#include <set>

#include "core/attention/map_pyramid.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/experiment/head_table.h"
#include "core/experiment/run.h"
#include "core/model/logit_lens.h"
#include "core/view/view.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Findings, AreFoundByName) {
  Findings with_lens;
  EXPECT_EQ(with_lens.get(Findings::lens), nullptr);
  const auto lens = std::make_shared<const LogitLens>();
  with_lens.set(Findings::lens, lens);
  EXPECT_EQ(with_lens.get(Findings::lens), lens);
  EXPECT_TRUE(with_lens.has("lens"));
  EXPECT_THROW(with_lens.get(FindingName<const HeadTable>{"lens"}), std::logic_error);
  const Findings reference = reference_findings(std::make_shared<const Trace>());
  const Findings with_lens_and_reference = with_lens.with(reference);
  EXPECT_EQ(with_lens_and_reference.get(Findings::lens), lens);
  EXPECT_EQ(with_lens_and_reference.get(Findings::reference), reference.get(Findings::reference));
  EXPECT_EQ(with_lens_and_reference.only("lens"), with_lens);
  EXPECT_NE(with_lens_and_reference, with_lens);
}

TEST(Findings, HaveExactlyOneWayOfComputation) {
  std::set<std::string> ids;
  for (const Finding& entry : findings()) {
    EXPECT_TRUE(ids.insert(entry.id).second) << entry.id;
    EXPECT_TRUE(entry.summary.ends_with(".")) << entry.id;
    EXPECT_EQ(int{entry.with_run != nullptr} + int{entry.in_background != nullptr} +
                  int{entry.live != nullptr},
              1)
        << entry.id;
    EXPECT_TRUE(entry.exists != nullptr) << entry.id;
    EXPECT_TRUE(entry.live != nullptr || entry.is_reusable != nullptr) << entry.id;
  }
  EXPECT_THROW(finding("none"), InputError);
}

TEST(Findings, ViewsRequestExistingFindings) {
  for (const View& view : views()) {
    for (const ViewFinding& entry : view.findings) EXPECT_NO_THROW(finding(entry.id)) << view.id;
    Session session;
    session.view.id = view.id;
    std::set<std::string> requested;
    for (const FindingRequest& request : required_findings(session)) {
      EXPECT_TRUE(requested.insert(request.id).second) << view.id << ": " << request.id;
    }
    EXPECT_TRUE(requested.contains("reference")) << view.id;
  }
  EXPECT_TRUE(view("depth").reads("lens"));
  EXPECT_FALSE(view("map").reads("lens"));
}

class BackgroundFindings : public ::testing::Test {
 protected:
  BackgroundFindings() {
    testing::save_byte_model(folder_.path() / "model", 2, 16, 12);
    session_.run.model = (folder_.path() / "model").string();
    write_file(folder_.path() / "texts", "abcab\n\nxyxy\n");
  }
  Findings compute(const std::vector<FindingRequest>& requests) {
    return compute_background_findings(session_, requests, run_, {});
  }
  testing::TemporaryFolder folder_;
  Session session_;
  ExperimentRun run_{cpu_only()};
};

TEST_F(BackgroundFindings, AreComputedIfRequestedAndAvailable) {
  EXPECT_EQ(compute({{"lens"}, {"maps"}}), Findings());
  const FindingRequest request{"heads", HeadTableSettings{(folder_.path() / "texts").string()}};
  const auto heads = compute({request}).get(Findings::heads);
  ASSERT_NE(heads, nullptr);
  EXPECT_EQ(heads->texts, 2);
  session_.run.tensors.file = "a.npy";
  EXPECT_EQ(compute({request}), Findings());
}

TEST_F(BackgroundFindings, RemainValidForAnotherText) {
  const Finding& heads = finding("heads");
  RunSpec other_spec = session_.run;
  other_spec.text = "another";
  EXPECT_TRUE(heads.is_reusable(session_.run, other_spec));
  other_spec.causal = false;
  EXPECT_FALSE(heads.is_reusable(session_.run, other_spec));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
