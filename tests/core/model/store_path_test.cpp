// Finds the paths of datastores by name.
#include <gtest/gtest.h>

#include "core/base/home.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/retrieval.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(StorePath, FindsBundledStoresByName) {
  const std::filesystem::path found = store_path("lighthouse");
  EXPECT_EQ(found, home_folder() / "assets" / "stores" / "lighthouse.safetensors");
  EXPECT_TRUE(is_store(found));
  EXPECT_EQ(store_path("nowhere"), "nowhere");
  EXPECT_EQ(store_path("some/lighthouse"), "some/lighthouse");
  EXPECT_EQ(store_path(""), "");
}

TEST(StorePath, BundledStoreMatchesItsModel) {
  const Store store = load_store(store_path("lighthouse"));
  const Checkpoint twin = load_checkpoint("twin-rope");
  EXPECT_EQ(store.keys.dim(1), twin.model.config.width);
  for (const std::int32_t value : store.values) {
    EXPECT_TRUE(value >= 0 && value < twin.model.config.vocabulary);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
