#include "core/training/loss_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/figure/render.h"
#include "core/training/loss_picture.h"

namespace attnscope {
namespace {

constexpr std::string_view kHeader =
    "step,loss,rate,tokens_per_second,held_out_loss,held_out_bits_per_byte,held_out_accuracy";

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

std::string to_line(const LossRow& row) {
  std::string line = std::to_string(row.step);
  for (const auto member : row_members()) append(line, row.*member);
  for (const auto member : score_members()) append(line, row.held_out.*member);
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

bool parse(std::string_view line, LossRow& row) {
  if (std::count(line.begin(), line.end(), ',') != 6) return false;
  if (!parse_field(line, row.step)) return false;
  for (const auto member : row_members()) {
    if (!parse_field(line, row.*member)) return false;
  }
  for (const auto member : score_members()) {
    if (!parse_field(line, row.held_out.*member)) return false;
  }
  return true;
}

}  // namespace

void LossLog::load_steps(Index steps) {
  const std::filesystem::path path = folder_ / "loss.csv";
  if (!file_exists(path)) return;
  const std::string text = read_file(path);
  std::string_view remaining = text;
  for (Index number = 1; !remaining.empty(); ++number) {
    const std::string_view line = remaining.substr(0, remaining.find('\n'));
    remaining.remove_prefix(std::min(remaining.size(), line.size() + 1));
    const auto fail = [&](const std::string& expected) {
      throw InputError(path.string() + ": line " + std::to_string(number) + ": expected " +
                       expected);
    };
    if (number == 1) {
      if (line != kHeader) fail("\"" + std::string(kHeader) + "\"");
      continue;
    }
    LossRow row;
    const Index min_step = rows_.empty() ? 1 : rows_.back().step + 1;
    if (!parse(line, row) || row.step < min_step) {
      fail("the numbers of step " + std::to_string(min_step) + " or a later one");
    }
    if (row.step > steps) break;
    rows_.push_back(row);
  }
}

void LossLog::add(const LossRow& row) {
  rows_.push_back(row);
}

void LossLog::add_score(const Score& score) {
  if (!rows_.empty()) rows_.back().held_out = score;
}

void LossLog::save() const {
  std::string text = std::string(kHeader) + '\n';
  for (const LossRow& row : rows_) text += to_line(row);
  write_file(folder_ / "loss.csv", text);
  const std::string title = "Training of " + folder_.filename().string();
  constexpr double kScale = 2;  // pixels per unit, for high-resolution screens
  write_picture(folder_ / "loss.png", loss_picture(rows_, title, Theme::light()), kScale,
                {{"Title", title}});
}

}  // namespace attnscope
