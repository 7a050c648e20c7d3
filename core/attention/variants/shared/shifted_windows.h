// Windows of M x M pixels whose borders move by half a window (Liu et al., 2021).
#pragma once

#include "core/base/parameter.h"

namespace attnscope {

// Division of an image into windows. Borders lie at shift + n * window, so that the first and the
// last window of a row or column can be partial. In a cyclically shifted image, two such partial
// windows share one whole window, and a mask separates them.
struct ShiftedWindows {
  Index width = 1, height = 1;
  Index window = 1;                       // M
  Index row_shift = 0, column_shift = 0;  // M / 2, rounded down, or 0

  struct Range {
    Index begin = 0, end = 0;
  };
  Range rows_of(Index row) const;        // rows of the window that contains `row`
  Range columns_of(Index column) const;  // columns of the window that contains `column`
  bool is_shifted() const { return row_shift > 0 || column_shift > 0; }
};

// The windows of a layer by the parameters width, height, window and mode. A side that fits into
// one window is not divided.
ShiftedWindows shifted_windows(const Values& values, Index layer);

}  // namespace attnscope
