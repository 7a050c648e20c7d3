#include "core/attention/variants/shared/rows.h"

namespace attnscope {

Pattern build_rows(const PatternInput& input, Index heads, std::vector<std::string> rules,
                   const std::function<void(PatternBuilder&, Index head, Index i)>& body) {
  PatternBuilder builder(heads, input.queries, input.keys, std::move(rules));
  for (Index head = 0; head < heads; ++head) {
    for (Index i = input.first; i < input.first + input.queries; ++i) {
      if (input.causal) builder.causal_limit(i + 1);
      body(builder, head, i);
      builder.next_row();
    }
  }
  return builder.finish();
}

void add_window(PatternBuilder& builder, int rule, Index i, Index window, Index dilation) {
  builder.add(rule, i - window * dilation, i + window * dilation + 1, dilation);
}

std::string window_rule(Index window, Index dilation, bool causal) {
  const std::string reach = std::to_string(window * dilation);
  const std::string sides = causal ? reach + " back" : "±" + reach;
  return (dilation == 1 ? "window " : "every " + ordinal(dilation) + ", ") + sides;
}

std::string ordinal(Index n) {
  const bool teens = n / 10 % 10 == 1;
  const char* ending = teens || n % 10 == 0 || n % 10 > 3 ? "th"
                                                          : (n % 10 == 1   ? "st"
                                                             : n % 10 == 2 ? "nd"
                                                                           : "rd");
  return std::to_string(n) + ending;
}

Parameter window_parameter() {
  return {.key = "window",
          .symbol = "w",
          .label = "Window",
          .help = "How many keys on either side a query sees, counted in steps of the dilation.",
          .required = true,
          .initial = Index{4},
          .telling = [](Index length) -> Value { return share_of(length, 8); },
          .slider_most = 64};
}

Parameter block_parameter(Index initial, Index share, double slider_most) {
  return {.key = "block",
          .symbol = "b",
          .label = "Block",
          .help = "How many tokens one block has.",
          .required = true,
          .initial = initial,
          .telling = [share](Index length) -> Value { return share_of(length, share); },
          .least = 1,
          .slider_least = 1,
          .slider_most = slider_most};
}

Parameter dilation_parameter() {
  return {.key = "dilation",
          .symbol = "r",
          .label = "Dilation",
          .help = "The step between the keys of the window; 1 leaves no gaps.",
          .initial = Index{1},
          .least = 1,
          .slider_least = 1,
          .slider_most = 16};
}

Parameter seed_parameter() {
  return {.key = "seed",
          .symbol = "",
          .label = "Seed",
          .help = "Starts the random numbers; the same seed gives the same choice again.",
          .initial = Index{0},
          .most = 9007199254740991,  // 2^53 - 1: what JSON carries exactly
          .slider_most = 99};
}

std::string found_text(Index found) {
  return ", found " + std::to_string(found);
}

}  // namespace attnscope
