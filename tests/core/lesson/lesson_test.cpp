#include "core/lesson/lesson.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/published_model.h"
#include "core/experiment/run.h"
#include "core/view/export/picture.h"
#include "tests/support/compare.h"
#include "tests/support/pattern_match.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

class Lessons : public ::testing::Test {
 protected:
  Lesson load(const std::string& text) {
    write_file(folder_.path() / "02-a-lesson.json", text);
    return load_lesson(folder_.path() / "02-a-lesson.json");
  }
  testing::TemporaryFolder folder_;
};

TEST_F(Lessons, PatchSessionInEachStep) {
  const Lesson lesson = load(R"({"lesson": 1, "title": "T", "summary": "S", "source": "A",
    "session": {"attnscope": 1, "text": "a b", "causal": true, "view": {"type": "map", "head": 2}},
    "steps": [{"title": "one", "text": "first"},
              {"title": "two", "text": "second", "notes": "n",
               "session": {"causal": null, "view": {"type": "grid"}},
               "claims": [{"text": "c", "measure": "entropy", "most": 3}]}]})");
  EXPECT_EQ(lesson.id, "a-lesson");
  ASSERT_EQ(lesson.steps.size(), 2u);
  EXPECT_EQ(lesson.steps[0].session.run.causal, true);
  EXPECT_EQ(lesson.steps[1].session.run.causal, std::nullopt);
  EXPECT_EQ(lesson.steps[1].session.view.id, "grid");
  EXPECT_EQ(lesson.steps[1].session.view.head, 2);
  EXPECT_EQ(lesson.steps[1].claims[0].head, 2);
}

TEST_F(Lessons, RejectInvalidFiles) {
  const auto expect_refusal = [&](const std::string& text) {
    EXPECT_THROW(load(text), InputError) << text;
  };
  expect_refusal("");
  expect_refusal("[]");
  expect_refusal(R"({"lesson": 2, "title": "T", "summary": "S", "source": "A",
              "session": {"attnscope": 1}, "steps": [{"title": "a", "text": "b"}]})");
  expect_refusal(R"({"lesson": 1, "title": "T", "summary": "S", "source": "A",
              "session": {"attnscope": 1}, "steps": []})");
  expect_refusal(R"({"lesson": 1, "title": "T", "summary": "S", "source": "A",
              "session": {"attnscope": 1}, "steps": [{"title": "a"}]})");
  expect_refusal(R"({"lesson": 1, "title": "T", "summary": "S", "source": "A", "more": 1,
              "session": {"attnscope": 1}, "steps": [{"title": "a", "text": "b"}]})");
  EXPECT_THROW(find_lesson("no-such-lesson"), InputError);
  const auto error_message = [](const std::string& name) -> std::string {
    try {
      find_lesson(name);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(error_message((folder_.path() / "missing").string()).find("no such file"),
            std::string::npos);
  EXPECT_NE(error_message("missing.json").find("no such file"), std::string::npos);
  EXPECT_NE(error_message(folder_.path().string()).find("something else"), std::string::npos);
  EXPECT_NE(error_message("no-such-lesson").find("self-attention"), std::string::npos);
}

// A step whose model is not installed is omitted, and announced in the step before it.
TEST_F(Lessons, OmitStepsThatRequireAnotherModel) {
  const std::string before = R"({"lesson": 1, "title": "T", "summary": "S", "source": "A",
    "session": {"attnscope": 1}, "steps": [{"title": "one", "text": "first"}, )";
  const Lesson lesson =
      load(before + R"({"requires": "no-such-model", "title": "two", "text": "second"}]})");
  ASSERT_EQ(lesson.steps.size(), 1u);
  EXPECT_EQ(lesson.steps[0].text,
            "first One more step, “two”, follows once the model no-such-model is installed.");
  EXPECT_THROW(load(before + R"({"requires": 3, "title": "two", "text": "second"}]})"), InputError);
  EXPECT_THROW(load(before + R"({"requires": "no-such-model", "title": "two"}]})"), InputError);
}

// Published models can be fetched with the menu File. The note names the model and its menu item,
// not its file.
TEST_F(Lessons, NameMenuThatFetchesRequiredModel) {
  ::setenv("XDG_DATA_HOME", folder_.path().c_str(), 1);
  const Lesson lesson = load(R"({"lesson": 1, "title": "T", "summary": "S", "source": "A",
    "session": {"attnscope": 1}, "steps": [{"title": "one", "text": "first"}, {"requires": ")" +
                             smollm2().file + R"(", "title": "two", "text": "second"}]})");
  ::unsetenv("XDG_DATA_HOME");
  EXPECT_EQ(lesson.steps[0].text,
            "first One more step, “two”, follows once SmolLM2-135M is installed (menu File → Get "
            "SmolLM2-135M, 98 MB).");
}

TEST(BundledLessons, CoverAllArticles) {
  std::set<std::string> ids;
  for (const Lesson& lesson : bundled_lessons()) ids.insert(lesson.id);
  for (const char* id :
       {"self-attention", "queries",   "heads",        "joined",    "farther",  "cached",
        "depth",          "order",     "sinusoids",    "rope",      "alibi",    "sparse",
        "adaptive",       "induction", "convolution",  "alignment", "memory",   "retrieval",
        "halting",        "exits",     "trajectories", "images",    "efficient"}) {
    EXPECT_TRUE(ids.contains(id)) << id;
  }
}

// Steps that compare two runs show the same head of both runs, or measure both.
TEST(BundledLessons, CompareSameHead) {
  for (const Lesson& lesson : bundled_lessons()) {
    for (const LessonStep& step : lesson.steps) {
      if (const std::optional<RunView>& b = step.session.b) {
        EXPECT_EQ(b->view.layer, step.session.view.layer) << lesson.id << step.title;
        EXPECT_EQ(b->view.head, step.session.view.head) << lesson.id << step.title;
        const bool shows_both = step.session.view.id == "compare" ||
                                step.text.find("hold Shift") != std::string::npos ||
                                step.text.find("Hold Shift") != std::string::npos;
        const bool measures_both = std::ranges::any_of(
            step.claims, [](const Claim& c) { return c.other || c.measure == "difference"; });
        EXPECT_TRUE(shows_both || measures_both) << lesson.id << ": " << step.title;
      }
    }
  }
}

// Values within one unit of the last digit of a claim's percentage: half a unit for its rounding,
// half a unit for rounding on other processors. nullopt if the claim has no percentage, or only a
// limit.
std::optional<std::pair<double, double>> stated_range(const std::string& claim) {
  constexpr const char* limit = "at most|at least|less than|more than|All but";
  if (!testing::find_match(claim, limit).empty()) return std::nullopt;
  const testing::Match match = testing::find_match(claim, "([0-9]+)(\\.[0-9]+)?%");
  if (match.empty()) return std::nullopt;
  const double value = std::stod(match[0]) / 100;
  const double digit = match[2].empty() ? 0.01 : 0.001;
  return std::pair{value - digit, value + digit};
}

// A claim and its check state the same: the measured value is the stated percentage.
void expect_stated(const Claim& claim, const ClaimCheck& checked) {
  const auto range = stated_range(claim.text);
  if (!range) return;
  EXPECT_GE(checked.value, range->first) << claim.text;
  EXPECT_LE(checked.value, range->second) << claim.text;
}

TEST(BundledLessons, ClaimsHoldAndPicturesCanBeDrawn) {
  ExperimentRun run{cpu_only()};
  for (const Lesson& lesson : bundled_lessons()) {
    for (const LessonStep& step : lesson.steps) {
      SCOPED_TRACE(lesson.id + ": " + step.title);
      const std::vector<FindingRequest> requests = required_findings(step.session);
      Traces traces = run.observe(step.session, requests);
      traces.findings.add(compute_background_findings(step.session, requests, run, {}));
      for (const Claim& claim : step.claims) {
        const ClaimCheck checked = check(claim, traces);
        EXPECT_TRUE(checked.holds) << claim.text << ' ' << to_string(measured_text(claim, checked));
        expect_stated(claim, checked);
      }
      EXPECT_NO_THROW(
          lay_out_picture(*traces.trace, step.session, PictureOptions(), traces.findings));
    }
  }
}

// Relative file names refer to the lesson's folder. An empty name stays empty.
TEST_F(Lessons, ResolveRelativeFiles) {
  const Lesson lesson = load(R"({"lesson": 1, "title": "T", "summary": "S", "source": "A",
    "session": {"attnscope": 1},
    "steps": [{"title": "one", "text": "first", "session": {"text": "a"}},
              {"title": "two", "text": "second", "session": {"input": "../w.safetensors"}},
              {"title": "three", "text": "third", "session": {"input": "/tmp/w.safetensors"}}]})");
  EXPECT_EQ(lesson.steps[0].session.run.input, "");
  EXPECT_EQ(lesson.steps[0].session.run.tensors.file, "");
  EXPECT_EQ(lesson.steps[1].session.run.input,
            (folder_.path().parent_path() / "w.safetensors").string());
  EXPECT_EQ(lesson.steps[2].session.run.input, "/tmp/w.safetensors");
  std::filesystem::copy_file(folder_.path() / "02-a-lesson.json", folder_.path() / "07.json");
  EXPECT_EQ(load_lesson(folder_.path() / "07.json").id, "07");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
