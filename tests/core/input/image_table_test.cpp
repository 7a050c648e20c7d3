#include "core/input/image_table.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Pictures = std::vector<std::vector<std::int32_t>>;

std::string error_message(const std::filesystem::path& file) {
  try {
    read_image_table(file, 4, 3);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

class ImageTable : public ::testing::Test {
 protected:
  std::filesystem::path write_text(const std::string& name, const std::string& text) const {
    write_file(folder_.path() / name, text);
    return folder_.path() / name;
  }
  std::filesystem::path write_compressed(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / name;
    gzFile file = gzopen(path.c_str(), "wb");
    EXPECT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
              static_cast<int>(text.size()));
    EXPECT_EQ(gzclose(file), Z_OK);
    return path;
  }
  testing::TemporaryFolder folder_;
};

TEST_F(ImageTable, ReadsOneImagePerLineWithoutLabels) {
  const Pictures expected{{0, 1, 2, 0}, {2, 2, 2, 2}};
  EXPECT_EQ(read_image_table(write_text("a.csv", "0,1,2,0,7\n2,2,2,2,1\n"), 4, 3), expected);
  EXPECT_EQ(read_image_table(write_text("b.csv", "0,1,2,0\r\n\n2,2,2,2"), 4, 3), expected);
  EXPECT_EQ(read_image_table(write_compressed("c.csv.gz", "0,1,2,0,7\n2,2,2,2,1\n"), 4, 3),
            expected);
  EXPECT_NE(error_message(write_text("empty.csv", "")).find("found none"), std::string::npos);
  EXPECT_NE(error_message(write_text("wide.csv", "0,1,2,0,1,1\n")).find("found more"),
            std::string::npos);
}

TEST_F(ImageTable, ReportsTheLineOfAnError) {
  for (const char* line : {"0,1,2", "0,1,3,0", "0,-1,1,0", "0,x,1,0", "0;1;1;0", "0,,1,0",
                           "0 ,1,1,0", "99999999999999999999,0,0,0"}) {
    const std::string message = error_message(write_text("a.csv", "0,0,0,0\n" + std::string(line)));
    EXPECT_NE(message.find("line 2: expected 4 levels from 0 to 2"), std::string::npos) << message;
  }
}

TEST_F(ImageTable, RejectsDamagedFiles) {
  std::string lines;
  for (int n = 0; n < 5000; ++n) lines += std::to_string(n % 3) + ",0,1,2,0\n";
  const std::string compressed = read_file(write_compressed("a.csv.gz", lines));
  EXPECT_NE(error_message(write_text("cut.csv.gz", compressed.substr(0, compressed.size() / 2)))
                .find("truncated"),
            std::string::npos);
  std::string damaged = compressed;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  EXPECT_FALSE(error_message(write_text("wrong.csv.gz", damaged)).empty());
  EXPECT_NE(error_message(folder_.path() / "none.csv").find("none.csv"), std::string::npos);
}

TEST(ImageTableNames, HaveTheTableExtension) {
  EXPECT_TRUE(is_image_table("digits.csv") && is_image_table("a/digits.csv.gz"));
  EXPECT_FALSE(is_image_table("digits.png") || is_image_table("csv"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
