#include "core/view/mechanism/layer_path.h"

#include <algorithm>

namespace attnscope {
namespace {

constexpr Index kMostLayers = 4, kMinLayers = 2;

// True if all rows of the tap's heads have the same pattern.
bool alike(const AttentionTap& tap) {
  return tap.result.pattern->heads() == 1 && !tap.result.mask.defined();
}

const std::string& rule_name(const AttentionTap& tap, int rule) {
  static const std::string unnamed = "allowed";
  const std::vector<std::string>& rules = tap.result.pattern->rules();
  return static_cast<std::size_t>(rule) < rules.size() ? rules[static_cast<std::size_t>(rule)]
                                                       : unnamed;
}

}  // namespace

std::optional<LayerChain> LayerChain::of(const Trace& trace, const TracePart& part, Index head) {
  LayerChain chain;
  for (const HeadRef& at : trace.layer_sequence(part)) {
    std::vector<Eye> eyes;
    for (const AttentionTap& tap : trace.attention) {
      if (tap.address.layer != at.layer || part_of(tap.address) != at.part) continue;
      if (chain.length_ == 0) chain.length_ = tap.queries();
      if (tap.queries() != chain.length_ || tap.keys() != chain.length_ ||
          tap.query_rows.stream != tap.key_rows.stream || !tap.result.columns.empty()) {
        return {};
      }
      const auto count = static_cast<Index>(tap.heads.size());
      for (Index n = 0; n < (alike(tap) ? 1 : count); ++n) eyes.push_back({&tap, n});
      if (alike(tap) && std::ranges::count(tap.heads, head) > 0) {
        eyes.back().head = std::ranges::find(tap.heads, head) - tap.heads.begin();
      }
    }
    const auto shown = [&](const Eye& eye) {
      return eye.tap->heads[static_cast<std::size_t>(eye.head)] == head;
    };
    std::ranges::stable_partition(eyes, shown);
    chain.layers_.push_back(std::move(eyes));
  }
  if (chain.layers_.empty() || chain.length_ == 0 || chain.length_ > kMostLength) return {};
  return chain;
}

Index LayerChain::shown_layers() const {
  return std::clamp(layers(), kMinLayers, kMostLayers);
}

void LayerChain::sights(Index layer, Index query,
                        const std::function<void(const Sight&)>& see) const {
  for (const Eye& eye : layers_[static_cast<std::size_t>(layer % layers())]) {
    const Pattern& pattern = *eye.tap->result.pattern;
    const Index row_of = pattern.heads() > 1 ? eye.head : 0;
    const ByteTensor& mask = eye.tap->result.mask;
    if (mask.defined()) {
      for (Index key = 0; key < length_; ++key) {
        if (mask(eye.head, query, key) == 0) continue;
        see({key, eye.tap, eye.head, std::max(0, pattern.rule(row_of, query, key))});
      }
      continue;
    }
    for (const Run& run : pattern.row(row_of, query)) {
      for (Index key = run.begin; key < run.end; key += run.step) {
        see({key, eye.tap, eye.head, run.rule});
      }
    }
  }
}

namespace {

// Receptive field level by level, from the query downwards.
std::vector<ReceptiveField::Tokens> cone_of(const LayerChain& chain, Index query, Index layers) {
  const auto length = static_cast<std::size_t>(chain.length());
  std::vector<ReceptiveField::Tokens> cone(static_cast<std::size_t>(layers) + 1,
                                           ReceptiveField::Tokens(length, 0));
  cone.back()[static_cast<std::size_t>(query)] = 1;
  for (Index layer = layers - 1; layer >= 0; --layer) {
    ReceptiveField::Tokens& before = cone[static_cast<std::size_t>(layer)];
    before = cone[static_cast<std::size_t>(layer) + 1];
    for (Index i = 0; i < chain.length(); ++i) {
      if (!cone[static_cast<std::size_t>(layer) + 1][static_cast<std::size_t>(i)]) continue;
      chain.sights(layer, i, [&](const LayerChain::Sight& s) {
        before[static_cast<std::size_t>(s.key)] = 1;
      });
    }
  }
  return cone;
}

// Members of the cone reachable from the key, from the key upwards.
std::vector<ReceptiveField::Tokens> between_of(const LayerChain& chain,
                                               const std::vector<ReceptiveField::Tokens>& cone,
                                               Index key) {
  std::vector<ReceptiveField::Tokens> between(cone.size(),
                                              ReceptiveField::Tokens(cone[0].size(), 0));
  between[0][static_cast<std::size_t>(key)] = cone[0][static_cast<std::size_t>(key)];
  for (std::size_t layer = 0; layer + 1 < cone.size(); ++layer) {
    for (std::size_t i = 0; i < cone[0].size(); ++i) {
      if (!cone[layer + 1][i]) continue;
      char heard = between[layer][i];
      chain.sights(static_cast<Index>(layer), static_cast<Index>(i),
                   [&](const LayerChain::Sight& s) {
                     heard |= between[layer][static_cast<std::size_t>(s.key)];
                   });
      between[layer + 1][i] = heard;
    }
  }
  return between;
}

// Traces a path downwards within `between`; prefers attention over the residual connection.
std::vector<Hop> path_of(const LayerChain& chain,
                         const std::vector<ReceptiveField::Tokens>& between, Index query,
                         Index key) {
  std::vector<Hop> path;
  Index at = query;
  for (auto layer = static_cast<Index>(between.size()) - 2; layer >= 0; --layer) {
    const ReceptiveField::Tokens& before = between[static_cast<std::size_t>(layer)];
    Hop hop{at, at};
    // Once the key remains available in all layers below, it is taken as soon as possible.
    chain.sights(layer, at, [&](const LayerChain::Sight& s) {
      if (!before[static_cast<std::size_t>(s.key)] || s.key == at) return;
      if (hop.rule >= 0 && (hop.key == key || s.key != key)) return;
      hop = {at, s.key, s.rule, rule_name(*s.tap, s.rule),
             s.tap->heads[static_cast<std::size_t>(s.head)]};
    });
    if (at == key && before[static_cast<std::size_t>(at)]) hop = {at, at};
    path.push_back(hop);
    at = hop.key;
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace

ReceptiveField heard_by(const LayerChain& chain, Index query, Index key, Index layers) {
  ReceptiveField heard;
  heard.cone = cone_of(chain, query, layers);
  heard.between = between_of(chain, heard.cone, key);
  if (heard.between.back()[static_cast<std::size_t>(query)]) {
    heard.path = path_of(chain, heard.between, query, key);
  }
  return heard;
}

}  // namespace attnscope
