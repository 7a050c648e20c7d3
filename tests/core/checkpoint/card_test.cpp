#include "core/checkpoint/card.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"
#include "core/training/task.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Card, DescribesEveryBundledModel) {
  std::size_t listed = 0;
  for (const ModelGroup& group : bundled_groups()) {
    EXPECT_FALSE(group.title.empty());
    for (const ModelGroup::Entry& model : group.models) {
      const ModelCard card = model_card(model.name);
      EXPECT_EQ(card.group, group.title) << model.name;
      EXPECT_FALSE(card.summary.empty()) << model.name;
      EXPECT_NO_THROW(static_cast<void>(task(card.task))) << model.name;
      EXPECT_NE(model.subtitle.find(card.summary), std::string::npos) << model.subtitle;
      EXPECT_LT(model.subtitle.size(), 80U) << model.subtitle;  // fits a line of the list
      ++listed;
    }
  }
  EXPECT_EQ(listed, bundled_models().size());
}

TEST(Card, SubtitleHasParameterCountAndAttention) {
  EXPECT_EQ(subtitle(model_card("default")), "5.1 million, children's books, whole words, RoPE");
  EXPECT_EQ(subtitle(model_card("twin-alibi")), "0.8 million, children's books, ALiBi");
  EXPECT_EQ(subtitle(model_card("brackets")), "58 thousand, nested brackets, adaptive steps");
}

TEST(Card, InfersTaskFromConfigIfMissing) {
  const testing::TemporaryFolder folder;
  for (const char* name : {"default", "digits", "numbers", "paths"}) {
    const ModelCard card = model_card(name);
    EXPECT_EQ(implied_task(*card.config), card.task) << name;
  }
  const ModelCard bundled = model_card("brackets");
  write_file(folder.path() / "config.json",
             read_file(model_path("brackets") / "config.json", 1 << 20));
  EXPECT_EQ(model_card(folder.path().string()).task, "text");
  // The config does not imply this task, so training stores it. Later training replaces it.
  save_card(folder.path(), "brackets", *bundled.config);
  EXPECT_EQ(model_card(folder.path().string()).task, "brackets");
  write_file(folder.path() / "card.json", R"({"task": "brackets", "summary": "mine"})");
  save_card(folder.path(), "text", *bundled.config);
  EXPECT_EQ(model_card(folder.path().string()).task, "text");
  EXPECT_EQ(model_card(folder.path().string()).summary, "mine");
}

TEST(Card, RejectsUnknownKeysAndInvalidValues) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "config.json",
             read_file(model_path("brackets") / "config.json", 1 << 20));
  for (const char* card : {"{\"colour\": 1}", "{\"group\": 1}", "{\"head\": -1}", "["}) {
    write_file(folder.path() / "card.json", card);
    EXPECT_THROW(static_cast<void>(model_card(folder.path().string())), InputError) << card;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
