#include "app/gpu/shader.h"

#include <gtest/gtest.h>

#include "app/gpu/context.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Shader, ExpandsEachIncludeOnce) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "a.comp", "#include \"b.glsl\"\n#include \"c.glsl\"\nint a;\n");
  write_file(folder.path() / "b.glsl", "#include \"c.glsl\"\nint b;\n");
  write_file(folder.path() / "c.glsl", "int c;\n");
  const ShaderText expanded = expand_includes(folder.path(), "a.comp");
  EXPECT_EQ(expanded.text, "int c;\nint b;\nint a;\n");
  const std::vector<ShaderText::Origin> origins{{"c.glsl", 1}, {"b.glsl", 2}, {"a.comp", 3}};
  EXPECT_EQ(expanded.origins, origins);
}

TEST(Shader, ErrorsNameFileAndLine) {
  const std::vector<ShaderText::Origin> origins{{"a.comp", 1}, {"b.glsl", 5}};
  EXPECT_EQ(readable_shader_error("0:2(3): error: `x' undeclared\nmore", origins),
            "b.glsl:5: error: `x' undeclared");
  EXPECT_EQ(readable_shader_error("0(1) : error C1503: undefined variable \"x\"", origins),
            "a.comp:1: error C1503: undefined variable \"x\"");
  EXPECT_EQ(readable_shader_error("something else", origins), "something else");
  EXPECT_EQ(readable_shader_error("0:99(1): error: x", origins), "0:99(1): error: x");
}

TEST(Shader, ReportsFailedCompilation) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "bad.comp", "#include \"bad.glsl\"\nvoid main() {}\n");
  write_file(folder.path() / "bad.glsl", "\nint f() { return nothing; }\n");
  auto context = make_headless_context();
  context->make_current();
  ShaderLibrary library(folder.path());
  try {
    library.compute("bad.comp", {});
    FAIL() << "it compiled";
  } catch (const WorkError& e) {
    EXPECT_NE(std::string(e.what()).find("bad.glsl:2: "), std::string::npos) << e.what();
  }
  EXPECT_THROW(library.compute("none.comp", {}), WorkError);
}

TEST(Shader, SharesProgramsBetweenUnusedDefines) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "a.comp", "layout(local_size_x = SIZE) in;\nvoid main() {}\n");
  auto context = make_headless_context();
  context->make_current();
  ShaderLibrary library(folder.path());
  const GLuint program = library.compute("a.comp", {{"SIZE", 8}});
  EXPECT_EQ(library.compute("a.comp", {{"SIZE", 8}, {"OTHER", 1}}), program);
  EXPECT_NE(library.compute("a.comp", {{"SIZE", 16}}), program);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
