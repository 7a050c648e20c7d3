#include "core/view/parts/page.h"

#include <gtest/gtest.h>

#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Page of 400 x 300 pixels; characters are half as wide as high.
class PageTest : public ::testing::Test {
 protected:
  class HalfWidthMeasure : public TextMeasure {
   public:
    double width(const std::string& text, double size, bool) const override {
      double count = 0;
      for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
      return count * size / 2;
    }
  };

  Trace trace_;
  Session session_;
  HalfWidthMeasure measure_;
  ViewInput input_{.trace = trace_,
                   .session = session_,
                   .canvas = {.width = 400,
                              .height = 300,
                              .font_size = 10,
                              .theme = Theme::light(),
                              .measure = measure_}};
};

TEST_F(PageTest, EllipsisKeepsFittingText) {
  const Page page(input_);
  EXPECT_EQ(page.ellipsised("abcdef", 10, 30), "abcdef");
  EXPECT_EQ(page.ellipsised("abcdef", 10, 29), "abcd…");
  EXPECT_EQ(page.ellipsised("ääääää", 10, 15), "ää…");  // never splits a character
  EXPECT_EQ(page.ellipsised("abcdef", 10, 5), "…");
  EXPECT_EQ(page.ellipsised("abcdef", 10, 4), "");
  EXPECT_EQ(page.fitting({"attention weight", "weight"}, 10, 40), "weight");
  EXPECT_EQ(page.fitting({"attention weight", "weight"}, 10, 10), "w…");
}

TEST_F(PageTest, LinesBreakAtSpaces) {
  const Page page(input_);
  EXPECT_EQ(page.wrapped("one two three", 10, 35), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(page.wrapped("abcdefghij k", 10, 20),
            (std::vector<std::string>{"abcd", "efgh", "ij k"}));
  EXPECT_TRUE(page.wrapped("  ", 10, 20).empty());
  EXPECT_EQ(page.wrapped("äö", 10, 1), (std::vector<std::string>{"ä", "ö"}));
}

TEST_F(PageTest, LineBreaksReplaceSeparators) {
  const Page page(input_);
  for (const double width : {60.0, 70.0}) {
    EXPECT_EQ(page.wrapped("model · Full · rotary", 10, width),
              (std::vector<std::string>{"model · Full", "rotary"}));
  }
  EXPECT_EQ(page.wrapped("model · Full · rotary", 10, 45),
            (std::vector<std::string>{"model", "Full", "rotary"}));
  EXPECT_EQ(page.wrapped("· one", 10, 100), (std::vector<std::string>{"· one"}));
}

TEST_F(PageTest, FrameLeavesSpaceBetweenTitleAndCaption) {
  Page page(input_);
  const Box inside = page.frame("title",
                                "a caption that is long enough to need a second line, "
                                "and then some more words so that it does");
  const std::vector<Text> texts = testing::texts(page.take(inside.bottom()));
  ASSERT_GE(texts.size(), 3u);
  EXPECT_TRUE(texts[0].bold);
  EXPECT_LT(texts[0].at.y, inside.y);
  for (std::size_t i = 1; i < texts.size(); ++i) EXPECT_GT(texts[i].at.y, inside.bottom());
  input_.figure.framed = false;
  Page unframed(input_);
  EXPECT_GT(unframed.frame("title", "caption").height, inside.height);
  EXPECT_TRUE(unframed.take(0).items.empty());
}

TEST_F(PageTest, TightPictureEndsWithContent) {
  input_.figure.tight = true;
  Page page(input_);
  const Box inside = page.frame("title", "caption");
  const DisplayList list = page.take(inside.y + 50);
  EXPECT_LT(list.height, 150);
  const std::vector<Text> texts = testing::texts(list);
  EXPECT_GT(texts.back().at.y, inside.y + 50);
  EXPECT_LT(texts.back().at.y, list.height);
}

TEST_F(PageTest, InkIsLegible) {
  EXPECT_EQ(ink_on({255, 255, 0, 255}), (Colour{0, 0, 0, 255}));
  EXPECT_EQ(ink_on({68, 1, 84, 255}), (Colour{255, 255, 255, 255}));
  EXPECT_EQ(blend({0, 0, 0, 255}, {100, 200, 50, 255}, 0.5), (Colour{50, 100, 25, 255}));
}

TEST_F(PageTest, TitlesWrapWhereHeightAllows) {
  input_.canvas.width = 200;
  Page page(input_);
  page.frame("a title that is wider than the page is", "");
  std::string joined;
  for (const Text& text : testing::texts(page.take(200))) {
    EXPECT_TRUE(text.bold);
    joined += text.text + "|";
  }
  EXPECT_EQ(joined, "a title that is wider than|the page is|");
  EXPECT_EQ(page.wrapped("one two three four", 10, 35, 2),
            (std::vector<std::string>{"one two", "three …"}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
