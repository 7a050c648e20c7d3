#include "core/input/structure_file.h"

#include <gtest/gtest.h>
#include <stb/stb_image_write.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/tensor/npy.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

class StructureFile : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    write_file(folder_.path() / name, text);
    return folder_.path() / name;
  }
  std::filesystem::path write(const std::string& name, const Tensor& numbers) {
    write_npy(folder_.path() / name, stored(numbers));
    return folder_.path() / name;
  }
  // Error message without the file's name.
  template <class Read>
  std::string error_message(const Read& read, const std::filesystem::path& path) {
    try {
      read(path);
    } catch (const InputError& e) {
      const std::string text = e.what(), name = path.string() + ": ";
      EXPECT_TRUE(text.starts_with(name)) << text;
      return text.substr(std::min(text.size(), name.size()));
    }
    return "";
  }
  std::string mask_error_message(const std::string& name, const std::string& text) {
    return error_message(read_mask, write(name, text));
  }
  std::string edge_error_message(const std::string& name, const std::string& text) {
    return error_message(read_edges, write(name, text));
  }

  testing::TemporaryFolder folder_;
};

const MaskRows kExpectedMask{{0, 1}, {0, 2}, {1, 3}};

TEST_F(StructureFile, ReadsEqualMasksFromAllFormats) {
  EXPECT_EQ(read_mask(write("a.txt", "1..\n11-\n\n .#x \r\n")), kExpectedMask);
  EXPECT_EQ(read_mask(write("b.json", "[[0, 1], [0, 2], [1, 3]]")), kExpectedMask);
  EXPECT_EQ(read_mask(write("c.npy", Tensor::from({3, 3}, {1, 0, 0, 0.5f, -2, 0, 0, 1, 1}))),
            kExpectedMask);
  const unsigned char grey[] = {255, 0, 100, 200, 255, 20, 127, 128, 255};
  const std::filesystem::path picture = folder_.path() / "d.png";
  ASSERT_NE(stbi_write_png(picture.c_str(), 3, 3, 1, grey, 3), 0);
  EXPECT_EQ(read_mask(picture), kExpectedMask);
}

TEST_F(StructureFile, RejectsInvalidMasks) {
  EXPECT_TRUE(
      mask_error_message("a.txt", "10\n1?\n").starts_with("line 2: expected '1', '#' or 'x'"));
  EXPECT_TRUE(mask_error_message("a.txt", "10\n101\n").starts_with("line 2: expected 2 keys"));
  EXPECT_TRUE(mask_error_message("a.txt", "101\n101\n")
                  .starts_with("expected 3 rows, the number of keys per row"));
  EXPECT_TRUE(mask_error_message("a.txt", "\n \n").starts_with("expected a row"));
  EXPECT_TRUE(
      mask_error_message("a.txt", std::string(5000, '1')).starts_with("expected at most 4096"));
  EXPECT_TRUE(mask_error_message("a.json", "[[0, 1], [2]]").starts_with("row 1: "));
  EXPECT_TRUE(mask_error_message("a.json", "[[0, 1e9]]").starts_with("expected a list of lists"));
  EXPECT_TRUE(mask_error_message("a.json", "[]").starts_with("expected 1 to 4096 rows"));
  EXPECT_NE(mask_error_message("a.json", "[[0, 1"), "");
  EXPECT_NE(mask_error_message("a.png", "no picture"), "");
  EXPECT_NE(mask_error_message("a.npy", "no array"), "");
  EXPECT_TRUE(error_message(read_mask, write("b.npy", Tensor::zeros({2, 3})))
                  .starts_with("expected a matrix [L, L]"));
  EXPECT_NE(error_message(read_mask, folder_.path() / "missing.txt"), "");
}

TEST_F(StructureFile, ReadsEqualEdgesFromAllFormats) {
  const std::vector<std::vector<Index>> expected{{0, 1}, {1, 2}};
  for (const char* text :
       {"0 1\n1 2\n", "# a path\n0, 1\n1 - 2 # the end\r\n\n", "1\t2\n0\t1\n0 1"}) {
    const EdgeList list = read_edges(write("a.txt", text));
    EXPECT_EQ(list.edges, expected) << text;
    EXPECT_FALSE(list.is_directed) << text;
  }
  EXPECT_EQ(read_edges(write("a.json", "[[0, 1], [1, 2]]")).edges, expected);
  const EdgeList matrix =
      read_edges(write("a.npy", Tensor::from({3, 3}, {1, 1, 0, 1, 0, 1, 0, 1, 0})));
  EXPECT_EQ(matrix.edges, expected);
  EXPECT_FALSE(matrix.is_directed);
}

TEST_F(StructureFile, ReadsArrowsAsDirectedEdges) {
  const EdgeList arrows = read_edges(write("a.txt", "0 -> 1\n2->1\n"));
  EXPECT_EQ(arrows.edges, (std::vector<std::vector<Index>>{{0, 1}, {2, 1}}));
  EXPECT_TRUE(arrows.is_directed);
  const EdgeList matrix = read_edges(write("a.npy", Tensor::from({2, 2}, {0, 0, 1, 0})));
  EXPECT_EQ(matrix.edges, (std::vector<std::vector<Index>>{{1, 0}}));
  EXPECT_TRUE(matrix.is_directed);
}

TEST_F(StructureFile, RejectsInvalidEdges) {
  for (const char* line : {"0", "a b", "0 1 2", "0 -1", "0 99999999999999999999", "0 4096",
                           "0 => 1", "01", "0 1;", "-> 1"}) {
    EXPECT_TRUE(edge_error_message("a.txt", std::string("0 1\n") + line + "\n")
                    .starts_with("line 2: expected two tokens from 0 to 4095"))
        << line;
  }
  EXPECT_TRUE(
      edge_error_message("a.txt", "0 1\n0 -> 2\n").starts_with("line 2: expected arrows on all"));
  EXPECT_TRUE(edge_error_message("a.txt", "# nothing\n").starts_with("expected edges, found none"));
  EXPECT_TRUE(edge_error_message("a.json", "[[0, 1, 2]]").starts_with("expected pairs of tokens"));
  EXPECT_NE(edge_error_message("a.json", "{}"), "");
  std::string edges_text;
  for (int i = 0; i < 300; ++i) {
    for (int j = 0; j < 300; ++j) edges_text += std::to_string(i) + " " + std::to_string(j) + "\n";
  }
  EXPECT_TRUE(edge_error_message("a.txt", edges_text).starts_with("expected at most 65536 edges"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
