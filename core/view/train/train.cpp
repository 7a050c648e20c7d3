// Training view: the learning curves of the model, from the log of its training.
#include <algorithm>
#include <cmath>

#include "core/checkpoint/snapshots.h"
#include "core/figure/line_chart.h"
#include "core/training/learning_figure.h"
#include "core/view/parts/bundled_example.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/reading.h"
#include "core/view/train/train_numbers.h"
#include "core/view/view_list.h"
#include "core/view/view_values.h"

namespace attnscope {
namespace {

constexpr const char* kTrain = "train";
constexpr double kChartFont = 13;                    // font size of line charts
constexpr double kSmallestText = 12;                 // smallest text of line charts
constexpr double kMinWidth = 280, kMinHeight = 190;  // of a chart, at kChartFont
constexpr double kMinTwoWidth = 330;                 // of a chart of two trainings
constexpr double kLossShare = 0.54;                  // of the height
constexpr double kLine = 1.5;                        // em

// Text measure of charts that are enlarged by `factor`.
class EnlargedMeasure final : public TextMeasure {
 public:
  EnlargedMeasure(const TextMeasure& measure, double factor) : measure_(measure), factor_(factor) {}
  double width(const std::string& text, double size, bool bold) const override {
    return measure_.width(text, size * factor_, bold) / factor_;
  }

 private:
  const TextMeasure& measure_;
  double factor_;
};

// Maps a chart onto the page.
class Placement {
 public:
  Placement(const Box& box, double factor) : box_(box), factor_(factor) {}

  Point at(Point p) const { return {box_.x + factor_ * p.x, box_.y + factor_ * p.y}; }
  Box at(const Box& b) const {
    const Point corner = at(Point{b.x, b.y});
    return {corner.x, corner.y, factor_ * b.width, factor_ * b.height};
  }
  Item item(Item item) const {
    std::visit([this](auto& shape) { move(shape); }, item);
    return item;
  }

 private:
  void move(Line& line) const {
    for (Point& p : line.points) p = at(p);
    line.thickness *= factor_;
  }
  void move(Text& text) const {
    text.at = at(text.at);
    text.size *= factor_;
  }
  void move(Clip& clip) const {
    if (clip.box) clip.box = at(*clip.box);
  }
  void move(FilledBox& filled) const {
    filled.box = at(filled.box);
    filled.radius *= factor_;
  }
  template <class Shape>
  void move(Shape& shape) const {
    shape.box = at(shape.box);
  }

  Box box_;
  double factor_;
};

struct Panel {
  LineChart chart;
  Box box;               // on the page
  LineChartPlot plot{};  // on the page
};

// Snapshots of one training share its curves.
bool shows_two_trainings(const TrainingInput& training) {
  return training.reference != nullptr && training.reference->folder != training.study->folder;
}

class Training {
 public:
  Training(const ViewInput& input, Page& page, const TrainingInput& training)
      : input_(input),
        page_(page),
        study_(*training.study),
        reference_(shows_two_trainings(training) ? &training.reference->curve : nullptr),
        reference_step_(training.reference ? training.reference->step : std::nullopt),
        factor_(std::max(page.em() / kChartFont, input.canvas.min_font_size / kSmallestText)) {}

  ViewLayout lay_out(const Box& inside) {
    if (!place({inside.x, inside.y + kLine * page_.em(), inside.width,
                inside.height - kLine * page_.em()})) {
      return no_space(page_);
    }
    for (Panel& panel : panels_) draw(panel);
    draw_summary(inside);
    ViewLayout layout;
    layout.hit = [](Point) -> std::optional<Hit> { return std::nullopt; };
    if (!study_.snapshots.empty()) {
      for (const Panel& panel : panels_) layout.handles.push_back(step_handle(panel));
    }
    layout.list = page_.take(inside.bottom());
    return layout;
  }

 private:
  const LearningCurve& curve() const { return study_.curve; }

  bool fits(const Box& box) const {
    return box.width >= factor_ * (reference_ ? kMinTwoWidth : kMinWidth) &&
           box.height >= factor_ * kMinHeight;
  }

  // Places the selected charts in `box`; the loss alone if there is no space for all. Returns false
  // if not even that fits.
  bool place(const Box& box) {
    const std::string show = view_values(input_.session.view, kTrain).choice("show");
    const double top = kLossShare * box.height;
    const Box first{box.x, box.y, box.width, top},
        left{box.x, box.y + top, box.width / 2, box.height - top},
        right{left.right(), left.y, left.width, left.height};
    if (show == "scores") {
      panels_ = {{score_chart(curve(), reference_), box}};
    } else if (show == "gradients") {
      panels_ = {{gradient_chart(curve(), reference_), box}};
    } else if (show == "loss" || !fits(left)) {
      panels_ = {{loss_chart(curve(), reference_), box}};
    } else {
      panels_ = {{loss_chart(curve(), reference_), first},
                 {score_chart(curve(), reference_), left},
                 {gradient_chart(curve(), reference_), right}};
    }
    return fits(panels_.front().box);
  }

  void draw(Panel& panel) {
    panel.chart.width = panel.box.width / factor_;
    panel.chart.height = panel.box.height / factor_;
    if (study_.step) mark_step(panel.chart, *study_.step);
    if (reference_step_) mark_step(panel.chart, *reference_step_, LineStroke::Dashed);
    const EnlargedMeasure measure(input_.canvas.measure, factor_);
    const Placement placement(panel.box, factor_);
    panel.plot = plot_of(panel.chart, measure);
    panel.plot.box = placement.at(panel.plot.box);
    DisplayList list = attnscope::draw(panel.chart, page_.theme(), measure);
    for (Item& item : list.items) {
      const auto* text = std::get_if<Text>(&item);
      if (text == nullptr || !text->text.empty()) page_.add(placement.item(std::move(item)));
    }
  }

  static Index step_at(const LineChartPlot& plot, double x) {
    const double share = std::clamp((x - plot.box.x) / plot.box.width, 0.0, 1.0);
    return static_cast<Index>(std::llround(plot.first_x + share * (plot.last_x - plot.first_x)));
  }

  // Step under the pointer, else that of the shown snapshot, else the last one.
  Index described_step() const {
    for (const Panel& panel : panels_) {
      const auto& pointer = input_.interaction.pointer;
      if (pointer && panel.plot.box.contains(*pointer)) return step_at(panel.plot, pointer->x);
    }
    return study_.step.value_or(curve().rows.back().step);
  }

  void draw_summary(const Box& inside) {
    const Index step = described_step();
    const std::string text = describe_step(curve(), step);
    if (text.empty()) return;
    const std::string other = reference_ ? describe_step(*reference_, step) : "";
    std::vector<std::string> candidates{capitalised(text), "Step " + std::to_string(step)};
    if (!other.empty()) candidates.insert(candidates.begin(), "A: " + text + ". B: " + other);
    page_.text({inside.x, inside.y + 0.6 * page_.em()},
               page_.fitting(candidates, page_.em(), inside.width), page_.em());
  }

  // Opens the snapshot nearest to the step under the pointer.
  Handle step_handle(const Panel& panel) const {
    Handle handle{.area = panel.plot.box, .help = "Drag: open the snapshot of this training step."};
    handle.drag = [plot = panel.plot, folder = study_.folder, steps = study_.snapshots](
                      Point p, Session& session) {
      const Index step = step_at(plot, p.x);
      const auto distance = [step](Index s) { return std::abs(s - step); };
      const Index nearest = *std::ranges::min_element(steps, {}, distance);
      session.run.model = snapshot_folder(folder, nearest).string();
    };
    return handle;
  }

  const ViewInput& input_;
  Page& page_;
  const TrainingStudy& study_;
  const LearningCurve* reference_;  // another training; null: none
  std::optional<Index> reference_step_;
  double factor_;  // enlargement of the charts
  std::vector<Panel> panels_;
};

std::string training_caption(const TrainingInput& training) {
  const TrainingStudy& study = *training.study;
  std::string text = "Learning curves from loss.csv of the model's training.";
  if (shows_two_trainings(training)) {
    text += " Dashed: the training of B.";
  } else if (!study.curve.expected.empty()) {
    text += " " + describe_match(study.curve.expected, study.curve.rows);
  }
  if (study.step) text += " Vertical line: this snapshot.";
  if (training.reference && training.reference->step) text += " Dashed vertical line: that of B.";
  return text;
}

ViewLayout lay_out_training(const ViewInput& input) {
  Page page(input);
  const TrainingInput training = training_input(input);
  if (training.refusal) {
    const bool is_pending = training.study == nullptr && !training_refusal(input.trace);
    return page.message(training.refusal.headline, training.refusal.advice,
                        is_pending ? "learning curves" : "");
  }
  const std::string title = input.trace.model + " · training";
  const Box inside = page.frame(title, training_caption(training));
  return Training(input, page, training).lay_out(inside);
}

void restrict_train_controls(const ViewSettings&, const Trace*, ViewControls& controls) {
  controls.layer = controls.head = controls.part = false;
  controls.hide_colours();
}

void open_trained_example(Session& session) {
  open_bundled_model(session, "induction-letters");
}

}  // namespace

View train_view() {
  return {.id = kTrain,
          .label = "Training",
          .group = "Model",
          .summary = "Learning curves: loss, held-out score and gradient norm of each layer.",
          .lay_out = lay_out_training,
          .reading = fixed_reading(
              "The model's training, step by step: the loss falls while held-out accuracy rises. A "
              "steep part means that the model discovers something, such as a head that looks for "
              "earlier occurrences. Drag across the charts to open the snapshots of a training.",
              {{"held out", "measured on data that the training does not use."},
               {"best head",
                "its weight on the keys that solve the task; uniform: the weight "
                "of a head that attends equally to all keys."},
               {"gradient norm", "size of a step's gradient, before clipping."}}),
          .data = training_data,
          .findings = {{Findings::training.id}, {Findings::reference.id}},
          .options = {.parameters = {{.key = "show",
                                      .label = "Show",
                                      .help = "All charts; the loss; held-out accuracy or bits per "
                                              "byte; or the gradient norms of the layers.",
                                      .kind = Parameter::Kind::Choice,
                                      .initial = std::string("all"),
                                      .choices = {"all", "loss", "scores", "gradients"}}},
                      .restrict_controls = restrict_train_controls},
          .content = {
              .objection = [](const Trace& trace) { return training_refusal(trace).sentence(); },
              .example = open_trained_example}};
}

}  // namespace attnscope
