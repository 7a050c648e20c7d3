// Linformer's projections by layer and head: which of them are the same matrix (Wang et al., 2020,
// section 4: headwise, key-value and layerwise sharing).
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/figure/plain_text.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/legend.h"

namespace attnscope {
namespace {

constexpr double kMinSharedCell = 0.6, kMaxSharedCell = 3.2;  // em: side of a square
constexpr double kSharedGap = 0.25;                           // of a square, between heads

bool has_projections(const AttentionTap& tap) {
  return tap.variant.id == "linformer" && tap.variant.values.choice("mode") == "projection";
}

// Projections of a head: numbers of its matrices, counted over the run; equal numbers are one
// matrix.
struct SharedProjections {
  Index layer = 0, head = 0;
  Index e = 0, f = 0;
};

// Projections of all heads of the tap's stack and step, by layer and head.
std::vector<SharedProjections> shared_projections(const HeadInput& in) {
  using Key = std::tuple<Index, Index, Index, bool>;  // layer, group, head, mixes values
  std::map<Key, Index> numbers;
  const auto number_of = [&](const Key& key) {
    return numbers.emplace(key, static_cast<Index>(numbers.size())).first->second;
  };
  std::vector<SharedProjections> result;
  for (const AttentionTap& tap : in.input.trace.attention) {
    Address address = tap.address;
    address.layer = in.tap.address.layer;
    address.group = in.tap.address.group;
    if (address != in.tap.address || !has_projections(tap)) continue;
    const std::string share = tap.variant.values.choice("share");
    const bool is_one = share == "key_value" || share == "layerwise";
    for (const Index head : tap.heads) {
      const Key matrix = share == "layerwise" ? Key{-1, -1, -1, false}
                         : share == "none" ? Key{tap.address.layer, tap.address.group, head, false}
                                           : Key{tap.address.layer, tap.address.group, -1, false};
      Key values = matrix;
      std::get<3>(values) = !is_one;
      const Index e = number_of(matrix);
      result.push_back({tap.address.layer, head, e, number_of(values)});
    }
  }
  std::ranges::sort(result, {},
                    [](const SharedProjections& p) { return std::pair(p.layer, p.head); });
  return result;
}

Index matrix_count(const std::vector<SharedProjections>& projections) {
  Index count = 0;
  for (const SharedProjections& p : projections) count = std::max({count, p.e + 1, p.f + 1});
  return count;
}

// Number of tokens that the projections reduce.
Index projected_tokens(const AttentionTap& tap) {
  const auto found = tap.result.extra.find("linformer.projection");  // [h or 1, k, L]
  if (found == tap.result.extra.end()) return tap.queries();
  return found->second.dim(found->second.rank() - 1);
}

// Numbers in a matrix of the shown head.
Index matrix_size(const AttentionTap& tap) {
  return tap.variant.values.integer("k") * projected_tokens(tap);
}

std::vector<std::string> describe_sharing(const HeadInput& in,
                                          const std::vector<SharedProjections>& projections) {
  const Index count = matrix_count(projections);
  const auto all = 2 * static_cast<Index>(projections.size());
  const std::string matrices = count == 1 ? "1 matrix" : grouped(count) + " matrices";
  const std::string size = grouped(in.tap.variant.values.integer("k")) + " × " +
                           grouped(projected_tokens(in.tap)) + " numbers";
  const std::string saved = grouped(count * matrix_size(in.tap)) + " numbers instead of " +
                            grouped(all * matrix_size(in.tap)) + " without sharing";
  return {"Equal colours are one matrix: " + matrices + " of " + size + ", " + saved,
          "Equal colours are one matrix: " + matrices + " of " + size, matrices + " of " + size,
          matrices};
}

class SharingGrid {
 public:
  SharingGrid(Page& page, const Box& box, const std::vector<SharedProjections>& projections,
              Index shown_layer, Index shown_head)
      : page_(page),
        box_(box),
        projections_(projections),
        shown_layer_(shown_layer),
        shown_head_(shown_head),
        em_(page.em()) {
    for (const SharedProjections& p : projections) {
      if (std::ranges::find(layers_, p.layer) == layers_.end()) layers_.push_back(p.layer);
      heads_ = std::max(heads_, p.head + 1);
    }
  }

  bool place() {
    label_ = page_.width_of("layer " + std::to_string(layers_.back()), page_.small()) + 0.6 * em_;
    const double width = (box_.width - label_) / (static_cast<double>(heads_) * (2 + kSharedGap));
    const double height =
        (box_.height - 2.6 * em_) / (static_cast<double>(layers_.size()) * (1 + kSharedGap));
    side_ = std::min({width, height, kMaxSharedCell * em_});
    return side_ >= kMinSharedCell * em_;
  }

  double draw() const {
    const double top = box_.y + 2.6 * em_;
    draw_head_labels(top);
    for (const SharedProjections& p : projections_) {
      const auto row = std::ranges::find(layers_, p.layer) - layers_.begin();
      const double y = top + static_cast<double>(row) * side_ * (1 + kSharedGap);
      draw_matrix({column(p.head), y, side_, side_}, p.e, "E");
      draw_matrix({column(p.head) + side_, y, side_, side_}, p.f, "F");
      if (p.layer == shown_layer_ && p.head == shown_head_)
        page_.add(OutlinedBox{{column(p.head), y, 2 * side_, side_}, page_.theme().text, 2});
    }
    const auto step = static_cast<std::size_t>(
        std::max(1.0, std::ceil(1.2 * page_.small() / (side_ * (1 + kSharedGap)))));
    for (std::size_t n = 0; n < layers_.size(); n += step) {
      const double y = top + (static_cast<double>(n) * (1 + kSharedGap) + 0.5) * side_;
      page_.faint_text({box_.x + label_ - 0.5 * em_, y}, "layer " + std::to_string(layers_[n]),
                       page_.small(), Align::End);
    }
    return top + static_cast<double>(layers_.size()) * side_ * (1 + kSharedGap);
  }

 private:
  double column(Index head) const {
    return box_.x + label_ + static_cast<double>(head) * side_ * (2 + kSharedGap);
  }
  void draw_head_labels(double top) const {
    const double width = 2 * side_;
    const std::string last = "head " + std::to_string(heads_ - 1);
    const bool is_long = page_.width_of(last, page_.small()) <= width;
    const bool fits = page_.width_of(std::to_string(heads_ - 1), page_.small()) <= width;
    for (Index head = 0; head < heads_ && fits; ++head) {
      const double x = column(head) + side_;
      page_.faint_text({x, top - 1.8 * em_}, (is_long ? "head " : "") + std::to_string(head),
                       page_.small(), Align::Middle);
      if (page_.width_of("E", page_.small()) > side_) continue;
      page_.faint_text({x - side_ / 2, top - 0.6 * em_}, "E", page_.small(), Align::Middle);
      page_.faint_text({x + side_ / 2, top - 0.6 * em_}, "F", page_.small(), Align::Middle);
    }
  }
  void draw_matrix(const Box& box, Index number, const char* name) const {
    const Colour colour = head_colour(number);
    page_.add(FilledBox{box, colour});
    page_.add(OutlinedBox{box, page_.theme().background, 1});
    const std::string text = name + std::to_string(number);
    if (page_.width_of(text, page_.small()) > 0.9 * side_) return;
    page_.add(Text{{box.x + side_ / 2, box.y + side_ / 2},
                   text,
                   ink_on(colour),
                   page_.small(),
                   Align::Middle});
  }

  Page& page_;
  Box box_;
  const std::vector<SharedProjections>& projections_;
  Index shown_layer_, shown_head_;
  double em_, label_ = 0, side_ = 0;
  std::vector<Index> layers_;
  Index heads_ = 0;
};

MechanismLayout draw_sharing(Page& page, const Box& inside, const HeadInput& in) {
  const std::vector<SharedProjections> projections = shared_projections(in);
  SharingGrid grid(page, below(inside, step_height(page)), projections, in.input.session.view.layer,
                   in.input.session.view.head);
  if (!grid.place()) return {.is_too_small = true};
  draw_step(page, inside, 1, describe_sharing(in, projections));
  return {.bottom = grid.draw()};
}

std::vector<ViewData::Matrix> sharing_numbers(const HeadInput& in) {
  const std::vector<SharedProjections> projections = shared_projections(in);
  ViewData::Matrix matrix{"number of the matrix",
                          Tensor({static_cast<Index>(projections.size()), 2}),
                          {},
                          {"E", "F"},
                          {"head"}};
  for (std::size_t n = 0; n < projections.size(); ++n) {
    const SharedProjections& p = projections[n];
    matrix.rows.push_back(std::to_string(p.layer) + "." + std::to_string(p.head));
    matrix.values(static_cast<Index>(n), 0) = static_cast<float>(p.e);
    matrix.values(static_cast<Index>(n), 1) = static_cast<float>(p.f);
  }
  return {matrix};
}

std::string sharing_objection(const AttentionTap&) {
  return "Sharing shows the projections of Linformer, in its mode projection.";
}

}  // namespace

Mechanism sharing_mechanism() {
  Mechanism m{"sharing", "projections shared by heads, keys and values, and layers",
              has_projections, draw_sharing, sharing_numbers};
  m.label = "Sharing";
  m.objection = sharing_objection;
  return m;
}

}  // namespace attnscope
