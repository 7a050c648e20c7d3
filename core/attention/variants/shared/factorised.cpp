#include "core/attention/variants/shared/factorised.h"

namespace attnscope {

Parameter factorised_mode_parameter() {
  return {.key = "mode",
          .symbol = "",
          .label = "Mode",
          .help =
              "Index set of a head: the first, the second, both merged, or alternating by head or "
              "by layer.",
          .kind = Parameter::Kind::Choice,
          .initial = std::string("first"),
          .illustrative_default = [](Index) -> Value { return std::string("merged"); },
          .choices = {"first", "second", "merged", "per_head", "interleaved"}};
}

Parameter stride_parameter(const char* help) {
  return {.key = "stride",
          .symbol = "l",
          .label = "Stride",
          .help = help,
          .required = true,
          .scope = {.image = "width"},
          .initial = Index{8},
          .illustrative_default = [](Index length) -> Value { return rounded_root(length); },
          .limits = {.min = 1},
          .slider = {.min = 1, .max = 64}};
}

Pattern factorised_pattern(
    const PatternInput& input, std::vector<std::string> rules,
    const std::function<void(PatternBuilder&, int rule, Index i)>& add_first,
    const std::function<void(PatternBuilder&, int rule, Index i)>& add_second) {
  const std::string& mode = input.values.choice("mode");
  const bool by_head = mode == "per_head", by_layer = mode == "interleaved";
  return build_rows(input, by_head ? input.heads : 1, std::move(rules),
                    [&](PatternBuilder& rows, Index head, Index i) {
                      const bool uses_second =
                          by_head ? (input.first_head + head) % 2 == 1 : input.layer % 2 == 1;
                      const bool alternates = by_head || by_layer;
                      if (mode == "first" || mode == "merged" || (alternates && !uses_second))
                        add_first(rows, 0, i);
                      if (mode == "second" || mode == "merged" || (alternates && uses_second))
                        add_second(rows, 1, i);
                    });
}

}  // namespace attnscope
