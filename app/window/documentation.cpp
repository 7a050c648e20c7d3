#include "app/window/documentation.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope::window {
namespace {

using Kind = DocumentationBlock::Kind;

constexpr std::size_t kMaxColumns = 16;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Link at the start of a text: "[label](target)", `size` bytes long.
struct Link {
  std::string_view label, target;
  std::size_t size = 0;
};
std::optional<Link> parse_link(std::string_view text) {
  if (!text.starts_with('[')) return std::nullopt;
  const std::size_t middle = text.find("](");
  if (middle == std::string_view::npos) return std::nullopt;
  const std::size_t end = text.find(')', middle);
  if (end == std::string_view::npos) return std::nullopt;
  return Link{text.substr(1, middle - 1), text.substr(middle + 2, end - middle - 2), end + 1};
}

// Removes emphasis, code marks, tags and pictures; replaces links by their labels.
std::string strip_markup(std::string_view text) {
  std::string out;
  bool in_code = false;
  for (std::size_t offset = 0; offset < text.size(); ++offset) {
    const char c = text[offset];
    const std::string_view rest = text.substr(offset);
    if (c == '`') {
      in_code = !in_code;
    } else if (c == '\\' && rest.size() > 1 && (rest[1] == '|' || rest[1] == '*')) {
      out += rest[1];
      ++offset;
    } else if (in_code) {
      out += c;
    } else if (rest.starts_with("**")) {
      ++offset;
    } else if (c == '*' && !(rest.starts_with("* ") && out.ends_with(' '))) {
      // Emphasis; a separate "*" is a multiplication sign.
    } else if (rest.starts_with("<br>")) {
      out += '\n';
      offset += 3;
    } else if (c == '<' && rest.size() > 1 &&
               (rest[1] == '/' || rest[1] == 'i' || rest[1] == '!')) {
      offset += std::min(rest.find('>'), rest.size() - 1);
    } else if (const auto picture = c == '!' ? parse_link(rest.substr(1)) : std::nullopt) {
      offset += picture->size;
    } else if (const auto link = parse_link(rest)) {
      out += strip_markup(link->label);
      offset += link->size - 1;
    } else {
      out += c;
    }
  }
  return std::string(trim(out));
}

std::vector<std::string> split_cells(std::string_view row) {
  std::vector<std::string> cells;
  row = trim(row);
  if (row.starts_with('|')) row.remove_prefix(1);
  std::size_t begin = 0;
  for (std::size_t offset = 0; offset < row.size(); ++offset) {
    if (row[offset] != '|' || (offset > 0 && row[offset - 1] == '\\')) continue;
    cells.push_back(strip_markup(row.substr(begin, offset - begin)));
    begin = offset + 1;
  }
  if (begin < row.size()) cells.push_back(strip_markup(row.substr(begin)));
  return cells;
}

bool is_separator_row(std::string_view row) {  // "| --- | --- |"
  return row.find_first_not_of("|-: ") == std::string_view::npos;
}

// Drops columns without text, which contained only pictures.
void drop_empty_columns(std::vector<std::vector<std::string>>& rows) {
  std::size_t columns = 0;
  for (const auto& row : rows) columns = std::max(columns, row.size());
  columns = std::min(columns, kMaxColumns);
  for (auto& row : rows) row.resize(columns);
  for (std::size_t c = columns; c-- > 0;) {
    const bool is_empty = std::all_of(rows.begin() + (rows.size() > 1 ? 1 : 0), rows.end(),
                                      [&](const auto& row) { return row[c].empty(); });
    if (!is_empty) continue;
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
}

class Parser {
 public:
  std::vector<DocumentationBlock> parse(std::string_view markdown) {
    for (const std::string_view line : split_lines(markdown)) parse_line(line);
    close();
    return std::move(blocks_);
  }

 private:
  void parse_line(std::string_view line) {
    const std::string_view text = trim(line);
    if (text.starts_with("```")) {
      close();
      in_fence_ = !in_fence_;
      if (in_fence_) open(Kind::Code);
      if (!in_fence_) close();
    } else if (in_fence_) {
      append_line(line);
    } else if (text.empty() || text.starts_with("<!--")) {
      close();
    } else if (line.starts_with("    ") && kind_ != Kind::Item && kind_ != Kind::Paragraph) {
      if (kind_ != Kind::Code) open(Kind::Code);
      append_line(line.substr(4));
    } else if (text.starts_with('#')) {
      const bool is_title = text.starts_with("# ");
      open(is_title ? Kind::Title : Kind::Heading);
      text_ = text.substr(std::min(text.find_first_not_of('#'), text.size()));
      close();
    } else if (text.starts_with('|')) {
      if (kind_ != Kind::Table) open(Kind::Table);
      if (!is_separator_row(text)) rows_.push_back(split_cells(text));
    } else if (starts_item(text)) {
      open(Kind::Item);
      text_ = text.substr(text.find(' ') + 1);
    } else {
      if (kind_ != Kind::Item && kind_ != Kind::Paragraph) open(Kind::Paragraph);
      text_ += (text_.empty() ? "" : " ") + std::string(text);
    }
  }

  static bool starts_item(std::string_view text) {
    if (text.starts_with("* ")) return true;
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    return digits > 0 && text.substr(digits).starts_with(". ");
  }

  void append_line(std::string_view line) {
    text_ += (text_.empty() ? "" : "\n") + std::string(line);
  }

  void open(Kind kind) {
    close();
    kind_ = kind;
  }

  void close() {
    if (!kind_) return;
    if (*kind_ == Kind::Table) {
      drop_empty_columns(rows_);
      const bool is_empty = rows_.empty() || rows_[0].empty();
      if (!is_empty) blocks_.push_back({Kind::Table, {}, std::move(rows_)});
    } else {
      std::string content = *kind_ == Kind::Code ? text_ : strip_markup(text_);
      if (!content.empty()) blocks_.push_back({*kind_, std::move(content), {}});
    }
    kind_.reset();
    text_.clear();
    rows_.clear();
  }

  std::vector<DocumentationBlock> blocks_;
  std::optional<Kind> kind_;
  bool in_fence_ = false;
  std::string text_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace

std::vector<DocumentationPage> documentation_pages(const std::filesystem::path& folder) {
  const std::string index = read_file(folder / "index.md");
  std::vector<DocumentationPage> pages;
  std::string group;
  for (const std::string_view line : split_lines(index)) {
    if (line.starts_with("## ")) group = std::string(trim(line.substr(3)));
    if (!line.starts_with("* ")) continue;
    const auto link = parse_link(line.substr(2));
    if (!link || !link->target.ends_with(".md")) continue;
    if (link->target.find('/') != std::string_view::npos) continue;  // pages are next to the index
    pages.push_back({std::string(link->target), std::string(link->label), group});
  }
  return pages;
}

std::vector<DocumentationBlock> documentation_blocks(std::string_view markdown) {
  return Parser().parse(markdown);
}

}  // namespace attnscope::window
