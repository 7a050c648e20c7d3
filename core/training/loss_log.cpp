#include "core/training/loss_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/figure/plain_text.h"
#include "core/figure/render.h"
#include "core/training/loss_picture.h"

namespace attnscope {
namespace {

constexpr std::string_view kHeader =
    "step,loss,rate,tokens_per_second,held_out_loss,held_out_bits_per_byte,held_out_accuracy";

// Further columns, which logs of earlier versions lack; then a column per layer.
constexpr std::string_view kMoreColumns =
    ",gradient_norm,expected_weight,expected_uniform,expected_step,expected_layer,expected_head";
constexpr std::string_view kLayerColumn = ",gradient ";
constexpr std::ptrdiff_t kColumns = 7, kMoreCount = 6;

// Members in the columns after the step.
std::array<double LossRow::*, 3> row_members() {
  return {&LossRow::loss, &LossRow::learning_rate, &LossRow::tokens_per_second};
}
std::array<double Score::*, 3> score_members() {
  return {&Score::loss, &Score::bits_per_byte, &Score::accuracy};
}

void append(std::string& line, double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
  line += ',';
  if (!std::isnan(value)) line.append(text, end.ptr);
}

void append(std::string& line, const ExpectedMatch& match) {
  append(line, match.weight);
  append(line, match.uniform);
  for (const Index number : {match.step, match.layer, match.head}) {
    line += ',';
    if (!std::isnan(match.weight)) line += std::to_string(number);
  }
}

std::string to_line(const LossRow& row, std::size_t layers) {
  std::string line = std::to_string(row.step);
  for (const auto member : row_members()) append(line, row.*member);
  for (const auto member : score_members()) append(line, row.held_out.*member);
  append(line, row.gradient_norm);
  append(line, row.expected);
  for (std::size_t i = 0; i < layers; ++i) {
    append(line, i < row.gradients.size() ? row.gradients[i] : std::nan(""));
  }
  return line + '\n';
}

// Removes the field before the next comma from `line` and parses it. Empty real fields are NaN.
// Returns false if the field is not a number.
template <class Number>
bool parse_field(std::string_view& line, Number& value) {
  const std::string_view field = line.substr(0, line.find(','));
  line.remove_prefix(std::min(line.size(), field.size() + 1));
  if constexpr (std::is_floating_point_v<Number>) {
    if (field.empty()) value = std::numeric_limits<Number>::quiet_NaN();
    if (field.empty()) return true;
  }
  const auto end = std::from_chars(field.data(), field.data() + field.size(), value);
  return end.ec == std::errc() && end.ptr == field.data() + field.size();
}

// Parses the columns that kMoreColumns names.
bool parse_more(std::string_view& line, LossRow& row) {
  ExpectedMatch& match = row.expected;
  for (double* value : {&row.gradient_norm, &match.weight, &match.uniform}) {
    if (!parse_field(line, *value)) return false;
  }
  for (Index* number : {&match.step, &match.layer, &match.head}) {
    if (std::isnan(match.weight)) {
      if (!line.starts_with(',') && !line.empty()) return false;
      line.remove_prefix(std::min<std::size_t>(1, line.size()));
    } else if (!parse_field(line, *number)) {
      return false;
    }
  }
  return true;
}

// layers: number of columns with gradient norms of layers; nullopt: a line without kMoreColumns.
bool parse(std::string_view line, std::optional<std::size_t> layers, LossRow& row) {
  const std::ptrdiff_t columns =
      kColumns + (layers ? kMoreCount + static_cast<std::ptrdiff_t>(*layers) : 0);
  if (std::count(line.begin(), line.end(), ',') != columns - 1) return false;
  if (!parse_field(line, row.step)) return false;
  for (const auto member : row_members()) {
    if (!parse_field(line, row.*member)) return false;
  }
  for (const auto member : score_members()) {
    if (!parse_field(line, row.held_out.*member)) return false;
  }
  if (!layers) return true;
  if (!parse_more(line, row)) return false;
  row.gradients.resize(*layers);
  return std::ranges::all_of(row.gradients, [&](double& norm) { return parse_field(line, norm); });
}

// Reads the names of the layers from the header; nullopt if it has none of the further columns.
// Returns false if it is not a header.
bool parse_header(std::string_view line, std::optional<std::vector<std::string>>& layers) {
  if (!line.starts_with(kHeader)) return false;
  line.remove_prefix(kHeader.size());
  if (line.empty()) return true;
  if (!line.starts_with(kMoreColumns)) return false;
  line.remove_prefix(kMoreColumns.size());
  layers.emplace();
  while (line.starts_with(kLayerColumn)) {
    line.remove_prefix(kLayerColumn.size());
    layers->emplace_back(line.substr(0, line.find(',')));
    line.remove_prefix(layers->back().size());
  }
  return line.empty();
}

}  // namespace

void LossLog::load_steps(Index steps) {
  const std::filesystem::path path = folder_ / "loss.csv";
  if (!file_exists(path)) return;
  const std::string text = read_file(path);
  std::string_view remaining = text;
  std::optional<std::vector<std::string>> layers;
  for (Index number = 1; !remaining.empty(); ++number) {
    const std::string_view line = remaining.substr(0, remaining.find('\n'));
    remaining.remove_prefix(std::min(remaining.size(), line.size() + 1));
    const auto fail = [&](const std::string& expected) {
      throw InputError(path.string() + ": line " + std::to_string(number) + ": expected " +
                       expected);
    };
    if (number == 1) {
      if (!parse_header(line, layers)) fail("\"" + std::string(kHeader) + "\"");
      if (layers) layers_ = *layers;
      continue;
    }
    LossRow row;
    const Index min_step = rows_.empty() ? 1 : rows_.back().step + 1;
    const auto columns = layers ? std::optional(layers->size()) : std::nullopt;
    if (!parse(line, columns, row) || row.step < min_step) {
      fail("the numbers of step " + std::to_string(min_step) + " or a later one");
    }
    if (row.step > steps) break;
    rows_.push_back(row);
  }
}

const LossRow* found_row(const std::vector<LossRow>& rows) {
  const auto found = std::ranges::find_if(
      rows, [](const LossRow& row) { return row.expected.contrast() >= kFoundContrast; });
  return found == rows.end() ? nullptr : &*found;
}

void LossLog::add(const LossRow& row) {
  rows_.push_back(row);
}

std::string describe_match(const std::string& description, const std::vector<LossRow>& rows) {
  std::string text = "Expected map: " + description + ". ";
  const auto newest = std::find_if(rows.rbegin(), rows.rend(), [](const LossRow& row) {
    return !std::isnan(row.expected.weight);
  });
  if (newest == rows.rend()) return text + "Not measured yet.";
  text += "Best head: " + head_text(newest->expected) + ", " + percent(newest->expected.weight) +
          " of its weight there (uniform attention: " + percent(newest->expected.uniform) + "). ";
  const LossRow* found = found_row(rows);
  return text + (found == nullptr ? "Not found yet."
                                  : "Found at step " + std::to_string(found->step) + ".");
}

void LossLog::add_score(const Score& score, const ExpectedMatch& expected) {
  if (rows_.empty()) return;
  rows_.back().held_out = score;
  rows_.back().expected = expected;
}

void LossLog::save_rows() const {
  std::string text = std::string(kHeader) + std::string(kMoreColumns);
  for (const std::string& layer : layers_) text += std::string(kLayerColumn) + layer;
  text += '\n';
  for (const LossRow& row : rows_) text += to_line(row, layers_.size());
  write_file(folder_ / "loss.csv", text);
}

void LossLog::save() const {
  save_rows();
  const std::string title = "Training of " + folder_.filename().string();
  constexpr double kScale = 2;  // pixels per unit, for high-resolution screens
  write_picture(folder_ / "loss.png", loss_picture(rows_, title, Theme::light()), kScale,
                {{"Title", title}});
}

}  // namespace attnscope
