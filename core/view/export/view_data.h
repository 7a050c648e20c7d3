// Export of the numbers behind a view, for spreadsheets and other programs.
#pragma once

#include <string>

#include "core/tensor/safetensors.h"
#include "core/view/view.h"

namespace attnscope {

// Attention of a head with its tokens, derived if it was not stored: the visible region if `part`,
// otherwise all of it. Throws InputError if that is too large.
ViewData::Matrix head_weights(const ViewInput& input, const AttentionTap& tap, Index head,
                              bool part);

// Numbers of the session's view, limited to the visible region in views that zoom. Throws
// InputError if there are none.
ViewData view_data(const Trace& trace, const Session& session, const Findings& findings = {});

// CSV: a line of column names, then one line per row, beginning with its label. Axes before the
// last two come first, one column each; several matrices are separated by empty lines, each below
// its name. A name in `axes` beyond those is that of the rows ("query"). NaN (excluded pairs) is
// empty.
std::string to_csv(const ViewData& data);

// Quotes a CSV field if necessary.
std::string csv_field(const std::string& text);

// Each matrix by name; metadata: labels ("NAME.rows", "NAME.columns": JSON lists) and the session
// ("experiment").
SafetensorsFile safetensors_of(const ViewData& data, const Session& session);

}  // namespace attnscope
