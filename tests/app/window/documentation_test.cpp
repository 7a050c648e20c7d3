#include "app/window/documentation.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/support/places.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

using Kind = DocumentationBlock::Kind;

TEST(Documentation, IndexListsPagesThatExist) {
  const auto folder = testing::source_folder() / "assets" / "docs";
  const auto pages = documentation_pages(folder);
  EXPECT_GE(pages.size(), 20u);
  for (const DocumentationPage& page : pages) {
    EXPECT_FALSE(page.title.empty()) << page.file;
    EXPECT_FALSE(page.group.empty()) << page.file;
    const auto blocks = documentation_blocks(read_file(folder / page.file));
    ASSERT_GE(blocks.size(), 2u) << page.file;
    EXPECT_EQ(blocks[0].kind, Kind::Title) << page.file;
  }
}

TEST(Documentation, BlocksContainNoMarkup) {
  const auto blocks = documentation_blocks(
      "# One *title*\n\nA [link](x.md), `code_*` and\n**bold** *x* of 2 * 3.\n\n* an item\n  of "
      "two "
      "lines\n"
      "* another\n\n```sh run\nls *\n```\n");
  const std::vector<DocumentationBlock> expected{
      {Kind::Title, "One title"},
      {Kind::Paragraph, "A link, code_* and bold x of 2 * 3."},
      {Kind::Item, "an item of two lines"},
      {Kind::Item, "another"},
      {Kind::Code, "ls *"}};
  EXPECT_EQ(blocks, expected);
}

TEST(Documentation, TablesOmitColumnsOfPictures) {
  const auto blocks = documentation_blocks(
      "| picture | name | note |\n| --- | --- | --- |\n"
      "| ![map](map.png) | **Map** | a \\| b |\n");
  const std::vector<DocumentationBlock> expected{
      {Kind::Table, "", {{"name", "note"}, {"Map", "a | b"}}}};
  EXPECT_EQ(blocks, expected);
}

TEST(Documentation, AcceptsUnfinishedMarkup) {
  for (const char* text :
       {"[", "![", "[a](", "`", "**", "<", "<i", "```", "|", "| a", "#", "* ", ""}) {
    EXPECT_LE(documentation_blocks(text).size(), 1u) << text;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
