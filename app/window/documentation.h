// Pages of the documentation (assets/docs) as the window shows them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::window {

struct DocumentationPage {
  std::string file, title;  // "tour.md", "Tour"
  std::string group;        // heading above the page in the index: "Using attnscope"
};

// Pages listed in `folder`/index.md, in order. Throws InputError if the file cannot be read.
std::vector<DocumentationPage> documentation_pages(const std::filesystem::path& folder);

// A piece of a page, without Markdown syntax and pictures.
struct DocumentationBlock {
  enum class Kind { Title, Heading, Paragraph, Item, Code, Table };
  Kind kind = Kind::Paragraph;
  std::string text{};                            // empty for a table
  std::vector<std::vector<std::string>> rows{};  // table rows of equal length, header first
  bool operator==(const DocumentationBlock&) const = default;
};

std::vector<DocumentationBlock> documentation_blocks(std::string_view markdown);

}  // namespace attnscope::window
