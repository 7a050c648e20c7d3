#include "core/attention/variants/shared/rows.h"

namespace attnscope {

Pattern build_rows(const PatternInput& input, Index heads, std::vector<std::string> rules,
                   const std::function<void(PatternBuilder&, Index head, Index i)>& body) {
  PatternBuilder builder(heads, input.queries, input.keys, std::move(rules));
  for (Index head = 0; head < heads; ++head) {
    for (Index i = input.first; i < input.first + input.queries; ++i) {
      if (input.causal) builder.set_causal_limit(i + 1);
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
  const bool is_teen = n / 10 % 10 == 1;
  const char* ending = is_teen || n % 10 == 0 || n % 10 > 3 ? "th"
                                                            : (n % 10 == 1   ? "st"
                                                               : n % 10 == 2 ? "nd"
                                                                             : "rd");
  return std::to_string(n) + ending;
}

Parameter window_parameter() {
  return {
      .key = "window",
      .symbol = "w",
      .label = "Window",
      .help = "Number of keys visible on either side, counted in steps of the dilation.",
      .required = true,
      .initial = Index{4},
      .illustrative_default = [](Index length) -> Value { return fraction_of_length(length, 8); },
      .slider = {.max = 64}};
}

Parameter block_parameter(Index initial, Index divisor, double slider_max) {
  return {.key = "block",
          .symbol = "b",
          .label = "Block",
          .help = "Number of tokens in a block.",
          .required = true,
          .initial = initial,
          .illustrative_default = [divisor](Index length) -> Value {
            return fraction_of_length(length, divisor);
          },
          .limits = {.min = 1},
          .slider = {.min = 1, .max = slider_max}};
}

Parameter dilation_parameter() {
  return {.key = "dilation",
          .symbol = "r",
          .label = "Dilation",
          .help = "Step between the keys of the window; 1 leaves no gaps.",
          .initial = Index{1},
          .limits = {.min = 1},
          .slider = {.min = 1, .max = 16}};
}

Parameter seed_parameter() {
  return {.key = "seed",
          .symbol = "",
          .label = "Seed",
          .help = "Seed of the random numbers; equal seeds give equal results.",
          .initial = Index{0},
          .limits = {.max = 9007199254740991},  // 2^53 - 1, the largest exact integer in JSON
          .slider = {.max = 99}};
}

Parameter decoder_parameter(const char* help) {
  return {.key = "decoder",
          .symbol = "",
          .label = "Decoder",
          .help = help,
          .kind = Parameter::Kind::Flag,
          .initial = false,
          .illustrative_default = [](Index) -> Value { return true; }};
}

bool is_decoder(const Values& values) {
  return values.flag("decoder");
}

std::string found_text(Index found) {
  return ", found " + std::to_string(found);
}

}  // namespace attnscope
