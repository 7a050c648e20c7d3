#include "core/view/mechanism/layer_path.h"

#include <algorithm>

namespace attnscope {
namespace {

constexpr Index kMaxLayers = 4, kMinLayers = 2;

// True if all heads of the tap have the same pattern.
bool have_same_pattern(const AttentionTap& tap) {
  return tap.result.pattern->heads() == 1 && !tap.result.mask.defined();
}

const std::string& rule_name(const AttentionTap& tap, int rule) {
  static const std::string unnamed = "allowed";
  const std::vector<std::string>& rules = tap.result.pattern->rules();
  return static_cast<std::size_t>(rule) < rules.size() ? rules[static_cast<std::size_t>(rule)]
                                                       : unnamed;
}

}  // namespace

std::optional<LayerChain> LayerChain::create(const Trace& trace, const TracePart& part,
                                             Index head) {
  LayerChain chain;
  for (const HeadRef& ref : trace.layer_sequence(part)) {
    std::vector<LayerHead> heads;
    for (const AttentionTap& tap : trace.attention) {
      if (tap.address.layer != ref.layer || part_of(tap.address) != ref.part) continue;
      if (chain.length_ == 0) chain.length_ = tap.queries();
      if (tap.queries() != chain.length_ || tap.keys() != chain.length_ ||
          tap.query_rows.stream != tap.key_rows.stream || !tap.result.columns.empty()) {
        return {};
      }
      const auto count = static_cast<Index>(tap.heads.size());
      for (Index n = 0; n < (have_same_pattern(tap) ? 1 : count); ++n) heads.push_back({&tap, n});
      if (have_same_pattern(tap) && std::ranges::count(tap.heads, head) > 0) {
        heads.back().head = std::ranges::find(tap.heads, head) - tap.heads.begin();
      }
    }
    const auto is_selected = [&](const LayerHead& entry) {
      return entry.tap->heads[static_cast<std::size_t>(entry.head)] == head;
    };
    std::ranges::stable_partition(heads, is_selected);
    chain.layers_.push_back(std::move(heads));
  }
  if (chain.layers_.empty() || chain.length_ == 0 || chain.length_ > kMaxLength) return {};
  return chain;
}

Index LayerChain::shown_layers() const {
  return std::clamp(layers(), kMinLayers, kMaxLayers);
}

void LayerChain::visit_keys(Index layer, Index query,
                            const std::function<void(const AttendedKey&)>& visit) const {
  for (const LayerHead& entry : layers_[static_cast<std::size_t>(layer % layers())]) {
    const Pattern& pattern = *entry.tap->result.pattern;
    const Index pattern_head = pattern.heads() > 1 ? entry.head : 0;
    const ByteTensor& mask = entry.tap->result.mask;
    if (mask.defined()) {
      for (Index key = 0; key < length_; ++key) {
        if (mask(entry.head, query, key) == 0) continue;
        visit({key, entry.tap, entry.head, std::max(0, pattern.rule(pattern_head, query, key))});
      }
      continue;
    }
    for (const Run& run : pattern.row(pattern_head, query)) {
      for (Index key = run.begin; key < run.end; key += run.step) {
        visit({key, entry.tap, entry.head, run.rule});
      }
    }
  }
}

namespace {

// Receptive field by level, computed from the query downwards.
std::vector<ReceptiveField::Tokens> cone_of(const LayerChain& chain, Index query, Index layers) {
  const auto length = static_cast<std::size_t>(chain.length());
  std::vector<ReceptiveField::Tokens> cone(static_cast<std::size_t>(layers) + 1,
                                           ReceptiveField::Tokens(length, 0));
  cone.back()[static_cast<std::size_t>(query)] = 1;
  for (Index layer = layers - 1; layer >= 0; --layer) {
    ReceptiveField::Tokens& lower = cone[static_cast<std::size_t>(layer)];
    lower = cone[static_cast<std::size_t>(layer) + 1];
    for (Index i = 0; i < chain.length(); ++i) {
      if (!cone[static_cast<std::size_t>(layer) + 1][static_cast<std::size_t>(i)]) continue;
      chain.visit_keys(layer, i, [&](const LayerChain::AttendedKey& attended) {
        lower[static_cast<std::size_t>(attended.key)] = 1;
      });
    }
  }
  return cone;
}

// Members of the cone that the key reaches, computed from the key upwards.
std::vector<ReceptiveField::Tokens> reached_cone(const LayerChain& chain,
                                                 const std::vector<ReceptiveField::Tokens>& cone,
                                                 Index key) {
  std::vector<ReceptiveField::Tokens> on_path(cone.size(),
                                              ReceptiveField::Tokens(cone[0].size(), 0));
  on_path[0][static_cast<std::size_t>(key)] = cone[0][static_cast<std::size_t>(key)];
  for (std::size_t layer = 0; layer + 1 < cone.size(); ++layer) {
    for (std::size_t i = 0; i < cone[0].size(); ++i) {
      if (!cone[layer + 1][i]) continue;
      char reached = on_path[layer][i];
      chain.visit_keys(static_cast<Index>(layer), static_cast<Index>(i),
                       [&](const LayerChain::AttendedKey& attended) {
                         reached |= on_path[layer][static_cast<std::size_t>(attended.key)];
                       });
      on_path[layer + 1][i] = reached;
    }
  }
  return on_path;
}

// Traces a path from the query down within `on_path`; prefers attention over residual connections.
std::vector<Hop> find_path(const LayerChain& chain,
                           const std::vector<ReceptiveField::Tokens>& on_path, Index query,
                           Index key) {
  std::vector<Hop> path;
  Index token = query;
  for (auto layer = static_cast<Index>(on_path.size()) - 2; layer >= 0; --layer) {
    const ReceptiveField::Tokens& lower = on_path[static_cast<std::size_t>(layer)];
    Hop hop{token, token};
    // Prefers a hop to the key itself: residual connections complete the path below it.
    chain.visit_keys(layer, token, [&](const LayerChain::AttendedKey& attended) {
      if (!lower[static_cast<std::size_t>(attended.key)] || attended.key == token) return;
      if (hop.rule >= 0 && (hop.key == key || attended.key != key)) return;
      hop = {token, attended.key, attended.rule, rule_name(*attended.tap, attended.rule),
             attended.tap->heads[static_cast<std::size_t>(attended.head)]};
    });
    if (token == key && lower[static_cast<std::size_t>(token)]) hop = {token, token};
    path.push_back(hop);
    token = hop.key;
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace

ReceptiveField receptive_field(const LayerChain& chain, Index query, Index key, Index layers) {
  ReceptiveField field;
  field.cone = cone_of(chain, query, layers);
  field.on_path = reached_cone(chain, field.cone, key);
  if (field.on_path.back()[static_cast<std::size_t>(query)]) {
    field.path = find_path(chain, field.on_path, query, key);
  }
  return field;
}

}  // namespace attnscope
