// Cells of tables in plain text and CSV.
#pragma once

#include <string>

namespace attnscope {

// `text` with spaces before it; unchanged if it is longer than `width` bytes.
std::string right_aligned(const std::string& text, std::size_t width);

// `text` as a CSV field (RFC 4180): quoted if it contains a comma, a quote or a line break.
std::string csv_field(const std::string& text);

}  // namespace attnscope
