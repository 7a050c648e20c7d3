// Export of the numbers behind a view, for spreadsheets and other programs.
#pragma once

#include <string>

#include "core/tensor/safetensors.h"
#include "core/view/view.h"

namespace attnscope {

// Attention weights of a head, labelled by tokens; computed if not stored. `is_cropped`: only the
// visible region. Throws InputError if there are too many weights.
ViewData::Matrix head_weights(const ViewInput& input, const AttentionTap& tap, Index head,
                              bool is_cropped);

// Numbers of the session's view; in views that zoom, only those of the visible region. Throws
// InputError if the view has no numbers, or none for this run and region.
ViewData view_data(const Trace& trace, const Session& session, const Findings& findings = {});

// CSV: a line of column names, then one line per row. Each row begins with its indices along the
// leading axes and its label. The last of ViewData::Matrix::axes may name the rows (default:
// "query"). Several matrices are separated by empty lines, each below its name. NaN (excluded
// pairs) is an empty field. Throws InputError for a matrix of more than 2^24 numbers.
std::string to_csv(const ViewData& data);

// One tensor per matrix. Metadata: labels ("NAME.rows", "NAME.columns": JSON lists) and the session
// ("experiment").
SafetensorsFile safetensors_of(const ViewData& data, const Session& session);

}  // namespace attnscope
