// The numbers behind a view, for spreadsheets and other programs.
#pragma once

#include <string>

#include "core/tensor/safetensors.h"
#include "core/view/view.h"

namespace attnscope {

// The attention of a head, derived where it was not kept, with its tokens: what the settings have
// in sight where `part`, else all of it. InputError where that is too large.
ViewData::Matrix head_weights(const ViewInput& input, const AttentionTap& tap, Index head,
                              bool part);

// What the experiment's view shows; of a view that zooms the part in sight. InputError where there
// is nothing.
ViewData view_data(const Trace& trace, const Experiment& experiment, const Findings& findings = {});

// Comma-separated: a line of column names, then one for each row, which begins with its label.
// Axes before the last two come first, a column each; several matrices are parted by empty lines,
// each below its name. Where `axes` have a name beyond those, it is what the rows are ("query").
// What is NaN (a pair that is not allowed) is empty.
std::string to_csv(const ViewData& data);

// One field of such a line, quoted where necessary.
std::string csv_field(const std::string& text);

// Each matrix by its name; the metadata hold the labels ("NAME.rows", "NAME.columns": JSON lists)
// and the experiment ("experiment").
SafetensorsFile safetensors_of(const ViewData& data, const Experiment& experiment);

}  // namespace attnscope
