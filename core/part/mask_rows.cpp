#include "core/part/mask_rows.h"

#include <algorithm>

namespace attnscope {

MaskRows mask_rows(const ByteTensor& mask) {
  const Index columns = mask.dim(1);
  MaskRows rows(static_cast<std::size_t>(mask.dim(0)));
  for (Index i = 0; i < mask.dim(0); ++i) {
    const std::uint8_t* row = mask.data() + i * columns;
    for (Index j = 0; j < columns; ++j) {
      const bool is_inside = j > 0 && row[j - 1] != 0;
      if ((row[j] != 0) != is_inside) rows[static_cast<std::size_t>(i)].push_back(j);
    }
    if (columns > 0 && row[columns - 1] != 0) rows[static_cast<std::size_t>(i)].push_back(columns);
  }
  return rows;
}

ByteTensor mask_from_rows(const MaskRows& rows, Index queries, Index keys) {
  ByteTensor mask = ByteTensor::zeros({queries, keys});
  const Index count = std::min(queries, static_cast<Index>(rows.size()));
  for (Index i = 0; i < count; ++i) {
    const std::vector<Index>& row = rows[static_cast<std::size_t>(i)];
    for (std::size_t n = 0; n + 1 < row.size(); n += 2) {
      const Index begin = std::min(row[n], keys), end = std::min(row[n + 1], keys);
      std::fill(mask.data() + i * keys + begin, mask.data() + i * keys + end, std::uint8_t{1});
    }
  }
  return mask;
}

std::string mask_error(const MaskRows& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Index previous = -1;
    bool is_valid = rows[i].size() % 2 == 0;
    for (const Index column : rows[i]) {
      is_valid &= column > previous;
      previous = column;
    }
    if (is_valid) continue;
    return "row " + std::to_string(i) +
           ": expected pairs of begin and end, ascending and separate, such as \"0, 2, 5, 6\"";
  }
  return "";
}

}  // namespace attnscope
