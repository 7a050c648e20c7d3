// Attention as a recurrent network: each token is written to a matrix state and reads from this
// state.
#include "core/analysis/recurrence.h"

#include <algorithm>

#include "core/attention/variants/shared/implied_rows.h"
#include "core/figure/plain_text.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/panel.h"
#include "core/view/mechanism/recurrence_words.h"
#include "core/view/mechanism/steps.h"
#include "core/view/mechanism/token_line.h"

namespace attnscope {
namespace {

constexpr Index kMaxRead = 2048;         // tokens
constexpr double kVector = 1.1;          // em: thickness of a vector next to a matrix
constexpr double kVectorGap = 0.45;      // em
constexpr double kSign = 2.4;            // em: "+" or "=" with margins
constexpr double kTitle = 1.5;           // em: title of a matrix
constexpr double kNote = 1.7;            // em: note below the matrices
constexpr double kMinMatrixWidth = 5;    // em
constexpr double kMinMatrixHeight = 5;   // em
constexpr double kMaxMatrixHeight = 36;  // em
constexpr double kMaxSumsHeight = 12;    // em: two sums of each channel

struct RecurrencePlan {
  Recurrence recurrence;
  RecurrentStep step;
  Index t = 0;  // token
  ColourRange states, keys, queries, values;
  TokenLine line;
  Box sentence, write, read;  // sentences
  Box old_state, added, new_state;
  Box note;
};

bool shows_state(const AttentionTap& tap) {
  return recurrence_refusal(tap).empty() && tap.queries() <= kMaxRead;
}

Tensor padded(const std::vector<double>& numbers, Index length) {
  Tensor result = Tensor::full({length}, std::numeric_limits<float>::quiet_NaN());
  std::ranges::transform(numbers, result.data(), [](double x) { return static_cast<float>(x); });
  return result;
}

ColourRange share_range(const Page& page) {
  return {0, 1, range_of_numbers(page, Tensor({0})).colour_map};
}

std::vector<TokenRow> token_rows(const Page& page, const RecurrencePlan& plan) {
  std::vector<TokenRow> rows;
  const Index length = plan.recurrence.length();
  if (!plan.recurrence.gates.empty()) {
    const ColourRange shares = share_range(page);
    const Tensor counts = padded(plan.step.counts, length);
    rows.push_back({"gate", padded(plan.recurrence.gates, length), shares});
    rows.push_back({"counts", counts, range_of_numbers(page, counts)});
  }
  const RecurrenceWords words = recurrence_words(plan.recurrence, plan.t, "");
  if (!words.channel_mean.empty()) {
    const Tensor means = padded(plan.recurrence.channel_means, length);
    rows.push_back({words.channel_mean, means, range_of_numbers(page, means)});
  }
  const Tensor weights = padded(plan.step.weights, length);
  rows.push_back({"weight", weights, range_of_numbers(page, weights)});
  return rows;
}

void set_step(const Page& page, RecurrencePlan& plan, Index t) {
  plan.t = t;
  plan.step = recurrent_step(plan.recurrence, t);
  plan.line.rows = token_rows(page, plan);
}

// Places the equation old_state + [key added] = [query new_state z], with the value above `added`
// and the output below `new_state`.
bool place_matrices(const Page& page, const Box& box, RecurrencePlan& plan) {
  const double em = page.em(), column = (kVector + kVectorGap) * em;
  const double bar_width = colour_bar_width(page);
  const double fixed_width = 2 * kSign * em + 3 * column + bar_width;
  const double width = (box.width - fixed_width) / 3;
  const double top = step_height(page) + (kTitle + kVector + kVectorGap) * em;
  const double foot = (kVector + kVectorGap + kNote) * em;
  const bool has_sums = plan.recurrence.kind == Recurrence::Kind::Wkv;
  const double height =
      std::min(box.height - top - foot, (has_sums ? kMaxSumsHeight : kMaxMatrixHeight) * em);
  if (width < kMinMatrixWidth * em || height < kMinMatrixHeight * em) return false;
  const double y = box.y + top;
  plan.old_state = {box.x, y, width, height};
  plan.added = {plan.old_state.right() + kSign * em + column, y, width, height};
  plan.new_state = {plan.added.right() + kSign * em + column, y, width, height};
  plan.write = {box.x, box.y, plan.added.right() - box.x, step_height(page)};
  const double read_x = plan.added.right() + kSign * em;
  plan.read = {read_x, box.y, box.right() - read_x, step_height(page)};
  plan.note = {box.x, y + height + (kVector + kVectorGap) * em, box.width, kNote * em};
  return true;
}

// Values as they are written to the state: Δ·v if it is selective.  [L, d_v]
Tensor written_values(const Recurrence& recurrence) {
  if (recurrence.kind != Recurrence::Kind::Selective) return recurrence.v;
  Tensor values = recurrence.v.copy();
  for (Index n = 0; n < values.size(); ++n) values[n] *= recurrence.delta[n];
  return values;
}

std::optional<RecurrencePlan> plan_recurrence(const Page& page, const Box& inside,
                                              const HeadInput& in) {
  RecurrencePlan plan;
  plan.recurrence = recurrence_of(in.tap, in.head);
  set_step(page, plan, illustrated_token(in));
  plan.sentence = {inside.x, inside.y, inside.width, step_height(page)};
  plan.line = place_token_line(page, below(inside, step_height(page)),
                               query_axis(in.input.trace, in.tap), plan.line.rows);
  const double line_end = plan.line.bottom();
  if (!place_matrices(page, below(inside, line_end - inside.y + 0.8 * page.em()), plan)) return {};
  const Index last = plan.recurrence.length() - 1;
  plan.states = plan.recurrence.kind == Recurrence::Kind::Wkv
                    ? share_range(page)
                    : range_of_numbers(page, recurrent_step(plan.recurrence, last).after);
  plan.keys = range_of_numbers(page, plan.recurrence.k);
  plan.queries = range_of_numbers(page, plan.recurrence.q);
  plan.values = range_of_numbers(page, written_values(plan.recurrence));
  return plan;
}

void draw_tokens(Page& page, const RecurrencePlan& plan, const std::string& word) {
  const std::string place = "token " + std::to_string(plan.t) + ", " + word;
  draw_step(page, plan.sentence, 1,
            {"Process the text token by token; here at " + place, "At " + place, word});
  draw_token_line(page, plan.line, plan.t);
}

// Draws a labelled vertical vector to the left or right of a matrix.
void draw_vertical(Page& page, const Box& matrix, bool is_left, const Tensor& numbers,
                   const ColourRange& range, const std::string& name) {
  const double em = page.em(), width = kVector * em, gap = kVectorGap * em;
  const Box box{is_left ? matrix.x - gap - width : matrix.right() + gap, matrix.y, width,
                matrix.height};
  draw_panel(page, box, numbers.reshaped({numbers.size(), 1}), range);
  const bool is_wide = page.width_of(name, page.small()) > 2 * width;  // would reach the matrix
  page.text({is_wide ? box.right() : box.x + width / 2, box.y - 0.6 * em}, name, page.small(),
            is_wide ? Align::End : Align::Middle);
}

void draw_horizontal(Page& page, const Box& matrix, bool is_above, const Tensor& numbers,
                     const ColourRange& range, const std::string& name, bool labels_right = false) {
  const double em = page.em(), height = kVector * em, gap = kVectorGap * em;
  const Box box{matrix.x, is_above ? matrix.y - gap - height : matrix.bottom() + gap, matrix.width,
                height};
  draw_panel(page, box, numbers, range);
  const double middle = box.y + height / 2;
  if (is_above || labels_right) {  // above, the left side has the label of a vertical vector
    page.text({box.right() + 0.4 * em, middle}, name, page.small());
  } else {
    page.text({box.x - 0.4 * em, middle}, name, page.small(), Align::End);
  }
}

Tensor row_at(const Tensor& rows, Index t) {
  return rows.slice(t, 1).reshaped({rows.dim(1)});
}

// Draws the two sums of each channel: values above, in the colours of v, and shares below.
void draw_sums(Page& page, const RecurrencePlan& plan, const Box& box, const Tensor& sums) {
  const double height = box.height / 2;
  draw_panel(page, {box.x, box.y, box.width, height}, row_at(sums, 0), plan.values);
  draw_panel(page, {box.x, box.y + height, box.width, height}, row_at(sums, 1), plan.states);
}

// Draws the titles and the cells of the three matrices, with the signs between them.
void draw_sum(Page& page, const RecurrencePlan& plan, const RecurrenceWords& words) {
  const double em = page.em();
  const double title_y = plan.old_state.y - (kVector + kVectorGap + 0.5 * kTitle) * em;
  const auto draw_title = [&](const Box& box, const std::vector<std::string>& candidates) {
    page.faint_text({box.x + box.width / 2, title_y},
                    page.fitting(candidates, page.small(), box.width), page.small(), Align::Middle);
  };
  const ColourRange added = range_of_numbers(page, plan.step.added);
  const std::string range_text = ", to ±" + brief(added.most, 2);
  draw_title(plan.old_state, {words.before, "before"});
  draw_title(plan.new_state, {words.after, "now"});
  if (plan.recurrence.kind == Recurrence::Kind::Wkv) {
    draw_title(plan.added, {words.added, "added"});
    draw_sums(page, plan, plan.old_state, plan.step.before);
    draw_sums(page, plan, plan.added, plan.step.added);
    draw_sums(page, plan, plan.new_state, plan.step.after);
  } else {
    draw_title(plan.added, {words.added + range_text, "added" + range_text, "added"});
    draw_panel(page, plan.old_state, plan.step.before, plan.states);
    draw_panel(page, plan.added, plan.step.added, added);
    draw_panel(page, plan.new_state, plan.step.after, plan.states);
  }
  const double middle = plan.old_state.y + plan.old_state.height / 2;
  const double sign = kSign * em / 2;
  page.add(Text{
      {plan.old_state.right() + sign, middle}, "+", page.theme().text, 1.6 * em, Align::Middle});
  page.add(
      Text{{plan.added.right() + sign, middle}, "=", page.theme().text, 1.6 * em, Align::Middle});
}

// Draws the vectors that are written to the state and read from it.
void draw_vectors(Page& page, const RecurrencePlan& plan, const RecurrenceWords& words) {
  const Recurrence& recurrence = plan.recurrence;
  if (!words.key.empty()) {
    draw_vertical(page, plan.added, true, row_at(recurrence.k, plan.t), plan.keys, words.key);
  }
  draw_horizontal(page, plan.added, true, row_at(written_values(recurrence), plan.t), plan.values,
                  words.value);
  const Tensor query = row_at(recurrence.q, plan.t);
  if (!words.query.empty()) {
    draw_vertical(page, plan.new_state, true, query, plan.queries, words.query);
  }
  if (!words.gate.empty()) {
    draw_horizontal(page, plan.new_state, true, query, plan.queries, words.gate);
  }
  if (plan.step.z.defined()) {
    draw_vertical(page, plan.new_state, false, plan.step.z, range_of_numbers(page, plan.step.z),
                  "z");
  }
  if (recurrence.kept.defined()) {
    draw_horizontal(page, plan.old_state, false, recurrence.kept, share_range(page), "e⁻ʷ", true);
  }
  draw_horizontal(page, plan.new_state, false, plan.step.output,
                  recurrence.kind == Recurrence::Kind::Selective
                      ? range_of_numbers(page, plan.step.output)
                      : plan.values,
                  "output");
}

void draw_matrices(Page& page, const RecurrencePlan& plan, const RecurrenceWords& words) {
  draw_step(page, plan.write, 2, words.write);
  draw_step(page, plan.read, 3, words.read);
  draw_sum(page, plan, words);
  draw_vectors(page, plan, words);
  draw_colour_bar(page,
                  {plan.new_state.right() + (kVector + kVectorGap) * page.em(), plan.new_state.y,
                   colour_bar_width(page), plan.new_state.height},
                  plan.states, {words.scale, ""});
  page.faint_text({plan.note.x, plan.note.y + plan.note.height / 2},
                  page.fitting(words.note, page.small(), plan.note.width), page.small());
}

MechanismLayout draw_recurrence(Page& page, const Box& inside, const HeadInput& in) {
  std::optional<RecurrencePlan> plan = plan_recurrence(page, inside, in);
  if (!plan) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = token_hit_test(plan->line);
  if (in.input.interaction.pointer) {
    if (const auto pair = layout.pair_at(*in.input.interaction.pointer))
      set_step(page, *plan, pair->query);
  }
  const std::string word = "“" + query_label(in.input.trace, in.tap, plan->t) + "”";
  draw_tokens(page, *plan, word);
  draw_matrices(page, *plan, recurrence_words(plan->recurrence, plan->t, word));
  layout.bottom = plan->note.bottom();
  return layout;
}

std::vector<ViewData::Matrix> recurrence_numbers(const HeadInput& in) {
  const Recurrence recurrence = recurrence_of(in.tap, in.head);
  const Index t = illustrated_token(in);
  const RecurrentStep step = recurrent_step(recurrence, t);
  const std::vector<std::string> tokens = query_axis(in.input.trace, in.tap).labels;
  const auto line = [&](const std::string& name, const Tensor& numbers,
                        std::vector<std::string> columns) {
    return ViewData::Matrix{
        name, numbers.reshaped({1, numbers.size()}), {name}, std::move(columns), {"row"}};
  };
  std::vector<ViewData::Matrix> matrices{{"state", step.after, {}, {}},
                                         {"added", step.added, {}, {}}};
  if (step.z.defined()) matrices.push_back(line("z", step.z, {}));
  matrices.push_back(line("output", step.output, {}));
  matrices.push_back(line("weight", padded(step.weights, recurrence.length()), tokens));
  if (!recurrence.channel_means.empty()) {
    matrices.push_back(line(recurrence_words(recurrence, t, "").channel_mean,
                            padded(recurrence.channel_means, recurrence.length()), tokens));
  }
  if (!recurrence.gates.empty()) {
    matrices.push_back(line("gate", padded(recurrence.gates, recurrence.length()), tokens));
    matrices.push_back(line("counts", padded(step.counts, recurrence.length()), tokens));
  }
  return matrices;
}

}  // namespace

Mechanism recurrence_mechanism() {
  Mechanism m{"recurrence", "a state that each token writes to and reads from", shows_state,
              draw_recurrence, recurrence_numbers};
  m.label = "State";
  m.steps_through_tokens = true;
  m.parameters = {"token"};
  m.is_preferred = [](const AttentionTap& tap) {
    return tap.variant.id == "linear" || averaged_channels(tap.result) > 0 ||
           tap.result.extra.contains("rfa.gate");
  };
  m.objection = recurrence_refusal;
  return m;
}

}  // namespace attnscope
