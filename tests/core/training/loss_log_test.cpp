#include "core/training/loss_log.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/training/loss_picture.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::TemporaryFolder;

LossLog make_log(const std::filesystem::path& folder, Index steps) {
  LossLog log(folder);
  for (Index step = 1; step <= steps; ++step) {
    LossRow row;
    row.step = step;
    row.loss = 5.5 / static_cast<double>(step);
    row.learning_rate = 1e-3;
    row.tokens_per_second = 12345.678;
    log.add(row);
    if (step % 2 == 0) {
      Score score;
      score.loss = row.loss + 0.25;
      score.bits_per_byte = 2;
      log.add_score(score);
    }
  }
  return log;
}

TEST(LossLog, KeepsGradientsAndMatches) {
  const TemporaryFolder folder;
  LossLog log = make_log(folder.path(), 1);
  log.set_layers({"embed", "layers.0"});
  LossRow row;
  row.step = 2;
  row.gradient_norm = 5;
  row.gradients = {3, 4};
  log.add(row);
  ExpectedMatch match;
  match.weight = 0.75;
  match.uniform = 0.125;
  match.layer = 1;
  match.head = 2;
  log.add_score({}, match);
  EXPECT_EQ(found_row(log.rows())->step, 2);
  log.save();
  LossLog loaded(folder.path());
  loaded.load_steps(2);
  EXPECT_EQ(loaded.layers(), log.layers());
  ASSERT_EQ(loaded.rows().size(), 2u);
  EXPECT_TRUE(std::isnan(loaded.rows()[0].gradients.at(1)));
  EXPECT_TRUE(std::isnan(loaded.rows()[0].expected.weight));
  const LossRow& second = loaded.rows()[1];
  EXPECT_EQ(second.gradient_norm, 5);
  EXPECT_EQ(second.gradients, row.gradients);
  EXPECT_EQ(second.expected.weight, 0.75);
  EXPECT_EQ(second.expected.head, 2);
  EXPECT_EQ(found_row({loaded.rows()[0]}), nullptr);
}

TEST(LossLog, ReadsLogsWithoutGradients) {
  const TemporaryFolder folder;
  write_file(folder.path() / "loss.csv",
             "step,loss,rate,tokens_per_second,held_out_loss,held_out_bits_per_byte,"
             "held_out_accuracy\n1,2.5,0.001,100,,,\n");
  LossLog log(folder.path());
  log.load_steps(1);
  ASSERT_EQ(log.rows().size(), 1u);
  EXPECT_EQ(log.rows()[0].loss, 2.5);
  EXPECT_TRUE(std::isnan(log.rows()[0].gradient_norm));
}

TEST(LossLog, RoundTripsThroughItsFile) {
  const TemporaryFolder folder;
  const LossLog log = make_log(folder.path(), 6);
  log.save();
  LossLog loaded_log(folder.path());
  loaded_log.load_steps(4);  // the training state has four steps only
  ASSERT_EQ(loaded_log.rows().size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const LossRow &a = log.rows()[i], &b = loaded_log.rows()[i];
    EXPECT_EQ(b.step, a.step);
    EXPECT_NEAR(b.loss, a.loss, 1e-5);
    EXPECT_NEAR(b.tokens_per_second, 12345.7, 1e-9);
    EXPECT_EQ(std::isnan(b.held_out.loss), i % 2 == 0);
    EXPECT_TRUE(std::isnan(b.held_out.accuracy));
  }
  EXPECT_NEAR(loaded_log.rows()[3].held_out.loss, 5.5 / 4 + 0.25, 1e-5);
  loaded_log.save();
  LossLog shorter_log(folder.path());
  shorter_log.load_steps(100);
  EXPECT_EQ(shorter_log.rows().size(), 4u);
  LossLog absent_log(folder.path() / "absent");
  absent_log.load_steps(4);
  EXPECT_TRUE(absent_log.rows().empty());
}

TEST(LossLog, RejectsInvalidFiles) {
  const TemporaryFolder folder;
  make_log(folder.path(), 3).save();
  const std::string valid_text = read_file(folder.path() / "loss.csv");
  const std::size_t second_line = valid_text.find('\n') + 1;
  const auto expect_refusal = [&](const std::string& text, const std::string& line) {
    write_file(folder.path() / "loss.csv", text);
    LossLog log(folder.path());
    try {
      log.load_steps(10);
      FAIL() << text;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("loss.csv: line " + line), std::string::npos)
          << e.what();
    }
  };
  expect_refusal("step,loss\n1,2\n", "1");
  expect_refusal("\xff\xfe", "1");
  expect_refusal(valid_text.substr(0, valid_text.size() - 5), "4");
  expect_refusal(valid_text.substr(0, second_line) + "1,x,0.001,5,,,,,,,,,\n", "2");
  expect_refusal(valid_text.substr(0, second_line) + "0,1,0.001,5,,,,,,,,,\n", "2");
  expect_refusal(valid_text + "3,1,0.001,5,,,,,,,,,\n", "5");  // a duplicate step
  expect_refusal(valid_text + "4,1,0.001,5,,,,,,,,,,\n", "5");
  expect_refusal(valid_text.substr(0, second_line) + "99999999999999999999,1,0.001,5,,,,,,,,,\n",
                 "2");
}

const Line* find_line(const DisplayList& list, std::size_t number) {
  for (const Item& item : list.items) {
    const auto* line = std::get_if<Line>(&item);
    if (line != nullptr && line->points.size() > 2 && number-- == 0) return line;
  }
  return nullptr;
}

TEST(LossPicture, ContainsTrainingMeanAndHeldOutCurves) {
  const TemporaryFolder folder;
  const LossLog log = make_log(folder.path(), 200);
  const DisplayList list = loss_picture(log.rows(), "Training of x", Theme::light());
  const Line *steps = find_line(list, 0), *mean = find_line(list, 1),
             *held_out = find_line(list, 2);
  ASSERT_TRUE(steps && mean && held_out);
  EXPECT_EQ(steps->points.size(), 200u);
  EXPECT_EQ(held_out->points.size(), 100u);
  // The curves of the mean and of the steps have equal end points. The held-out losses are larger
  // (y points down).
  EXPECT_NEAR(mean->points.front().y, steps->points.front().y, 1e-9);
  EXPECT_NEAR(mean->points.back().y, steps->points.back().y, 1e-9);
  for (const Point& p : held_out->points) EXPECT_LT(p.y, steps->points.back().y);
  EXPECT_EQ(find_line(loss_picture({log.rows()[0]}, "one", Theme::light()), 0), nullptr);
}

TEST(LossLog, RejectsInvalidNumbers) {
  const TemporaryFolder folder;
  make_log(folder.path(), 1).save();
  const std::string valid_text = read_file(folder.path() / "loss.csv");
  for (const char* loss : {"1e999", "5x", "5 ", " 5", "0x5", "."}) {
    write_file(folder.path() / "loss.csv", valid_text + "2," + loss + ",0.001,5,,,,,,,,,\n");
    LossLog log(folder.path());
    EXPECT_THROW(log.load_steps(10), InputError) << loss;
  }
  write_file(folder.path() / "loss.csv",
             valid_text + "2,,nan,5,,,0.5,,,,,,");  // no newline at the end
  LossLog log(folder.path());
  log.load_steps(2);
  ASSERT_EQ(log.rows().size(), 2u);
  EXPECT_TRUE(std::isnan(log.rows()[1].loss));
  EXPECT_EQ(log.rows()[1].held_out.accuracy, 0.5);
  LossLog empty_log(folder.path() / "none");
  empty_log.add_score({});  // there is no row to add a score to
  EXPECT_TRUE(empty_log.rows().empty());
}

// The mean covers 4 steps, a fiftieth of all 230 steps, on either side of a step, and fewer near
// the ends.
TEST(LossPicture, RunningMeanIsSymmetric) {
  std::vector<LossRow> rows;
  for (Index step = 1; step <= 230; ++step) {
    LossRow row;
    row.step = step;
    row.loss = 3 + std::sin(static_cast<double>(step * step));
    rows.push_back(row);
  }
  const DisplayList list = loss_picture(rows, "Training of x", Theme::light());
  const Line *steps = find_line(list, 0), *mean = find_line(list, 1);
  ASSERT_TRUE(steps && mean);
  ASSERT_EQ(mean->points.size(), 230u);
  for (std::size_t i = 0; i < 230; ++i) {
    const std::size_t half_width = std::min({i, 229 - i, std::size_t{4}});
    double sum = 0;
    for (std::size_t n = i - half_width; n <= i + half_width; ++n) sum += steps->points[n].y;
    EXPECT_NEAR(mean->points[i].y, sum / static_cast<double>(2 * half_width + 1), 1e-6) << i;
    EXPECT_EQ(mean->points[i].x, steps->points[i].x);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
