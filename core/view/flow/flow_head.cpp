// Flow stages of one head, from query to output: out_i = Σ_j a_ij v_j, one line per key.
#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/trace/key_token.h"
#include "core/view/flow/flow_drawing.h"

namespace attnscope {
namespace {

constexpr double kPad = 0.55;    // units between a panel's edge and its content
constexpr double kStrip = 0.66;  // height of a strip, relative to its row
constexpr double kLetters = 0.95;

class HeadPanels {
 public:
  HeadPanels(FlowPen& pen, const FlowStory& story, const FlowPlaces& places, FlowTargets& targets)
      : pen_(pen),
        s_(story),
        sum_(story.numbers.sum),
        p_(places),
        u_(places.unit),
        targets_(targets),
        are_percentages_(weights_sum_to_one(sum_)) {
    // Bars of a distribution have one scale, so that a small weight looks small.
    if (are_percentages_) max_weight_ = 1;
    for (const FlowKey& key : sum_.keys) max_weight_ = std::max(max_weight_, std::abs(key.weight));
    max_weight_ = std::max(max_weight_, std::abs(sum_.others_weight));
    const auto number = [&](double weight, bool bold) {
      number_width_ = std::max(
          number_width_,
          pen_.page().width_of(format_weight(weight, are_percentages_), kLetters * u_, bold));
    };
    for (const FlowKey& key : sum_.keys) number(key.weight, true);
    number(sum_.others_weight, false);
    value_range_ = flow_range({&sum_.values, &sum_.output});
    sum_range_ = flow_range({&sum_.weighted, &sum_.output, &sum_.sum});
    query_range_ = flow_range({&sum_.query});
    key_range_ = flow_range({&sum_.key_vectors});
  }

  void draw() {
    draw_panels();
    draw_formulas();
    for (Index n = 0; n < static_cast<Index>(sum_.keys.size()); ++n) draw_key(n);
    draw_missing_values();
    draw_sums();
  }

 private:
  const Theme& theme() const { return pen_.theme(); }
  static double left(const FlowPanel& p) { return p.box.x; }
  double inner(const FlowPanel& p) const { return p.box.width - 2 * kPad * u_; }
  // Box of a strip in a panel; `y`: middle of its row; `from`: distance from the left margin.
  Box strip_box(const FlowPanel& p, double y, double from = 0) const {
    const double height = kStrip * p_.row;
    return {p.box.x + kPad * u_ + from, y - height / 2, inner(p) - from, height};
  }
  static Tensor row_of(const Tensor& rows, Index n) {
    return rows.slice(n, 1).reshaped({rows.dim(1)});
  }
  bool has_scores() const {
    return std::ranges::any_of(sum_.keys, [](const FlowKey& k) { return k.score.has_value(); });
  }
  // False on narrow pages, which show key labels only.
  bool draws_keys() const { return sum_.key_vectors.defined() && p_.scores.is_present(); }
  std::string quoted_query() const { return "“" + s_.numbers.label + "”"; }
  // The first title that fits, else the last.
  std::string fitting_title(const std::vector<std::string>& titles, double width) const {
    for (const std::string& title : titles) {
      if (pen_.page().width_of(title, kLetters * u_, true) <= width) return title;
    }
    return titles.back();
  }

  void draw_panels() {
    const std::string reason = no_pair_scores_reason(s_.tap, sum_);
    pen_.panel(p_.keys, draws_keys() ? flow_title(FlowStage::Vectors) : "Keys");
    pen_.panel(p_.scores, flow_title(FlowStage::Scores));
    const PartSettings* part = s_.tap.settings();
    const bool is_softmax = part == nullptr || part->normaliser == Normaliser::Softmax ||
                            part->normaliser == Normaliser::SpanSoftmax;
    pen_.panel(p_.softmax, is_softmax ? flow_title(FlowStage::Softmax) : "Weights");
    pen_.panel(p_.values, kFlowValues);
    pen_.panel(p_.weighted, flow_title(FlowStage::Weighted));
    const std::string sentence = flow_sentence(FlowStage::Scores, s_);
    if (!has_scores() && p_.scores.is_present()) {
      const Box& b = p_.scores.box;
      pen_.message({b.x + kPad * u_, p_.first_y - p_.row / 2, b.width - 2 * kPad * u_,
                    b.bottom() - p_.first_y},
                   reason.empty() ? sentence : reason);
    }
  }

  void draw_formula(const FlowPanel& p, double y, const std::string& text) {
    if (!p.is_present()) return;
    pen_.text({p.box.x + p.box.width / 2, y}, text, pen_.small(), inner(p), Align::Middle,
              theme().faint_text);
  }

  void draw_formulas() {
    const double y = p_.formula_y;
    if (draws_keys()) {
      const double width = p_.label_width - (kPad + 0.3) * u_;
      const std::string title =
          fitting_title({"query " + quoted_query(), quoted_query(), "query"}, width);
      pen_.text({p_.keys.box.x + kPad * u_, y}, title, kLetters * u_, width, Align::Start,
                theme().accent, true);
      pen_.strip(strip_box(p_.keys, y, p_.label_width - kPad * u_), sum_.query, query_range_,
                 FlowSpace::Query, "query of " + s_.numbers.label, true);
    } else {
      const std::string title =
          fitting_title({quoted_query() + " attends to", quoted_query()}, inner(p_.keys));
      pen_.text({p_.keys.box.x + kPad * u_, y}, title, kLetters * u_, inner(p_.keys), Align::Start,
                theme().accent, true);
    }
    if (has_scores()) draw_formula(p_.scores, y, score_formula(s_.tap));
    draw_formula(p_.softmax, y, weight_formula(s_.tap));
    draw_formula(p_.values, y, "v");
    draw_formula(p_.weighted, y, "weight × value");
  }

  Colour sum_ink(Colour ink) const {
    return pen_.is_later(FlowStage::Weighted) ? blend(theme().background, ink, 0.15) : ink;
  }

  void draw_sign(const FlowPanel& a, const FlowPanel& b, double y, const std::string& sign) {
    pen_.text({(a.box.right() + b.box.x) / 2, y}, sign, u_, 2 * u_, Align::Middle,
              sum_ink(theme().faint_text));
  }

  void draw_weight(double y, double weight, bool is_bold) {
    if (!p_.softmax.is_present()) return;
    const Box& b = p_.softmax.box;
    const double number_width = number_width_ + 0.4 * u_;
    const double room = std::max(0.0, inner(p_.softmax) - number_width);
    const double length = max_weight_ > 0 ? std::abs(weight) / max_weight_ * room : 0;
    const Colour colour = weight < 0 ? Colour{40, 116, 200, 255} : theme().accent;
    pen_.page().add(
        FilledBox{{b.x + kPad * u_, y - 0.28 * p_.row, std::max(length, 1.0), 0.56 * p_.row},
                  is_bold ? colour : blend(theme().background, colour, 0.6)});
    pen_.text({b.right() - kPad * u_, y}, format_weight(weight, are_percentages_), kLetters * u_,
              number_width, Align::End, theme().text, is_bold);
  }

  void draw_key(Index n) {
    const FlowKey& key = sum_.keys[static_cast<std::size_t>(n)];
    const double y = p_.row_y(n);
    const bool is_pinned = key.column == s_.session.view.pinned_key;
    const Colour ink = is_pinned ? theme().accent : theme().text;
    const double width = draws_keys() ? p_.label_width - (kPad + 0.3) * u_ : inner(p_.keys);
    const double used = pen_.text({p_.keys.box.x + kPad * u_, y}, key.label, kLetters * u_, width,
                                  Align::Start, ink, is_pinned || n == 0);
    draw_position(key, {p_.keys.box.x + (kPad + 0.5) * u_ + used, y}, width - used - 0.5 * u_);
    if (draws_keys()) {
      pen_.strip(strip_box(p_.keys, y, p_.label_width - kPad * u_), row_of(sum_.key_vectors, n),
                 key_range_, FlowSpace::Query, "key of " + key.label);
    }
    if (key.score && p_.scores.is_present()) {
      pen_.text({p_.scores.box.right() - kPad * u_, y}, fixed(*key.score, 2), kLetters * u_,
                inner(p_.scores), Align::End, theme().text, n == 0);
    }
    draw_weight(y, key.weight, n == 0 || is_pinned);
    if (sum_.adds_values) draw_value(key, n, y);
    const Box& first = p_.keys.box;
    const Box& last = (p_.weighted.is_present() ? p_.weighted : p_.values).box;
    targets_.keys.push_back(
        {{first.x, y - p_.row / 2, last.right() - first.x, p_.row}, key.column});
  }

  void draw_value(const FlowKey& key, Index n, double y) {
    if (p_.values.is_present()) {
      pen_.strip(strip_box(p_.values, y), row_of(sum_.values, n), value_range_, FlowSpace::Value,
                 "value of " + key.label);
    }
    if (!p_.weighted.is_present()) return;
    if (p_.values.is_present()) {
      draw_sign(p_.softmax, p_.values, y, "×");
      draw_sign(p_.values, p_.weighted, y, "=");
    }
    pen_.strip(strip_box(p_.weighted, y), row_of(sum_.weighted, n), sum_range_, FlowSpace::Value,
               format_weight(key.weight, are_percentages_) + " of " + key.label);
  }

  // Draws the token's position, because labels can repeat.
  void draw_position(const FlowKey& key, Point at, double max_width) {
    const Index token = key_token(s_.trace, s_.tap, key.column);
    const std::string text = std::to_string(token);
    if (token < 0 || pen_.page().width_of(text, pen_.small()) > max_width) return;
    pen_.text(at, text, pen_.small(), max_width, Align::Start, theme().faint_text);
  }

  void draw_missing_values() {
    if (sum_.adds_values) return;
    const FlowPanel& panel = p_.values.is_present() ? p_.values : p_.weighted;
    const double top = p_.first_y - p_.row / 2;
    pen_.message(
        {panel.box.x + kPad * u_, top, inner(panel), p_.row * static_cast<double>(p_.shown)},
        flow_sentence(FlowStage::Weighted, s_));
  }

  // Draws a row below the keys: the other keys, or a sum.
  void draw_line(double y, const std::string& name, const Tensor& values, bool is_marked) {
    const Colour ink = sum_ink(is_marked ? theme().accent : theme().faint_text);
    if (!p_.values.is_present()) {
      pen_.text({p_.keys.box.x + kPad * u_, y}, name, kLetters * u_, inner(p_.keys), Align::Start,
                ink, is_marked);
    } else if (sum_.adds_values) {
      // "sum: head 11" or, in a narrow panel, "head 11".
      const double width = inner(p_.values);
      const bool fits = pen_.page().width_of(name, kLetters * u_, is_marked) <= width;
      pen_.text({p_.values.box.right() - kPad * u_, y},
                fits ? name : name.substr(name.find(": ") == name.npos ? 0 : name.find(": ") + 2),
                kLetters * u_, width, Align::End, ink, is_marked);
    }
    pen_.strip(strip_box(p_.weighted, y), values, sum_range_, FlowSpace::Value, name, is_marked);
  }

  void draw_sums() {
    if (!p_.weighted.is_present()) return;
    Index n = static_cast<Index>(sum_.keys.size());
    if (sum_.others > 0) {
      const double y = p_.row_y(n++);
      const bool is_one = sum_.others == 1;
      const std::string others = is_one ? "the other key" : "the other " + grouped(sum_.others);
      pen_.text({p_.keys.box.x + kPad * u_, y},
                pen_.page().fitting({is_one ? others : others + " together", others,
                                     count_text(sum_.others, "other", "others")},
                                    kLetters * u_, inner(p_.keys)),
                kLetters * u_, inner(p_.keys), Align::Start, theme().faint_text);
      draw_weight(y, sum_.others_weight, false);
      if (sum_.others_sum.defined()) {
        pen_.strip(strip_box(p_.weighted, y), sum_.others_sum, sum_range_, FlowSpace::Value,
                   others);
      }
    }
    if (sum_.relative_sum.defined())
      draw_line(p_.row_y(n++), "+ distances", sum_.relative_sum, false);
    const double y = p_.row_y(n++) + 0.12 * u_;
    const Box& w = p_.weighted.box;
    pen_.page().add(
        Line{{{w.x + kPad * u_, y - p_.row / 2}, {w.right() - kPad * u_, y - p_.row / 2}},
             theme().text,
             1.2});
    const std::string head_name = "head " + std::to_string(s_.session.view.head);
    if (!sum_.adds_values) return draw_line(y, head_name, sum_.output, true);
    if (sum_.is_output) return draw_line(y, "sum: " + head_name, sum_.output, true);
    draw_line(y, "sum", sum_.sum, false);
    draw_line(p_.row_y(n) + 0.12 * u_, "→ " + head_name, sum_.output, true);
  }

  FlowPen& pen_;
  const FlowStory& s_;
  const FlowSum& sum_;
  const FlowPlaces& p_;
  const double u_;
  FlowTargets& targets_;
  const bool are_percentages_;
  double max_weight_ = 0, number_width_ = 0, value_range_ = 1, sum_range_ = 1, query_range_ = 1,
         key_range_ = 1;
};

}  // namespace

Index flow_extra_rows(const FlowSum& sum) {
  Index rows = 1;  // the sum
  if (sum.others > 0) ++rows;
  if (sum.relative_sum.defined()) ++rows;
  if (sum.adds_values && !sum.is_output) ++rows;
  return rows;
}

void draw_flow_head(FlowPen& pen, const FlowStory& story, const FlowPlaces& places,
                    FlowTargets& targets) {
  HeadPanels(pen, story, places, targets).draw();
  const double u = places.unit, gap = 0.15 * u;
  const Box& from = (places.embedding.is_present() ? places.embedding : places.tokens).box;
  const Box& to = places.keys.box;
  const double middle = (from.bottom() + to.y) / 2, x = to.x + 3 * u;
  pen.arrow_along({{from.x + from.width / 2, from.bottom() + gap},
                   {from.x + from.width / 2, middle},
                   {x, middle},
                   {x, to.y - gap}},
                  FlowStage::Vectors);
}

}  // namespace attnscope
