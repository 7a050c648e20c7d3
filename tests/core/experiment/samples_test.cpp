#include "core/experiment/samples.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/training/task.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Samples, ListAllFiles) {
  const std::filesystem::path folder = testing::source_folder() / "assets" / "samples";
  std::set<std::string> listed{"samples.json", "expected-pairs.json"}, existing;
  for (const Json& entry : Json::parse(read_file(folder / "samples.json", 1 << 20))) {
    for (const char* key : {"file", "input"}) {
      if (entry.contains(key)) listed.insert(entry[key].text());
    }
  }
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    existing.insert(file.path().filename().string());
  }
  EXPECT_EQ(listed, existing);
}

TEST(Samples, HaveDescriptionsAndTasks) {
  std::set<std::string> ids, tasks;
  for (const Sample& sample : samples()) {
    EXPECT_TRUE(ids.insert(sample.id).second) << sample.id;
    EXPECT_NO_THROW(static_cast<void>(task(sample.task))) << sample.id;
    EXPECT_FALSE(sample.title.empty() || sample.shows.empty()) << sample.id;
    EXPECT_LT(sample.shows.size(), 90U) << sample.id;  // one line of the list
    EXPECT_NE(sample.text.empty(), sample.input.empty()) << sample.id;
    tasks.insert(sample.task);
  }
  for (const TaskInfo& task : attnscope::tasks()) {
    ModelCard card;
    card.task = task.id;
    EXPECT_TRUE(tasks.contains(reading_task(card))) << task.id;
  }
}

TEST(Samples, ModelSamplesComeFirst) {
  const auto first_sample = [](const char* model) {
    return samples_for(model_card(model)).front()->id;
  };
  EXPECT_EQ(first_sample("default"), "pronoun");
  EXPECT_EQ(first_sample("induction"), "repetition");
  EXPECT_EQ(first_sample("span"), "lamp");  // long enough for a span
  EXPECT_EQ(first_sample("memory-compressive"), "lighthouse");
  EXPECT_EQ(first_sample("numbers"), "twenty-four");
  for (const Sample* sample : samples_for(model_card("brackets"))) {
    EXPECT_EQ(sample->task, "brackets");
    EXPECT_TRUE(fits_task("brackets", sample->text));
  }
  EXPECT_FALSE(fits_task("brackets", "(a)"));
  EXPECT_FALSE(fits_task("brackets", ""));
  EXPECT_FALSE(fits_task("text", "the cat"));
  EXPECT_TRUE(fits_task("numbers", "1066"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
