// Routing by agreement: outputs compete for each input, round by round.
#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/panel.h"
#include "core/view/mechanism/steps.h"
#include "core/view/mechanism/token_line.h"

namespace attnscope {
namespace {

constexpr double kMinMap = 6, kMaxMap = 24;  // em: side of a round's map
constexpr double kMapGap = 2.5;              // em
constexpr double kMapTitle = 1.5;            // em
constexpr std::size_t kMaxRounds = 4;  // maximum of maps and rows: the first rounds and the last
constexpr Index kMaxTokens = 512;

bool shows_routing_rounds(const AttentionTap& tap) {
  return tap.result.extra.contains("capsules.couplings") && tap.queries() == tap.keys() &&
         tap.queries() <= kMaxTokens && !tap.shapes().input.v.empty() &&
         !tap.shapes().output.empty();
}

// Couplings of the head in one round.  [L, L]
Tensor couplings_of(const HeadInput& in, Index round) {
  const Tensor& all = in.tap.result.extra.at("capsules.couplings");  // [n, h, L, L]
  const Index length = all.dim(2);
  Tensor map({length, length});
  std::copy_n(all.data() + (round * all.dim(1) + in.head) * map.size(), map.size(), map.data());
  return map;
}

// Rounds to draw: all of them, or the first ones and the last.
std::vector<Index> drawn_rounds(const HeadInput& in, std::size_t most) {
  const Index count = in.tap.result.extra.at("capsules.couplings").dim(0);
  std::vector<Index> rounds;
  for (Index n = 0; n < count; ++n) rounds.push_back(n);
  if (rounds.size() > most)
    rounds.erase(rounds.begin() + static_cast<Index>(most) - 1, rounds.end() - 1);
  return rounds;
}

// v_j·o_i of all tokens for output `row`.  [L]
Tensor agreements(const HeadInput& in, Index row) {
  const Tensor v = in.tap.input().v, output = in.tap.output();
  const Index heads = in.tap.result.extra.at("capsules.couplings").dim(1);
  const Index kv_head = in.head * v.dim(0) / heads;
  Tensor result({v.dim(1)});
  for (Index j = 0; j < result.size(); ++j) {
    double sum = 0;
    for (Index n = 0; n < v.dim(2); ++n) {
      sum += static_cast<double>(v(kv_head, j, n)) * static_cast<double>(output(in.head, row, n));
    }
    result[j] = static_cast<float>(sum);
  }
  return result;
}

double output_length(const HeadInput& in, Index row) {
  const Tensor output = in.tap.output();
  double sum = 0;
  for (Index n = 0; n < output.dim(2); ++n) {
    sum +=
        static_cast<double>(output(in.head, row, n)) * static_cast<double>(output(in.head, row, n));
  }
  return std::sqrt(sum);
}

// Colours from 0 to the largest coupling of all rounds.
ColourRange coupling_range(const Page& page, const HeadInput& in) {
  float largest = 0;
  for (const Index round : drawn_rounds(in, kMaxRounds)) {
    for (const float x : couplings_of(in, round)) largest = std::max(largest, x);
  }
  return {0, static_cast<double>(largest), range_of_numbers(page, Tensor({0})).colour_map};
}

std::vector<TokenRow> token_rows(const Page& page, const HeadInput& in, Index row) {
  std::vector<TokenRow> rows;
  const ColourRange range = coupling_range(page, in);
  for (const Index round : drawn_rounds(in, kMaxRounds)) {
    const Tensor map = couplings_of(in, round);
    Tensor numbers({map.dim(1)});
    std::copy_n(map.data() + row * map.dim(1), map.dim(1), numbers.data());
    rows.push_back({"round " + std::to_string(round + 1), numbers, range});
  }
  const Tensor agreement = agreements(in, row);
  rows.push_back({"agreement", agreement, range_of_numbers(page, agreement)});
  return rows;
}

struct CapsulesPlan {
  std::vector<Index> rounds;  // of the maps
  std::vector<Box> maps;
  Box compete, collect, agree;  // sentences
  TokenLine line;
  Index row = 0;  // illustrated output
};

std::optional<CapsulesPlan> plan_capsules(const Page& page, const Box& inside,
                                          const HeadInput& in) {
  const double em = page.em(), step = step_height(page);
  CapsulesPlan plan;
  plan.row = illustrated_token(in);
  plan.compete = {inside.x, inside.y, inside.width, step};
  const Box area = below(inside, step);
  // The line is placed twice: its height limits the maps above it.
  plan.line = place_token_line(page, area, query_axis(in.input.trace, in.tap),
                               token_rows(page, in, plan.row));
  const double line_height = plan.line.bottom() - area.y;
  const double side_by_height = area.height - line_height - 2 * step - (kMapTitle + 1) * em;
  plan.rounds = drawn_rounds(in, kMaxRounds);
  const auto side = [&] {
    const auto count = static_cast<double>(plan.rounds.size());
    const double side_by_width = (area.width + kMapGap * em) / count - kMapGap * em;
    return std::min({side_by_height, side_by_width, kMaxMap * em});
  };
  while (plan.rounds.size() > 1 && side() < kMinMap * em) {
    plan.rounds = drawn_rounds(in, plan.rounds.size() - 1);
  }
  if (side() < kMinMap * em) return {};
  for (std::size_t n = 0; n < plan.rounds.size(); ++n) {
    plan.maps.push_back({area.x + static_cast<double>(n) * (side() + kMapGap * em),
                         area.y + kMapTitle * em, side(), side()});
  }
  Box rest = below(area, plan.maps.front().bottom() - area.y + 0.6 * em);
  plan.collect = {rest.x, rest.y, rest.width, step};
  rest = below(rest, step);
  plan.line = place_token_line(page, rest, query_axis(in.input.trace, in.tap), plan.line.rows);
  plan.agree = {rest.x, plan.line.bottom() + 0.4 * em, rest.width, step};
  return plan;
}

void draw_maps(Page& page, const CapsulesPlan& plan, const HeadInput& in) {
  const double em = page.em();
  const ColourRange range = coupling_range(page, in);
  for (std::size_t n = 0; n < plan.maps.size(); ++n) {
    const Box& box = plan.maps[n];
    page.text({box.x, box.y - kMapTitle / 2 * em},
              page.ellipsised("round " + std::to_string(plan.rounds[n] + 1), em, box.width), em);
    draw_panel(page, box, couplings_of(in, plan.rounds[n]), range);
    const double height = box.height / static_cast<double>(in.tap.queries());
    page.add(OutlinedBox{{box.x, box.y + static_cast<double>(plan.row) * height, box.width, height},
                         page.theme().accent,
                         2});
  }
}

MechanismLayout draw_capsules(Page& page, const Box& inside, const HeadInput& in) {
  std::optional<CapsulesPlan> plan = plan_capsules(page, inside, in);
  if (!plan) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = token_hit_test(plan->line);
  if (in.input.interaction.pointer) {
    if (const auto pair = layout.pair_at(*in.input.interaction.pointer)) {
      plan->row = pair->query;
      plan->line.rows = token_rows(page, in, plan->row);
    }
  }
  const std::string name = "“" + query_label(in.input.trace, in.tap, plan->row) + "”";
  draw_step(
      page, plan->compete, 1,
      {"Compete: outputs (down) compete for each input (across), so that columns sum to 1; each "
       "round strengthens the routes that agree",
       "Compete: outputs (down) compete for each input (across); columns sum to 1",
       "Outputs compete for inputs"});
  draw_maps(page, *plan, in);
  draw_step(
      page, plan->collect, 2,
      {"Collect: the output of " + name +
           " gets this share of each token; the agreement is the product of the token's value "
           "and the output",
       "Collect: shares of the tokens that the output of " + name + " gets", "Collect"});
  draw_token_line(page, plan->line, plan->row);
  const std::string length = fixed(output_length(in, plan->row), 2);
  draw_step(page, plan->agree, 3,
            {"Squash: the sum is shortened to a length below 1; here " + length +
                 ": the more its inputs agree, the longer",
             "Squash: the length of the output is " + length, "Squash: length " + length});
  layout.bottom = plan->agree.bottom();
  return layout;
}

std::vector<ViewData::Matrix> capsules_numbers(const HeadInput& in) {
  const std::vector<std::string> rows = query_axis(in.input.trace, in.tap).labels;
  const std::vector<std::string> keys = key_axis(in.input.trace, in.tap).labels;
  std::vector<ViewData::Matrix> matrices;
  const Index count = in.tap.result.extra.at("capsules.couplings").dim(0);
  for (Index round = 0; round < count; ++round) {
    matrices.push_back({"round " + std::to_string(round + 1), couplings_of(in, round), rows, keys});
  }
  const Index row = illustrated_token(in);
  const Tensor agreement = agreements(in, row);
  matrices.push_back({"agreement",
                      agreement.reshaped({1, agreement.size()}),
                      {rows[static_cast<std::size_t>(row)]},
                      keys});
  return matrices;
}

}  // namespace

Mechanism capsules_mechanism() {
  Mechanism m{"capsules", "routing of tokens to outputs by agreement", shows_routing_rounds,
              draw_capsules, capsules_numbers};
  m.label = "Routing by agreement";
  m.steps_through_tokens = true;
  m.parameters = {"token"};
  return m;
}

}  // namespace attnscope
