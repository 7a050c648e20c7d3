#include "core/input/structure_file.h"

#include <charconv>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/lower_case.h"
#include "core/base/strict_json.h"
#include "core/input/image_file.h"
#include "core/tensor/npy.h"

namespace attnscope {
namespace {

std::string size_error(Index size) {
  return "expected at most " + std::to_string(kMaxMaskTokens) + " tokens per side, found " +
         std::to_string(size);
}

// Nonzero entries of a square matrix.
ByteTensor read_matrix(const std::filesystem::path& path) {
  const std::string name = path.string();
  const StoredTensor array = read_npy(path);
  if (array.shape.size() != 2 || array.shape[0] != array.shape[1] || array.shape[0] == 0) {
    throw InputError(name + ": expected a matrix [L, L], found " + to_string(array.shape));
  }
  if (array.shape[0] > kMaxMaskTokens) throw InputError(name + ": " + size_error(array.shape[0]));
  if (array.dtype == DType::U8 || array.dtype == DType::Bool) return array.byte_values();
  ByteTensor mask(array.shape);
  const auto mark_nonzero = [&mask](const auto& numbers) {
    for (Index i = 0; i < mask.size(); ++i) mask[i] = numbers[i] != 0;
  };
  if (array.dtype == DType::I32 || array.dtype == DType::I64) {
    mark_nonzero(array.integers());
  } else {
    mark_nonzero(array.floats());
  }
  return mask;
}

ByteTensor read_mask_image(const std::filesystem::path& path) {
  const auto [width, height] = image_size(path);
  if (width != height) {
    throw InputError(path.string() + ": expected a square image, one pixel per pair, " + "found " +
                     std::to_string(width) + " x " + std::to_string(height));
  }
  if (width > kMaxMaskTokens) throw InputError(path.string() + ": " + size_error(width));
  const IntTensor levels = image_pixels(path, width, height, 2);
  ByteTensor mask(levels.shape());
  for (Index i = 0; i < mask.size(); ++i) mask[i] = levels[i] != 0;
  return mask;
}

// Parses a JSON list of lists of token indices: rows of a mask, or edges.
std::vector<std::vector<Index>> parse_lists(const std::string& text, const std::string& name) {
  const Json json = parse_json(text, name);
  std::vector<std::vector<Index>> lists;
  const auto fail = [&](const Json& found) {
    throw InputError(name + ": expected a list of lists of numbers from 0 to " +
                     std::to_string(kMaxMaskTokens) + ", found " + shortened(found));
  };
  if (!json.is_array()) fail(json);
  for (const Json& list : json) {
    if (!list.is_array()) fail(list);
    lists.emplace_back();
    for (const Json& number : list) {
      const bool is_valid = number.is_number_integer() && number >= 0 && number <= kMaxMaskTokens;
      if (!is_valid) fail(number);
      lists.back().push_back(number.get<Index>());
    }
  }
  return lists;
}

std::string line_name(const std::string& name, std::size_t line) {
  return name + ": line " + std::to_string(line) + ": ";
}

ByteTensor parse_mask(const std::string& text, const std::string& name) {
  std::vector<std::string> rows;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::string row;
    for (const char c : line) {
      if (c == ' ' || c == '\t' || c == '\r' || c == ',') continue;
      const bool is_allowed = c == '1' || c == '#' || c == 'x' || c == 'X';
      if (!is_allowed && c != '0' && c != '.' && c != '-') {
        throw InputError(line_name(name, number) +
                         "expected '1', '#' or 'x' (allowed) or '0', '.' or '-' (forbidden), "
                         "found " +
                         shortened(Json(std::string(1, c))));
      }
      row += is_allowed ? '1' : '0';
    }
    if (row.empty()) continue;
    if (!rows.empty() && row.size() != rows.front().size()) {
      throw InputError(line_name(name, number) + "expected " + std::to_string(rows.front().size()) +
                       " keys as in the first row, found " + std::to_string(row.size()));
    }
    if (row.size() > static_cast<std::size_t>(kMaxMaskTokens)) {
      throw InputError(name + ": " + size_error(static_cast<Index>(row.size())));
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty()) throw InputError(name + ": expected a row of a mask, found nothing");
  if (rows.size() != rows.front().size()) {
    throw InputError(name + ": expected " + std::to_string(rows.front().size()) +
                     " rows, the number of keys per row, found " + std::to_string(rows.size()));
  }
  const auto size = static_cast<Index>(rows.size());
  ByteTensor mask({size, size});
  for (Index i = 0; i < mask.size(); ++i) {
    mask[i] = rows[static_cast<std::size_t>(i / size)][static_cast<std::size_t>(i % size)] == '1';
  }
  return mask;
}

}  // namespace

MaskRows read_mask(const std::filesystem::path& path) {
  const std::string format = lower_extension(path);
  if (format == ".npy") return mask_rows(read_matrix(path));
  if (is_image_file(path)) return mask_rows(read_mask_image(path));
  const std::string text = read_file(path, limits::kMaxDrawnFile);
  if (format != ".json") return mask_rows(parse_mask(text, path.string()));
  MaskRows rows = parse_lists(text, path.string());
  if (rows.empty() || rows.size() > static_cast<std::size_t>(kMaxMaskTokens)) {
    throw InputError(path.string() + ": expected 1 to " + std::to_string(kMaxMaskTokens) +
                     " rows, found " + std::to_string(rows.size()));
  }
  const std::string problem = mask_error(rows);
  if (!problem.empty()) throw InputError(path.string() + ": " + problem);
  return rows;
}

namespace {

// Consumes a number at the beginning; -1 if the text begins with none.
Index consume_number(std::string_view& text) {
  Index number = -1;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number >= kMaxMaskTokens) return -1;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Consumes a separator. Returns true for an arrow, false for other separators, nullopt if invalid.
std::optional<bool> consume_link(std::string_view& text) {
  const auto end = text.find_first_of("0123456789");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view link = trim(text.substr(0, end));
  const bool is_space = end > 0 && link.empty();
  const bool is_negative = link == "-" && end > 1 && text[end - 1] == '-';
  text.remove_prefix(end);
  if (link == "->" || link == "→") return true;
  if (is_negative) return std::nullopt;
  if (is_space || link == "," || link == "-" || link == "–" || link == ";" || link == ":")
    return false;
  return std::nullopt;
}

EdgeList check_edges(EdgeList list, const std::string& name) {
  if (list.edges.empty()) throw InputError(name + ": expected edges, found none");
  if (list.edges.size() > kMaxEdges) {
    throw InputError(name + ": expected at most " + std::to_string(kMaxEdges) + " edges, found " +
                     std::to_string(list.edges.size()));
  }
  return list;
}

}  // namespace

EdgeList parse_edges(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::size_t number = 0, arrows = 0;
  std::set<std::pair<Index, Index>> edges;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::string_view rest = trim(std::string_view(line).substr(0, line.find('#')));
    if (rest.empty()) continue;
    const Index from = consume_number(rest);
    const std::optional<bool> is_arrow = from < 0 ? std::nullopt : consume_link(rest);
    const Index to = is_arrow ? consume_number(rest) : -1;
    if (to < 0 || !trim(rest).empty()) {
      throw InputError(line_name(name, number) + "expected two tokens from 0 to " +
                       std::to_string(kMaxMaskTokens - 1) +
                       ", such as \"0 1\" or \"0 -> 1\", found " + shortened(Json(line)));
    }
    const bool is_first = edges.empty();
    if (!is_first && *is_arrow != (arrows > 0)) {
      throw InputError(line_name(name, number) +
                       "expected arrows on all edges or on none, found both");
    }
    arrows += *is_arrow ? 1 : 0;
    edges.emplace(from, to);
    if (edges.size() > kMaxEdges) break;  // the error is reported below
  }
  EdgeList list;
  for (const auto& [from, to] : edges) list.edges.push_back({from, to});
  list.is_directed = arrows > 0;
  return check_edges(std::move(list), name);
}

EdgeList read_edges(const std::filesystem::path& path) {
  const std::string format = lower_extension(path), name = path.string();
  EdgeList list;
  if (format == ".npy") {
    const ByteTensor matrix = read_matrix(path);
    const Index size = matrix.dim(0);
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < size; ++j)
        list.is_directed |= (matrix(i, j) != 0) != (matrix(j, i) != 0);
    }
    for (Index i = 0; i < size; ++i) {
      for (Index j = list.is_directed ? 0 : i + 1; j < size; ++j) {
        if (i != j && matrix(i, j) != 0) list.edges.push_back({i, j});
      }
      if (list.edges.size() > kMaxEdges) break;  // the error is reported below
    }
    return check_edges(std::move(list), name);
  }
  const std::string text = read_file(path, limits::kMaxDrawnFile);
  if (format != ".json") return parse_edges(text, name);
  list.edges = parse_lists(text, name);
  for (const std::vector<Index>& edge : list.edges) {
    const bool is_valid = edge.size() == 2 && edge[0] < kMaxMaskTokens && edge[1] < kMaxMaskTokens;
    if (!is_valid) throw InputError(name + ": expected pairs of tokens such as [0, 1]");
  }
  return check_edges(std::move(list), name);
}

}  // namespace attnscope
