#include "tests/support/told_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <utility>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/support/places.h"

namespace attnscope::testing {

namespace {

// Sums of what texts say. Where a machine rounds otherwise, one of them may be said as the next.
constexpr const char *kWholes = "wholes", *kDecimals = "decimals";
constexpr double kNextWhole = 2.5, kNextDecimal = 0.25;

// Names and weighed sums of what has been added, in the order in which names came first.
class Sums {
 public:
  void add(const std::string& name, double value) {
    for (auto& [known, sum] : sums_) {
      if (known == name) {
        sum += weight_ * value;
        return;
      }
    }
    sums_.emplace_back(name, weight_ * value);
  }
  void add(const Box& box) {
    add("x", box.x);
    add("y", box.y);
    add("w", box.width);
    add("h", box.height);
  }
  void add(const Colour& c) { add("colour", c.r + 2 * c.g + 3 * c.b + 5 * c.a); }
  // What comes now weighs a little more than what came before, as far as nine of them.
  void next() {
    weight_ = 1 + 0.1 * (count_ % 9);
    ++count_;
  }
  int count() const { return count_; }
  double of(const std::string& name) const {
    const auto found = std::ranges::find(sums_, name, &std::pair<std::string, double>::first);
    return found == sums_.end() ? 0 : found->second;
  }
  std::string text(const std::string& name) const {
    std::string line = "  " + name + " " + std::to_string(count_) + ":";
    for (const auto& [key, sum] : sums_) {
      char number[64];
      std::snprintf(number, sizeof number, " %s %.7g", key.c_str(), sum);
      line += number;
    }
    return line + "\n";
  }

 private:
  std::vector<std::pair<std::string, double>> sums_;
  double weight_ = 1;
  int count_ = 0;
};

// The whole numbers in a text and those with digits behind a point, each as one.
struct NumbersIn {
  explicit NumbersIn(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] < '0' || text[at] > '9') {
        ++at;
        continue;
      }
      char* end = nullptr;
      const double number = std::strtod(text.c_str() + at, &end);
      const auto after = static_cast<std::size_t>(end - text.c_str());
      const bool whole = text.find('.', at) >= after;
      (whole ? wholes : decimals) += number;
      at = after;
    }
  }
  double wholes = 0, decimals = 0;
};

// Its letters, as one number.
double letters_in(const std::string& text) {
  double sum = 0;
  for (const char c : text) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) sum += c;
  }
  return sum;
}

void add_numbers(Sums& sums, const Tensor& values) {
  double sum = 0, missing = 0;
  for (Index n = 0; n < values.size(); ++n) {
    const auto value = static_cast<double>(values[n]);
    if (std::isfinite(value)) {
      sum += value * (1 + 0.1 * static_cast<double>(n % 9));
    } else {
      ++missing;
    }
  }
  sums.add("numbers", sum);
  sums.add("none", missing);
}

struct Adder {
  std::map<std::string, Sums>& kinds;

  Sums& of(const std::string& kind) const {
    Sums& sums = kinds[kind];
    sums.next();
    return sums;
  }
  void operator()(const FilledBox& item) const {
    Sums& sums = of("boxes");
    sums.add(item.box);
    sums.add(item.colour);
    sums.add("radius", item.radius);
  }
  void operator()(const OutlinedBox& item) const {
    Sums& sums = of("outlines");
    sums.add(item.box);
    sums.add(item.colour);
    sums.add("thickness", item.thickness);
  }
  void operator()(const Line& item) const {
    Sums& sums = of("lines");
    double weight = 1;
    for (const Point& p : item.points) {
      sums.add("x", weight * p.x);
      sums.add("y", weight * p.y);
      weight += 0.01;
    }
    sums.add(item.colour);
    sums.add("thickness", item.thickness);
  }
  void operator()(const Text& item) const {
    Sums& sums = of("texts");
    sums.add("x", item.at.x);
    sums.add("y", item.at.y);
    sums.add(item.colour);
    sums.add("size", item.size);
    sums.add("align", static_cast<double>(item.align));
    sums.add("angle", item.angle);
    sums.add("bold", item.bold ? 1 : 0);
    const NumbersIn numbers(item.text);
    sums.add(kWholes, numbers.wholes);
    sums.add(kDecimals, numbers.decimals);
    sums.add("letters", letters_in(item.text));
  }
  void operator()(const HeatMap& item) const {
    Sums& sums = of("maps");
    sums.add(item.box);
    sums.add("row", item.row);
    sums.add("column", item.column);
    sums.add("rows", item.height);
    sums.add("columns", item.width);
    sums.add("least", item.least);
    sums.add("most", item.most);
    sums.add(item.missing);
    sums.add("flags", (item.max_pooled ? 1 : 0) + (item.hollow ? 2 : 0));
    if (item.values.defined()) add_numbers(sums, item.values);
  }
  void operator()(const ColourImage& item) const {
    Sums& sums = of("images");
    sums.add(item.box);
    add_numbers(sums, item.colours);
  }
  void operator()(const Clip& item) const {
    Sums& sums = of("clips");
    if (item.box) sums.add(*item.box);
  }
};

void add_hit(Sums& sums, const Hit& hit) {
  sums.next();
  sums.add("layer", static_cast<double>(hit.layer));
  sums.add("head", static_cast<double>(hit.head));
  sums.add("query", static_cast<double>(hit.query));
  sums.add("key", static_cast<double>(hit.key));
  sums.add(kDecimals, NumbersIn(hit.shown).decimals);
}

}  // namespace

double PlainMeasure::width(const std::string& text, double size, bool bold) const {
  int letters = 0;
  for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return 0.56 * size * letters * (bold ? 1.1 : 1);
}

std::string told(const DisplayList& list) {
  std::map<std::string, Sums> kinds;
  for (const Item& item : list.items) std::visit(Adder{kinds}, item);
  char size[64];
  std::snprintf(size, sizeof size, "  page %.7g x %.7g\n", list.width, list.height);
  std::string text = size;
  for (const auto& [kind, sums] : kinds) text += sums.text(kind);
  return text;
}

std::string told(const ViewLayout& layout) {
  if (!layout.refusal.empty()) return "  nothing: " + layout.refusal + "\n";
  std::string text = told(layout.list);
  Sums plot;
  plot.next();
  plot.add(layout.plot);
  plot.add("row", layout.row);
  plot.add("column", layout.column);
  plot.add("rows", layout.height);
  plot.add("columns", layout.width);
  plot.add("all", static_cast<double>(layout.rows + 2 * layout.columns));
  text += plot.text("plot");
  Sums hits;
  constexpr int kSteps = 40;
  for (int n = 0; n < kSteps * kSteps; ++n) {
    const auto row = static_cast<double>(n / kSteps), column = static_cast<double>(n % kSteps);
    const Point p{(column + 0.5) / kSteps * layout.list.width,
                  (row + 0.5) / kSteps * layout.list.height};
    if (const std::optional<Hit> hit = layout.hit(p)) add_hit(hits, *hit);
  }
  text += hits.text("hits");
  Sums handles;
  for (const Handle& handle : layout.handles) {
    handles.next();
    handles.add(handle.area);
  }
  return text + handles.text("handles");
}

std::string told(const ViewData& data) {
  std::string text;
  for (const ViewData::Matrix& matrix : data.matrices) {
    Sums sums;
    sums.next();
    for (Index d = 0; d < matrix.values.rank(); ++d) {
      sums.add("d" + std::to_string(d), static_cast<double>(matrix.values.dim(d)));
    }
    add_numbers(sums, matrix.values);
    sums.add("rows", static_cast<double>(matrix.rows.size()));
    sums.add("columns", static_cast<double>(matrix.columns.size()));
    text += sums.text("data " + matrix.name);
  }
  return text;
}

std::string told_view(const Trace& trace, const Experiment& experiment, const Findings& findings,
                      const Sight& sight) {
  const PlainMeasure measure;
  const ViewInput input{.trace = trace,
                        .experiment = experiment,
                        .width = sight.width,
                        .height = sight.height,
                        .theme = sight.dark ? Theme::dark() : Theme::light(),
                        .measure = measure,
                        .framed = sight.framed,
                        .pointer = sight.pointer,
                        .findings = findings};
  return told(view(experiment.view.id).lay_out(input));
}

std::string told_sizes(const Trace& trace, const Experiment& experiment, const Findings& findings) {
  constexpr int kSizes = 48;
  const PlainMeasure measure;
  std::string text;
  for (int n = 0; n < kSizes; ++n) {
    const double width = 240 + 31 * n, height = 200 + n * 389 % 941;
    const ViewInput input{.trace = trace,
                          .experiment = experiment,
                          .width = width,
                          .height = height,
                          .theme = Theme::light(),
                          .measure = measure,
                          .framed = n % 3 == 0,
                          .pointer = {},
                          .findings = findings};
    const ViewLayout layout = view(experiment.view.id).lay_out(input);
    std::map<std::string, Sums> kinds;
    for (const Item& item : layout.list.items) std::visit(Adder{kinds}, item);
    std::string line = "  " + std::to_string(std::lround(width)) + " x " +
                       std::to_string(std::lround(height)) + ":";
    if (!layout.refusal.empty()) line += " nothing";
    for (const auto& [kind, sums] : kinds) {
      char numbers[120];
      std::snprintf(numbers, sizeof numbers, " %s %d %.7g %.7g %.7g", kind.c_str(), sums.count(),
                    sums.of("x") + sums.of("w"), sums.of("y") + sums.of("h"), sums.of("size"));
      line += numbers;
    }
    text += line + "\n";
  }
  return text;
}

std::string told_data(const Trace& trace, const Experiment& experiment, const Findings& findings) {
  const View& shown = view(experiment.view.id);
  if (!shown.data) return "";
  const PlainMeasure measure;
  const ViewInput input{.trace = trace,
                        .experiment = experiment,
                        .theme = Theme::light(),
                        .measure = measure,
                        .findings = findings};
  try {
    return told(shown.data(input));
  } catch (const InputError& e) {
    return std::string("  no data: ") + e.what() + "\n";
  }
}

::testing::AssertionResult is_nearly_as_told(const std::string& text, const std::string& file,
                                             double relative, double absolute) {
  const std::filesystem::path path = source_folder() / "tests" / file;
  if (std::getenv("ATTNSCOPE_WRITE_TOLD") != nullptr) {
    write_file(path, text);
    return ::testing::AssertionSuccess() << "written";
  }
  std::istringstream now(text), before(read_file(path));
  std::string line, expected, heading;
  for (int number = 1;; ++number) {
    const bool more = static_cast<bool>(std::getline(now, line));
    const bool expects = static_cast<bool>(std::getline(before, expected));
    if (!more && !expects) return ::testing::AssertionSuccess();
    const auto differs = [&] {
      return ::testing::AssertionFailure()
             << file << ":" << number << ": of \"" << heading << "\" it says\n"
             << (expects ? expected : "(nothing)") << "\nand it is\n"
             << (more ? line : "(nothing)")
             << "\nIf that is meant: look at the picture, then write the file anew with "
                "ATTNSCOPE_WRITE_TOLD=1.";
    };
    if (more != expects) return differs();
    if (!line.starts_with(' ')) heading = line;
    std::istringstream words(line), told_words(expected);
    std::string word, told_word, before_it;
    for (;;) {
      const bool a = static_cast<bool>(words >> word),
                 b = static_cast<bool>(told_words >> told_word);
      if (a != b) return differs();
      if (!a) break;
      const std::string of = std::exchange(before_it, word);
      if (word == told_word) continue;
      char *end = nullptr, *told_end = nullptr;
      const double value = std::strtod(word.c_str(), &end);
      const double wanted = std::strtod(told_word.c_str(), &told_end);
      const bool numbers = *end == 0 && *told_end == 0;
      const double next = of == kWholes ? kNextWhole : of == kDecimals ? kNextDecimal : 0;
      const double off = std::max(absolute, next) + relative * std::abs(wanted);
      if (!numbers || !(std::abs(value - wanted) <= off)) return differs();
    }
  }
}

}  // namespace attnscope::testing
