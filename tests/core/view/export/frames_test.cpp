#include "core/view/export/frames.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/stop.h"
#include "core/view/session_file.h"
#include "tests/core/experiment/models.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"
#include "tests/support/picture.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

Session session_for(const std::string& view) {
  Session session;
  session.run.text = "x";
  session.view.id = view;
  return session;
}

FrameOptions options(const std::string& text, std::optional<int> count = std::nullopt) {
  FrameOptions frames = frames_from_text(text);
  frames.count = count;
  return frames;
}

// Frames of an existing run with two layers of two heads each.
class TraceFrames {
 public:
  FrameSequence frames(const Session& session, const FrameOptions& options) {
    return {session, {trace_, nullptr}, options, run_};
  }
  std::string error_for(const std::string& view, const FrameOptions& options) {
    return error_of([&] { frames(session_for(view), options); });
  }
  const Trace& trace() const { return *trace_; }

 private:
  std::shared_ptr<const Trace> trace_ = std::make_shared<const Trace>(testing::run_model({}));
  ExperimentRun run_{cpu_only()};
};

TEST(Frames, ParseKeyAndRange) {
  const FrameOptions frames = frames_from_text("query=-1.5:64");
  EXPECT_EQ(frames.key, "query");
  EXPECT_EQ(frames.from, -1.5);
  EXPECT_EQ(frames.to, 64);
  for (const char* text : {"", "query", "query=", "query=1", "=1:2", "query=1:", "query=a:b",
                           "query=1:2x", "query=nan:2", "query=1:inf", "query:1=2"}) {
    EXPECT_NE(error_of([&] { frames_from_text(text); }).find("KEY=FROM:TO"), std::string::npos)
        << text;
  }
}

TEST(Frames, NumberFileNames) {
  EXPECT_EQ(numbered("a/rope-%03d.png", 7), fs::path("a/rope-007.png"));
  EXPECT_EQ(numbered("%d%%.png", 12), fs::path("12%%.png"));
  EXPECT_EQ(numbered("50%-%2d.png", 123), fs::path("50%-123.png"));
  EXPECT_TRUE(is_numbered("x-%d.png"));
  for (const char* name :
       {"x.gif", "x%.png", "x%s.png", "x%3.png", "x%12345678901234567890d.png", "%d/x.png"}) {
    EXPECT_FALSE(is_numbered(name)) << name;
  }
}

TEST(Frames, SweepOneParameter) {
  TraceFrames run;
  FrameSequence frames = run.frames(session_for("rope"), options("query=10:20", 5));
  for (int n = 0; n < 5; ++n) {
    const Frame frame = frames.frame(n);
    EXPECT_DOUBLE_EQ(view_values(frame.session.view, "rope").real("query"), 10 + 2.5 * n);
    EXPECT_EQ(frame.traces.trace.get(), &run.trace());  // a change of the view needs no new run
  }
  FrameSequence integers = run.frames(session_for("rope"), options("reach=8:16", 3));
  EXPECT_EQ(view_values(integers.frame(1).session.view, "rope").integer("reach"), 12);
  EXPECT_EQ(run.frames(session_for("rope"), options("reach=8:16")).count(), 9);
  EXPECT_EQ(run.frames(session_for("rope"), options("query=8:16")).count(), 60);
}

TEST(Frames, SweepLayerAndHead) {
  TraceFrames run;
  Session session = session_for("compare");
  session.view.head = 1;
  session.b = session;
  FrameSequence frames = run.frames(session, options("layer=1:0"));
  ASSERT_EQ(frames.count(), 2);
  Session first = frames.frame(0).session;
  EXPECT_EQ(first.view.layer, 1);
  EXPECT_EQ(first.b->view.layer, 1);  // both runs show the same layer
  session.b->view.head = 0;
  FrameSequence different_heads = run.frames(session, options("layer=1:0"));
  EXPECT_EQ(different_heads.frame(0).session.b->view.layer, 0);
}

TEST(Frames, SweepTrainingSteps) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = testing::tiny_plan(folder.path());
  plan.steps = 20;
  plan.snapshot_every = 8;
  train(plan, {});
  Session session = session_for("map");
  session.run.text = "the cat";
  session.run.model = plan.folder.string();
  ExperimentRun run(cpu_only());
  const Traces traces = run.observe(session, required_findings(session));
  FrameSequence frames(session, traces, options("training_step=0:20"), run);
  ASSERT_EQ(frames.count(), 4);  // a frame per snapshot: 0, 8, 16, 20
  const Frame second = frames.frame(1), last = frames.frame(3);
  EXPECT_EQ(second.traces.trace->model, "model, step 8");
  EXPECT_EQ(second.session.run.model, (plan.folder / "snapshots" / "step-8").string());
  EXPECT_TRUE(testing::close(last.traces.trace->logits, traces.trace->logits, 0));
  EXPECT_FALSE(testing::close(second.traces.trace->logits, traces.trace->logits, 1e-3));
  // A snapshot moves among those of its own training, also backwards.
  FrameSequence backwards(last.session, last.traces, options("training_step=17:1", 2), run);
  EXPECT_EQ(backwards.frame(0).traces.trace->model, "model, step 16");
  EXPECT_EQ(backwards.frame(1).traces.trace->model, "model, step 8");
  EXPECT_NE(error_of([&] {
              FrameSequence(session, traces, options("training_step=9:17"), run);
            }).find("at least 2 of the values 0 to 20, found 1"),
            std::string::npos);
}

TEST(Frames, RejectInvalidSweepsBeforeRunning) {
  TraceFrames run;
  EXPECT_NE(run.error_for("rope", options("queri=1:2")).find("query, key, base"),
            std::string::npos);
  const std::string message = run.error_for("map", options("variant.window=1:2"));
  EXPECT_NE(message.find("layer, head, variant.scale, position.base"), std::string::npos)
      << message;
  EXPECT_EQ(message.find("variant.window,"), std::string::npos) << message;
  EXPECT_NE(run.error_for("rope", options("reach=8:100000", 5)).find("reach"), std::string::npos);
  EXPECT_NE(run.error_for("rope", options("reach=8:9.5", 5)).find("integer"), std::string::npos);
  EXPECT_NE(run.error_for("map", options("layer=0:2")).find("from 0 to 1"), std::string::npos);
  EXPECT_NE(run.error_for("rope", options("query=1:2", 1)).find("frames"), std::string::npos);
  EXPECT_NE(run.error_for("rope", options("query=1:2", 0)).find("frames"), std::string::npos);
  EXPECT_NE(run.error_for("rope", options("reach=9:9")).find("frames"), std::string::npos);
  FrameOptions without_duration = options("query=1:2");
  without_duration.seconds = 0;
  EXPECT_NE(run.error_for("rope", without_duration).find("seconds"), std::string::npos);
  Session file_statistics = session_for("grid");
  file_statistics.view.statistics_file = "texts";
  const auto error_for = [&](const char* text) {
    return error_of([&] { run.frames(file_statistics, options(text)); });
  };
  EXPECT_NE(error_for("position.base=1:2").find("measured over this text"), std::string::npos);
  // Statistics over other texts remain valid if the layer changes or this text is continued.
  EXPECT_EQ(error_for("layer=0:1"), "");
  EXPECT_EQ(error_for("tokens=0:2"), "");
}

TEST(Frames, VariantAndPositionNumbersChangeHeads) {
  const Trace trace = testing::run_model({.variant = R"({"type": "local", "window": 4})"});
  Index changing = 0;
  for (const MovingNumber& number : moving_numbers(session_for("rope"), trace)) {
    const bool expected = number.key.starts_with("variant.") || number.key.starts_with("position.");
    EXPECT_EQ(number.changes_heads, expected) << number.key;
    changing += number.changes_heads ? 1 : 0;
  }
  EXPECT_GE(changing, 2);
}

TEST(Frames, RejectInvalidFileNames) {
  const auto error_for = [](const char* name) {
    return error_of([&] { check_frames_name(name); });
  };
  EXPECT_NE(error_for("a.png").find("numbered"), std::string::npos);
  EXPECT_NE(error_for("a-%d-%d.png").find("one number"), std::string::npos);
  EXPECT_NE(error_for("a-%d.bmp"), "");
  EXPECT_EQ(error_for("a-%d.png"), "");
  EXPECT_EQ(error_for("a.gif"), "");
}

// A model that runs for each frame.
class RunFrames : public ::testing::Test {
 protected:
  RunFrames() {
    testing::save_byte_model(folder_.path() / "model", 2, 32, 16);
    session_.run.model = (folder_.path() / "model").string();
    session_.run.text = "the cat";
  }
  FrameSequence frames(const FrameOptions& options) {
    return {session_, run_.observe(session_, required_findings(session_)), options, run_};
  }
  testing::TemporaryFolder folder_;
  ExperimentRun run_{cpu_only()};
  Session session_;
};

TEST_F(RunFrames, SweepVariantParameter) {
  session_.run.variant = variant_from_json({{"type", "local"}, {"window", 4}}, "variant");
  FrameSequence moved = frames(options("variant.window=1:5"));
  ASSERT_EQ(moved.count(), 5);
  for (int n = 0; n < 5; ++n) {
    const Frame frame = moved.frame(n);
    EXPECT_EQ(frame.session.run.variant->values.integer("window"), n + 1);
    const Pattern& pattern = *frame.traces.trace->attention.front().result.pattern;
    EXPECT_EQ(pattern.row_size(0, 6), n + 2);  // the query's own position and the window
  }
}

TEST_F(RunFrames, SweepParameterOfOneHeadGroup) {
  GroupChoice group;
  group.layers = {0};
  group.heads = {1};
  group.variant = variant_from_json({{"type", "local"}, {"window", 4}}, "variant");
  session_.run.groups = {group};
  EXPECT_THROW(frames(options("variant.window=1:3")), InputError);  // head 0 attends to all keys
  session_.view.head = 1;
  const Session moved = frames(options("variant.window=1:3")).frame(2).session;
  EXPECT_EQ(moved.run.groups.front().variant->values.integer("window"), 3);
  EXPECT_EQ(moved.run.variant, std::nullopt);
}

// Model whose first heads were trained with the variant Local and a window of 4.
class LocalHeads : public RunFrames {
 protected:
  void save(Index local_heads) {
    ModelConfig config = testing::small_config({.layers = 2, .heads = 4});
    const Choice position = config.groups[0][0].encoding;
    for (auto& layer : config.groups) {
      layer = {{local_heads, local(4), position}};
      if (local_heads < 4) layer.push_back({4 - local_heads, default_variant(), position});
    }
    Checkpoint checkpoint;
    checkpoint.model = make_model(config, 1);
    checkpoint.tokenizer = train_bpe("bytes", 256);
    session_.run.model = (folder_.path() / "local").string();
    save_checkpoint(session_.run.model, checkpoint, false);
  }
  static Choice local(Index window) {
    return variant_from_json({{"type", "local"}, {"window", window}}, "variant");
  }
  static GroupChoice head_two_local() {
    GroupChoice group;
    group.layers = {0};
    group.heads = {2};
    group.variant = local(4);
    return group;
  }
  // Number of keys visible to the last of seven tokens, for each head of a layer.
  static std::vector<Index> visible_keys(const Frame& frame, Index layer) {
    std::vector<Index> counts;
    for (Index head = 0; head < 4; ++head) {
      Index head_in_group = 0;
      const Pattern& pattern =
          *frame.traces.trace->find({layer, head}, &head_in_group)->result.pattern;
      counts.push_back(pattern.row_size(std::min(head_in_group, pattern.heads() - 1), 6));
    }
    return counts;
  }
};

TEST_F(LocalHeads, UniformTrainingSweepsAllHeads) {
  save(4);
  session_.run.groups = {head_two_local()};  // does not affect the shown head
  FrameSequence moved = frames(options("variant.window=1:3"));
  for (int n = 0; n < 3; ++n) {
    const std::vector<Index> expected(4, n + 2);
    const Frame frame = moved.frame(n);
    EXPECT_EQ(visible_keys(frame, 0), expected);
    EXPECT_EQ(visible_keys(frame, 1), expected);
  }
  // A sweep adds no groups, because imported tensors do not accept groups.
  session_.run.groups.clear();
  EXPECT_EQ(frames(options("variant.window=1:3")).frame(0).session.run.groups.size(), 0U);
}

TEST_F(LocalHeads, MixedTrainingSweepsMatchingHeads) {
  save(2);
  session_.view.layer = 1;
  session_.view.head = 1;
  FrameSequence moved = frames(options("variant.window=1:3"));
  for (int n = 0; n < 3; ++n) {
    const Frame frame = moved.frame(n);
    EXPECT_EQ(visible_keys(frame, 1), (std::vector<Index>{5, n + 2, 7, 7}));
    EXPECT_EQ(visible_keys(frame, 0), (std::vector<Index>{5, 5, 7, 7}));
    EXPECT_EQ(frame.session.run.variant, std::nullopt);
  }
}

TEST_F(LocalHeads, OtherHeadGroupDoesNotAffectShownHead) {
  save(2);
  session_.run.groups = {head_two_local()};
  FrameSequence moved = frames(options("variant.window=1:3"));
  for (int n = 0; n < 3; ++n) {
    const Frame frame = moved.frame(n);
    EXPECT_EQ(visible_keys(frame, 0), (std::vector<Index>{n + 2, 5, n + 2, 7}));
    EXPECT_EQ(visible_keys(frame, 1), (std::vector<Index>{5, 5, 7, 7}));
  }
}

TEST_F(RunFrames, SweepGeneratedText) {
  FrameSequence generated = frames(options("tokens=0:12"));
  const std::string sixth =
      generated.frame(6).session.run.text;  // frames can be requested in any order
  std::string previous;
  for (int n = 0; n <= 12; ++n) {
    const Frame frame = generated.frame(n);
    EXPECT_TRUE(frame.session.run.text.starts_with(previous));
    EXPECT_EQ(frame.session.run.text.size(), 7U + static_cast<std::size_t>(n));  // in bytes
    const auto tokens = static_cast<Index>(frame.traces.trace->tokens.size());
    EXPECT_EQ(tokens, std::min<Index>(7 + n, 16));  // the context keeps the last tokens
    previous = frame.session.run.text;
  }
  EXPECT_EQ(generated.frame(6).session.run.text, sixth);
}

TEST(Frames, NumberedPicturesEmbedTheirSession) {
  testing::TemporaryFolder folder;
  TraceFrames run;
  PictureOptions picture;
  picture.scale = 1;
  std::vector<double> progress;
  FrameSequence frames = run.frames(session_for("rope"), options("query=0:6", 3));
  write_frames(folder.path() / "r-%02d.png", frames, picture,
               [&](double fraction) { progress.push_back(fraction); });
  EXPECT_EQ(progress.front(), 0);
  EXPECT_EQ(progress.back(), 1);
  for (int n = 0; n < 3; ++n) {
    const fs::path path = numbered(folder.path() / "r-%02d.png", n);
    const Session loaded = load_session(path);
    EXPECT_EQ(view_values(loaded.view, "rope").real("query"), 3.0 * n);
    const fs::path single_picture = folder.path() / "alone.png";
    write_view(single_picture, run.trace(), loaded, picture);
    EXPECT_EQ(testing::decode_png(read_file(path)).rgba,
              testing::decode_png(read_file(single_picture)).rgba);
  }
}

TEST(Frames, StopOnRequest) {
  testing::TemporaryFolder folder;
  TraceFrames run;
  PictureOptions picture;
  picture.scale = 0.5;
  int reports = 0;
  FrameSequence frames = run.frames(session_for("rope"), options("query=0:6", 9));
  {
    const Stop stop;
    const StopScope scope(stop);
    const auto stop_at_frame = [&](double) {
      if (++reports == 12) stop.request();
    };
    EXPECT_THROW(write_frames(folder.path() / "a.gif", frames, picture, stop_at_frame), Stopped);
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  FrameSequence span_frames = run.frames(session_for("span"), options("z=0:6", 4));
  write_frames(folder.path() / "a.gif", span_frames, picture, {});
  EXPECT_EQ(read_file(folder.path() / "a.gif").substr(0, 6), "GIF89a");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
