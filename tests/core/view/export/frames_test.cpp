#include "core/view/export/frames.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/view/session.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"
#include "tests/support/picture.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

Experiment of_view(const std::string& view) {
  Experiment experiment;
  experiment.text = "x";
  experiment.view.id = view;
  return experiment;
}

FrameOptions options(const std::string& text, std::optional<int> count = std::nullopt) {
  FrameOptions frames = frames_from_text(text);
  frames.count = count;
  return frames;
}

// The frames of a run that is there already, of two layers of two heads.
class OfATrace {
 public:
  FrameSequence frames(const Experiment& experiment, const FrameOptions& options) {
    return {experiment, {trace_, nullptr}, options, run_};
  }
  std::string refused(const std::string& view, const FrameOptions& options) {
    return refusal([&] { frames(of_view(view), options); });
  }
  const Trace& trace() const { return *trace_; }

 private:
  std::shared_ptr<const Trace> trace_ = std::make_shared<const Trace>(testing::run_model({}));
  ExperimentRun run_{cpu_only()};
};

TEST(Frames, FromText) {
  const FrameOptions frames = frames_from_text("query=-1.5:64");
  EXPECT_EQ(frames.key, "query");
  EXPECT_EQ(frames.from, -1.5);
  EXPECT_EQ(frames.to, 64);
  for (const char* text : {"", "query", "query=", "query=1", "=1:2", "query=1:", "query=a:b",
                           "query=1:2x", "query=nan:2", "query=1:inf", "query:1=2"}) {
    EXPECT_NE(refusal([&] { frames_from_text(text); }).find("KEY=FROM:TO"), std::string::npos)
        << text;
  }
}

TEST(Frames, NumbersInNames) {
  EXPECT_EQ(numbered("a/rope-%03d.png", 7), fs::path("a/rope-007.png"));
  EXPECT_EQ(numbered("%d%%.png", 12), fs::path("12%%.png"));
  EXPECT_EQ(numbered("50%-%2d.png", 123), fs::path("50%-123.png"));
  EXPECT_TRUE(is_numbered("x-%d.png"));
  for (const char* name :
       {"x.gif", "x%.png", "x%s.png", "x%3.png", "x%12345678901234567890d.png", "%d/x.png"}) {
    EXPECT_FALSE(is_numbered(name)) << name;
  }
}

TEST(Frames, MoveOneNumber) {
  OfATrace run;
  FrameSequence frames = run.frames(of_view("rope"), options("query=10:20", 5));
  for (int n = 0; n < 5; ++n) {
    const Frame frame = frames.frame(n, Stop());
    EXPECT_DOUBLE_EQ(view_values(frame.experiment.view, "rope").real("query"), 10 + 2.5 * n);
    EXPECT_EQ(frame.traces.trace.get(), &run.trace());  // what only looks different is not run
  }
  FrameSequence whole = run.frames(of_view("rope"), options("reach=8:16", 3));
  EXPECT_EQ(view_values(whole.frame(1, Stop()).experiment.view, "rope").integer("reach"), 12);
  EXPECT_EQ(run.frames(of_view("rope"), options("reach=8:16")).count(), 9);
  EXPECT_EQ(run.frames(of_view("rope"), options("query=8:16")).count(), 60);
}

TEST(Frames, MoveTheLayerAndTheHead) {
  OfATrace run;
  Experiment experiment = of_view("compare");
  experiment.view.head = 1;
  experiment.others = {experiment};
  FrameSequence frames = run.frames(experiment, options("layer=1:0"));
  ASSERT_EQ(frames.count(), 2);
  Experiment first = frames.frame(0, Stop()).experiment;
  EXPECT_EQ(first.view.layer, 1);
  EXPECT_EQ(first.others.front().view.layer, 1);  // both look at the same
  experiment.others.front().view.head = 0;
  FrameSequence apart = run.frames(experiment, options("layer=1:0"));
  EXPECT_EQ(apart.frame(0, Stop()).experiment.others.front().view.layer, 0);
}

TEST(Frames, RefusedBeforeAnythingRuns) {
  OfATrace run;
  EXPECT_NE(run.refused("rope", options("queri=1:2")).find("query, key, base"), std::string::npos);
  const std::string named = run.refused("map", options("variant.window=1:2"));
  EXPECT_NE(named.find("layer, head, variant.scale, position.base"), std::string::npos) << named;
  EXPECT_EQ(named.find("variant.window,"), std::string::npos) << named;
  EXPECT_NE(run.refused("rope", options("reach=8:100000", 5)).find("reach"), std::string::npos);
  EXPECT_NE(run.refused("rope", options("reach=8:9.5", 5)).find("integer"), std::string::npos);
  EXPECT_NE(run.refused("map", options("layer=0:2")).find("from 0 to 1"), std::string::npos);
  EXPECT_NE(run.refused("rope", options("query=1:2", 1)).find("frames"), std::string::npos);
  EXPECT_NE(run.refused("rope", options("query=1:2", 0)).find("frames"), std::string::npos);
  EXPECT_NE(run.refused("rope", options("reach=9:9")).find("frames"), std::string::npos);
  FrameOptions slow = options("query=1:2");
  slow.seconds = 0;
  EXPECT_NE(run.refused("rope", slow).find("seconds"), std::string::npos);
  Experiment over_texts = of_view("grid");
  over_texts.view.statistics_file = "texts";
  const auto refused = [&](const char* text) {
    return refusal([&] { run.frames(over_texts, options(text)); });
  };
  EXPECT_NE(refused("position.base=1:2").find("measured over this text"), std::string::npos);
  // What heads do over other texts stays when the picture moves, or this text goes on.
  EXPECT_EQ(refused("layer=0:1"), "");
  EXPECT_EQ(refused("tokens=0:2"), "");
}

TEST(Frames, OnlyNumbersOfVariantAndEncodingChangeHeads) {
  const Trace trace = testing::run_model({.variant = R"({"type": "local", "window": 4})"});
  Index changing = 0;
  for (const MovingNumber& number : moving_numbers(of_view("rope"), trace)) {
    const bool expected = number.key.starts_with("variant.") || number.key.starts_with("position.");
    EXPECT_EQ(number.changes_heads, expected) << number.key;
    changing += number.changes_heads ? 1 : 0;
  }
  EXPECT_GE(changing, 2);
}

TEST(Frames, NamesThatCanBeWritten) {
  const auto refused = [](const char* name) { return refusal([&] { check_frames_name(name); }); };
  EXPECT_NE(refused("a.png").find("numbered"), std::string::npos);
  EXPECT_NE(refused("a-%d-%d.png").find("one number"), std::string::npos);
  EXPECT_NE(refused("a-%d.bmp"), "");
  EXPECT_EQ(refused("a-%d.png"), "");
  EXPECT_EQ(refused("a.gif"), "");
}

// A model of its own, that runs for each frame.
class RunFrames : public ::testing::Test {
 protected:
  RunFrames() {
    testing::save_byte_model(folder_.path() / "model", 2, 32, 16);
    experiment_.model = (folder_.path() / "model").string();
    experiment_.text = "the cat";
  }
  FrameSequence frames(const FrameOptions& options) {
    return {experiment_, run_.observe(experiment_, findings_read(experiment_), Stop()), options,
            run_};
  }
  testing::TemporaryFolder folder_;
  ExperimentRun run_{cpu_only()};
  Experiment experiment_;
};

TEST_F(RunFrames, OfAVariantsNumber) {
  experiment_.variant = variant_from_json({{"type", "local"}, {"window", 4}}, "variant");
  FrameSequence moved = frames(options("variant.window=1:5"));
  ASSERT_EQ(moved.count(), 5);
  for (int n = 0; n < 5; ++n) {
    const Frame frame = moved.frame(n, Stop());
    EXPECT_EQ(frame.experiment.variant->values.integer("window"), n + 1);
    const Pattern& pattern = *frame.traces.trace->attention.front().result.pattern;
    EXPECT_EQ(pattern.row_count(0, 6), n + 2);  // the query's own place, and the window
  }
}

TEST_F(RunFrames, OfANumberThatOneHeadHas) {
  GroupChoice group;
  group.layers = {0};
  group.heads = {1};
  group.variant = variant_from_json({{"type", "local"}, {"window", 4}}, "variant");
  experiment_.groups = {group};
  EXPECT_THROW(frames(options("variant.window=1:3")), InputError);  // head 0 looks at all
  experiment_.view.head = 1;
  const Experiment moved = frames(options("variant.window=1:3")).frame(2, Stop()).experiment;
  EXPECT_EQ(moved.groups.front().variant->values.integer("window"), 3);
  EXPECT_EQ(moved.variant, std::nullopt);
}

// A model some of whose heads were trained Local, with a window of 4.
class TrainedLocal : public RunFrames {
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
    experiment_.model = (folder_.path() / "local").string();
    save_checkpoint(experiment_.model, checkpoint, false);
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
  // How many keys the last token sees, in each head of a layer. The text has seven tokens.
  static std::vector<Index> seen(const Frame& frame, Index layer) {
    std::vector<Index> counts;
    for (Index head = 0; head < 4; ++head) {
      Index at = 0;
      const Pattern& pattern = *frame.traces.trace->find({layer, head}, &at)->result.pattern;
      counts.push_back(pattern.row_count(std::min(at, pattern.heads() - 1), 6));
    }
    return counts;
  }
};

TEST_F(TrainedLocal, AllHeadsMoveAlikeWhereAllWereTrainedAlike) {
  save(4);
  experiment_.groups = {head_two_local()};  // which says nothing of the head that is shown
  FrameSequence moved = frames(options("variant.window=1:3"));
  for (int n = 0; n < 3; ++n) {
    const std::vector<Index> expected(4, n + 2);
    const Frame frame = moved.frame(n, Stop());
    EXPECT_EQ(seen(frame, 0), expected);
    EXPECT_EQ(seen(frame, 1), expected);
  }
  // Tensors of one's own refuse groups.
  experiment_.groups.clear();
  EXPECT_EQ(frames(options("variant.window=1:3")).frame(0, Stop()).experiment.groups.size(), 0U);
}

TEST_F(TrainedLocal, OneHeadMovesWhereOthersWereTrainedOtherwise) {
  save(2);
  experiment_.view.layer = 1;
  experiment_.view.head = 1;
  FrameSequence moved = frames(options("variant.window=1:3"));
  for (int n = 0; n < 3; ++n) {
    const Frame frame = moved.frame(n, Stop());
    EXPECT_EQ(seen(frame, 1), (std::vector<Index>{5, n + 2, 7, 7}));
    EXPECT_EQ(seen(frame, 0), (std::vector<Index>{5, 5, 7, 7}));
    EXPECT_EQ(frame.experiment.variant, std::nullopt);
  }
}

TEST_F(TrainedLocal, AGroupOfOtherHeadsIsNotTheShownHeads) {
  save(2);
  experiment_.groups = {head_two_local()};
  FrameSequence moved = frames(options("variant.window=1:3"));
  for (int n = 0; n < 3; ++n) {
    const Frame frame = moved.frame(n, Stop());
    EXPECT_EQ(seen(frame, 0), (std::vector<Index>{n + 2, 5, n + 2, 7}));
    EXPECT_EQ(seen(frame, 1), (std::vector<Index>{5, 5, 7, 7}));
  }
}

TEST_F(RunFrames, OfTheTextThatTheModelWrites) {
  FrameSequence written = frames(options("tokens=0:12"));
  const std::string sixth = written.frame(6, Stop()).experiment.text;  // in any order
  std::string before;
  for (int n = 0; n <= 12; ++n) {
    const Frame frame = written.frame(n, Stop());
    EXPECT_TRUE(frame.experiment.text.starts_with(before));
    EXPECT_EQ(frame.experiment.text.size(), 7U + static_cast<std::size_t>(n));  // of bytes
    const auto tokens = static_cast<Index>(frame.traces.trace->tokens.size());
    EXPECT_EQ(tokens, std::min<Index>(7 + n, 16));  // beyond the context its last part
    before = frame.experiment.text;
  }
  EXPECT_EQ(written.frame(6, Stop()).experiment.text, sixth);
}

TEST(Frames, NumberedPicturesAreThoseOfTheirExperiments) {
  testing::TemporaryFolder folder;
  OfATrace run;
  PictureOptions picture;
  picture.scale = 1;
  std::vector<double> shares;
  FrameSequence frames = run.frames(of_view("rope"), options("query=0:6", 3));
  write_frames(folder.path() / "r-%02d.png", frames, picture,
               [&](double share) { shares.push_back(share); }, {});
  EXPECT_EQ(shares.front(), 0);
  EXPECT_EQ(shares.back(), 1);
  for (int n = 0; n < 3; ++n) {
    const fs::path path = numbered(folder.path() / "r-%02d.png", n);
    const Experiment made = load_session(path);
    EXPECT_EQ(view_values(made.view, "rope").real("query"), 3.0 * n);
    const fs::path alone = folder.path() / "alone.png";
    write_view(alone, run.trace(), made, picture);
    EXPECT_EQ(testing::decode_png(read_file(path)).rgba,
              testing::decode_png(read_file(alone)).rgba);
  }
}

TEST(Frames, StopsWhenAsked) {
  testing::TemporaryFolder folder;
  OfATrace run;
  PictureOptions picture;
  picture.scale = 0.5;
  const Stop stop;
  int seen = 0;
  FrameSequence frames = run.frames(of_view("rope"), options("query=0:6", 9));
  EXPECT_THROW(write_frames(
                   folder.path() / "a.gif", frames, picture,
                   [&](double) {
                     if (++seen == 12) stop.request();
                   },
                   stop),
               Stopped);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  FrameSequence all = run.frames(of_view("span"), options("z=0:6", 4));
  write_frames(folder.path() / "a.gif", all, picture, {}, {});
  EXPECT_EQ(read_file(folder.path() / "a.gif").substr(0, 6), "GIF89a");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
