// Lookup: attention as a soft dictionary lookup, beside the hard lookup with the same query, keys
// and values. A hard lookup returns the value of the best matching key; attention returns the sum
// of all values by weight (Vaswani et al., 2017, equation 1).
#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/flow/flow_numbers.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/panel.h"
#include "core/view/mechanism/steps.h"
#include "core/view/mechanism/token_line.h"

namespace attnscope {
namespace {

constexpr double kLookupRow = 1.7,
                 kMinLookupRow = 1.25;  // em: preferred and smallest height of a row
constexpr double kMinLookup = 15;       // em: width of a lookup
constexpr double kMaxKeyLabel = 7,
                 kWeightNumber = 3.4;  // em: widest label of a key; width of a number
constexpr double kWeightBar = 4;       // em: width of a weight of 1
constexpr Index kMaxLookupKeys = 24;

bool shows_lookup(const AttentionTap& tap) {
  const HeadTensors<Shape>& shapes = tap.shapes().part;
  return tap.settings() != nullptr && tap.settings()->normaliser == Normaliser::Softmax &&
         !shapes.q.empty() && !shapes.k.empty() && !shapes.v.empty() && tap.keys() > 0;
}

std::string lookup_objection(const AttentionTap&) {
  return "A lookup needs a softmax over products of queries and keys.";
}

// The query's row: its strongest keys in the order of the text.
FlowSum lookup_sum(const HeadInput& in, Index query, Index keys) {
  FlowSum sum = flow_sum(in.input.trace, in.tap, in.head, query, keys, -1);
  return sum;
}

// Indices into FlowSum::keys in the order of the text.
std::vector<std::size_t> keys_in_text_order(const FlowSum& sum) {
  std::vector<std::size_t> order(sum.keys.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
  std::ranges::sort(order, {}, [&](std::size_t n) { return sum.keys[n].column; });
  return order;
}

Tensor vector_of(const Tensor& rows, std::size_t row) {
  const Index size = rows.dim(1);
  const float* first = rows.data() + static_cast<Index>(row) * size;
  return Tensor::from({size}, std::vector<float>(first, first + size));
}

double cosine(const Tensor& a, const Tensor& b) {
  double product = 0, aa = 0, bb = 0;
  for (Index n = 0; n < a.size(); ++n) {
    const auto x = static_cast<double>(a[n]), y = static_cast<double>(b[n]);
    product += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa > 0 && bb > 0 ? product / std::sqrt(aa * bb) : 0;
}

// One lookup: keys with their match, the values that they return, and the result.
struct LookupTable {
  Box box;
  bool is_soft = false;
};

class LookupPicture {
 public:
  LookupPicture(Page& page, const FlowSum& sum, double row, double label)
      : page_(page), sum_(sum), row_(row), label_(label) {
    std::vector<float> numbers(sum.values.begin(), sum.values.end());
    const auto size = static_cast<Index>(numbers.size());
    range_ = range_of_numbers(page, Tensor::from({size}, std::move(numbers)));
  }

  double height() const {
    return (static_cast<double>(sum_.keys.size()) + (sum_.others > 0 ? 1 : 0) + 1.6) * row_;
  }

  void draw(const LookupTable& table) const {
    double y = table.box.y + row_ / 2;
    for (const std::size_t n : keys_in_text_order(sum_)) {
      draw_key(table, n, y);
      y += row_;
    }
    if (sum_.others > 0) {
      const std::string others = count_text(sum_.others, "other key");
      page_.faint_text(
          {table.box.x, y},
          page_.fitting({others + (table.is_soft ? ", weight " + percent(sum_.others_weight)
                                                 : " do not match"),
                         others},
                        page_.small(), table.box.width),
          page_.small());
      y += row_;
    }
    draw_result(table, y + 0.3 * row_);
  }

 private:
  double values_x(const LookupTable& table) const {
    const double em = page_.em();
    return table.box.x + label_ + (kWeightNumber + kWeightBar + 0.8) * em;
  }
  Box values_box(const LookupTable& table, double y) const {
    const double x = values_x(table);
    return {x, y - 0.38 * row_, table.box.right() - x, 0.76 * row_};
  }

  void draw_key(const LookupTable& table, std::size_t n, double y) const {
    const double em = page_.em();
    const FlowKey& key = sum_.keys[n];
    const bool is_match = n == 0;  // keys are sorted by decreasing weight
    const bool returns = table.is_soft || is_match;
    const Colour ink = returns ? page_.theme().text : page_.theme().faint_text;
    page_.add(Text{{table.box.x, y},
                   page_.ellipsised(key.label, page_.em(), label_ - 0.5 * em),
                   ink,
                   em,
                   Align::Start,
                   0,
                   is_match});
    const double weight = table.is_soft ? key.weight : is_match ? 1 : 0;
    const double bar = table.box.x + label_;
    page_.add(FilledBox{{bar, y - 0.3 * row_, kWeightBar * em, 0.6 * row_},
                        translucent(page_.theme().line, 0.35)});
    page_.add(FilledBox{{bar, y - 0.3 * row_, kWeightBar * em * weight, 0.6 * row_},
                        page_.theme().accent});
    page_.add(Text{{bar + (kWeightBar + kWeightNumber) * em, y},
                   table.is_soft ? percent(weight)
                   : is_match    ? "1"
                                 : "0",
                   ink,
                   page_.small(),
                   Align::End});
    const Box values = values_box(table, y);
    if (!returns) {
      page_.add(OutlinedBox{values, translucent(page_.theme().line, 0.6), 1});
      return;
    }
    draw_panel(page_, values, vector_of(table.is_soft ? sum_.weighted : sum_.values, n), range_);
  }

  void draw_result(const LookupTable& table, double y) const {
    const double em = page_.em();
    page_.add(Line{{{table.box.x, y - 0.62 * row_}, {table.box.right(), y - 0.62 * row_}},
                   page_.theme().line,
                   1});
    const double width = values_x(table) - table.box.x - 0.5 * em;
    page_.add(
        Text{{table.box.x, y},
             page_.fitting(table.is_soft ? std::vector<std::string>{"result Σ aⱼ·vⱼ", "Σ aⱼ·vⱼ"}
                                         : std::vector<std::string>{"result: its value vⱼ", "vⱼ"},
                           em, width / 1.08),
             page_.theme().text,
             em,
             Align::Start,
             0,
             true});
    draw_panel(page_, values_box(table, y), table.is_soft ? sum_.sum : vector_of(sum_.values, 0),
               range_);
  }

  Page& page_;
  const FlowSum& sum_;
  double row_, label_;
  ColourRange range_;

 public:
  const ColourRange& range() const { return range_; }
};

MechanismLayout draw_lookup(Page& page, const Box& inside, const HeadInput& in) {
  const double em = page.em(), step = step_height(page);
  Index query = illustrated_token(in);
  // With one row of weights, unless keys are other tokens than queries.
  std::vector<TokenRow> token_rows;
  const bool has_weights = in.tap.keys() == in.tap.queries();
  if (has_weights) token_rows.push_back({"weight", Tensor::zeros({in.tap.queries()}), {}});
  TokenLine line = place_token_line(page, below(inside, step), query_axis(in.input.trace, in.tap),
                                    std::move(token_rows));
  MechanismLayout layout;
  layout.pair_at = token_hit_test(line);
  if (in.input.interaction.pointer) {
    if (const auto pair = layout.pair_at(*in.input.interaction.pointer)) query = pair->query;
  }
  const Box area = below(inside, line.bottom() - inside.y + 0.8 * em);
  auto [hard, soft] = split(page, area);
  if (hard.width < kMinLookup * em) return {.is_too_small = true};
  const double space =
      std::min(hard.height, soft.height) - step - horizontal_colour_bar_height(page);
  const auto rows = static_cast<Index>(space / (kMinLookupRow * em) - 2.6);
  if (rows < 1) return {.is_too_small = true};
  const FlowSum sum = lookup_sum(in, query, std::min(rows, kMaxLookupKeys));
  const std::string word = "“" + query_label(in.input.trace, in.tap, query) + "”";
  draw_step(page, inside, 1,
            {"The query of " + word + " is compared with the keys of all tokens that it may see",
             "The query of " + word + " is compared with keys", word});
  if (has_weights) {
    line.rows[0].numbers = sum.weights;
    line.rows[0].range = range_of_numbers(page, sum.weights);
  }
  draw_token_line(page, line, query);
  layout.bottom = area.bottom();
  if (sum.keys.empty() || !sum.adds_values) {
    page.text({area.x, area.y + em}, "This query has no keys with values.", em);
    return layout;
  }
  double label = 0;
  for (const FlowKey& key : sum.keys) label = std::max(label, page.width_of(key.label, em, true));
  label = std::min(label + em, kMaxKeyLabel * em);
  const double row = std::min(kLookupRow * em, space / (static_cast<double>(sum.keys.size()) +
                                                        (sum.others > 0 ? 1 : 0) + 1.6));
  const LookupPicture picture(page, sum, row, label);
  if (soft.y > hard.y) {  // stacked: no gap between the tables
    soft.y = std::min(soft.y, hard.y + step + picture.height() + 2.2 * em);
  }
  const std::string match = "“" + sum.keys.front().label + "”";
  const LookupTable tables[] = {{below(hard, step), false}, {below(soft, step), true}};
  draw_step(page, hard, 2,
            {"Hard lookup: the best match " + match + " returns its value",
             "Hard lookup: " + match + " returns its value", "Hard lookup"});
  draw_step(page, soft, 3,
            {"Attention, a soft lookup: each key returns its value, by weight",
             "Soft lookup: each value, by weight", "Soft lookup"});
  for (const LookupTable& table : tables) picture.draw(table);
  const double bottom = soft.y + step + picture.height();
  draw_horizontal_colour_bar(page, {soft.x, bottom}, std::min(20 * em, soft.width), picture.range(),
                             {"value", ""});
  const double likeness = cosine(sum.sum, vector_of(sum.values, 0));
  page.faint_text(
      {hard.x, hard.y + step + picture.height() + 0.8 * em},
      page.fitting({"Cosine of the two results: " + fixed(likeness, 2) + " (1: the lookup is hard)",
                    "Cosine of the results: " + fixed(likeness, 2)},
                   page.small(), hard.width),
      page.small());
  layout.bottom = bottom + horizontal_colour_bar_height(page);
  return layout;
}

std::vector<ViewData::Matrix> lookup_numbers(const HeadInput& in) {
  const FlowSum sum = lookup_sum(in, illustrated_token(in), kMaxLookupKeys);
  if (sum.keys.empty() || !sum.adds_values) return {};
  ViewData::Matrix weights{
      "weight", Tensor({static_cast<Index>(sum.keys.size()), 2}), {}, {"hard", "soft"}};
  for (std::size_t n = 0; n < sum.keys.size(); ++n) {
    weights.rows.push_back(sum.keys[n].label);
    weights.values(static_cast<Index>(n), 0) = n == 0 ? 1.0F : 0.0F;
    weights.values(static_cast<Index>(n), 1) = static_cast<float>(sum.keys[n].weight);
  }
  Tensor results({2, sum.sum.size()});
  const Tensor hard = vector_of(sum.values, 0);
  std::ranges::copy(hard, results.data());
  std::ranges::copy(sum.sum, results.data() + sum.sum.size());
  return {weights, {"result", results, {"hard", "soft"}, {}}};
}

}  // namespace

Mechanism lookup_mechanism() {
  Mechanism m{"lookup", "a hard and a soft lookup of the same keys and values", shows_lookup,
              draw_lookup, lookup_numbers};
  m.label = "Lookup";
  m.steps_through_tokens = true;
  m.parameters = {"token"};
  m.objection = lookup_objection;
  return m;
}

}  // namespace attnscope
