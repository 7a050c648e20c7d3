#include "app/command/length_list.h"

#include <optional>

#include "app/command/experiment_options.h"
#include "core/analysis/cost_curve.h"
#include "core/base/error.h"

namespace attnscope::command {

std::vector<Index> lengths_from_text(const std::string& text) {
  const std::size_t dots = text.find("..");
  const bool is_range = dots != std::string::npos;
  std::string comma_separated = text;
  if (is_range) comma_separated.replace(dots, 2, ",");
  const std::optional<std::vector<std::int32_t>> numbers = numbers_from_text(comma_separated, 1);
  if (numbers && !is_range) return {numbers->begin(), numbers->end()};
  if (numbers && numbers->size() == 2) {
    const std::vector<Index> lengths = doubling_lengths((*numbers)[0], (*numbers)[1]);
    if (!lengths.empty()) return lengths;
  }
  throw InputError(
      "--lengths: expected lengths of at least 1, FIRST..LAST in ascending order or a list such as "
      "\"100,300,900\", found \"" +
      text + "\"");
}

}  // namespace attnscope::command
