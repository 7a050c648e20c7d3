#include "core/training/pictures.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Pictures, ReadFilesAndFolders) {
  const testing::TemporaryFolder folder;
  const ModelConfig config = testing::plan_of("image", folder.path()).model;
  const auto files = picture_files({folder.path() / "pictures", folder.path() / "pictures/3.png"});
  ASSERT_EQ(files.size(), 11u);
  EXPECT_EQ(files[1].filename(), "1.png");
  EXPECT_EQ(files[10].filename(), "3.png");
  const std::vector<std::int32_t> even_picture = picture_ids(files[0], config).at(0);
  EXPECT_EQ(even_picture,
            (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
  const std::vector<std::int32_t> odd_picture = picture_ids(files[1], config).at(0);
  const Batch batch = picture_batch({&even_picture, &odd_picture}, config);
  ASSERT_EQ(batch.ids.shape(), (Shape{2, 16}));
  EXPECT_EQ(batch.ids(Index{1}, Index{0}), 2);  // the start token, then all pixels but the last
  EXPECT_EQ(batch.ids(Index{1}, Index{1}), odd_picture[0]);
  EXPECT_TRUE(std::equal(odd_picture.begin(), odd_picture.end(), batch.targets.begin() + 16));
  std::filesystem::create_directory(folder.path() / "empty");
  EXPECT_THROW(picture_files({folder.path() / "empty"}), InputError);
  EXPECT_THROW(picture_ids(folder.path() / "text.txt", config), InputError);
}

TEST(Pictures, ReadAllRowsOfATable) {
  const testing::TemporaryFolder folder;
  const ModelConfig config = testing::plan_of("image", folder.path()).model;
  const std::string line = "0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,7\n";
  write_file(folder.path() / "table.csv", line + line);
  const auto pictures = picture_ids(folder.path() / "table.csv", config);
  ASSERT_EQ(pictures.size(), 2u);
  EXPECT_EQ(pictures[1],
            (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
}

// Files keep their order; a folder's files are sorted by name, without hidden files and subfolders.
TEST(Pictures, SortFolderContentsAfterPrecedingFiles) {
  const testing::TemporaryFolder folder;
  const auto pictures = folder.path() / "some";
  testing::write_stripes(pictures, 3);
  write_file(pictures / ".hidden.png", "x");
  std::filesystem::create_directory(pictures / "1a.png");
  const auto last = folder.path() / "z.png";
  const auto files = picture_files({last, pictures});
  EXPECT_EQ(files, (std::vector<std::filesystem::path>{last, pictures / "0.png", pictures / "1.png",
                                                       pictures / "2.png"}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
