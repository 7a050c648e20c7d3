// The numbers behind a view, for spreadsheets and other programs.
#pragma once

#include <filesystem>

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

// Whether write_view_data() knows the ending: .csv, .npy, .safetensors.
bool is_data_name(const std::filesystem::path& path);
// .npy holds one array: InputError for a view of several. .safetensors has each by its name, and in
// its metadata their labels and the experiment ("NAME.rows", "NAME.columns": JSON lists;
// "experiment").
void write_view_data(const std::filesystem::path& path, const Trace& trace,
                     const Experiment& experiment, const Findings& findings = {});

}  // namespace attnscope
