#include "core/checkpoint/model_store.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/text/bpe.h"
#include "tests/core/checkpoint/files.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::TemporaryFolder;

Checkpoint small_checkpoint(std::uint64_t seed) {
  Checkpoint checkpoint;
  checkpoint.model = make_model(testing::small_config({.vocabulary = 256, .context = 8}), seed);
  checkpoint.tokenizer = train_bpe("bytes", 256);
  return checkpoint;
}

void advance_write_time(const std::filesystem::path& file) {
  std::filesystem::last_write_time(
      file, std::filesystem::last_write_time(file) + std::chrono::seconds(5));
}

TEST(ModelStore, SharesOneModel) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), small_checkpoint(1), false);
  ModelStore store;
  const auto first = store.checkpoint(folder.path().string());
  // Another spelling of the path.
  EXPECT_EQ(store.checkpoint((folder.path() / "." / "").string()), first);
  EXPECT_EQ(store.reads(), 1);
  EXPECT_EQ(first->name, load_checkpoint(folder.path().string()).name);
}

TEST(ModelStore, ReloadsChangedFiles) {
  const TemporaryFolder folder;
  const std::string name = folder.path().string();
  save_checkpoint(folder.path(), small_checkpoint(1), false);
  ModelStore store;
  const auto first = store.checkpoint(name);
  save_checkpoint(folder.path(), small_checkpoint(2), false);
  for (const char* file : {"model.safetensors", "config.json", "tokenizer.json"}) {
    const auto before = store.checkpoint(name);
    advance_write_time(folder.path() / file);
    EXPECT_NE(store.checkpoint(name), before) << file;
  }
  EXPECT_TRUE(testing::differs(store.checkpoint(name)->model.weights.begin()->second.value(),
                               first->model.weights.begin()->second.value(), 1e-6));
}

TEST(ModelStore, KeepsFewUnusedModels) {
  const TemporaryFolder folder;
  ModelStore store;
  std::vector<std::weak_ptr<const Checkpoint>> models;
  for (const char* name : {"a", "b", "c"}) {
    save_checkpoint(folder.path() / name, small_checkpoint(1), false);
    models.push_back(store.checkpoint((folder.path() / name).string()));
  }
  EXPECT_TRUE(models[0].expired());
  EXPECT_FALSE(models[1].expired());
  EXPECT_FALSE(models[2].expired());
}

TEST(ModelStore, ServesPublishedModels) {
  ModelStore store;
  EXPECT_THROW(store.checkpoint("in training"), InputError);
  const auto first = std::make_shared<const Checkpoint>(small_checkpoint(1));
  const auto second = std::make_shared<const Checkpoint>(small_checkpoint(2));
  store.publish("in training", first);
  EXPECT_EQ(store.checkpoint("in training"), first);
  store.publish("in training", second);
  EXPECT_EQ(store.checkpoint("in training"), second);
  // Publishing the same weights again creates a new version.
  const ModelVersion before = store.current("in training");
  EXPECT_EQ(store.current("in training"), before);
  store.publish("in training", second);
  EXPECT_NE(store.current("in training"), before);
  EXPECT_EQ(store.publications(), 3);
  store.withdraw("in training");
  EXPECT_THROW(store.checkpoint("in training"), InputError);
  EXPECT_EQ(store.reads(), 0);
}

TEST(ModelStore, SharesOneRetrievalStore) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "contexts.safetensors";
  Store contexts{Tensor({2, 3}), IntTensor({2}), IntTensor({2, 2})};
  for (float& x : contexts.keys) x = 1;
  for (auto* numbers : {&contexts.values, &contexts.places}) {
    for (std::int32_t& x : *numbers) x = 0;
  }
  write_safetensors(file, store_file(contexts, false));
  ModelStore store;
  const auto first = store.contexts(file.string());
  EXPECT_EQ(store.contexts(file.string()), first);
  advance_write_time(file);
  EXPECT_NE(store.contexts(file.string()), first);
  EXPECT_THROW(store.contexts((folder.path() / "none").string()), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
