// SentencePiece's replacement table (Kudo and Richardson, 2018; normalizer.cc): the size of a trie,
// the trie as a double array (Darts-clone), and the replacements, each ending in a zero byte.
#include <bit>
#include <cstring>
#include <optional>

#include "core/base/error.h"
#include "core/text/byte_trie.h"
#include "core/text/normalize/normalizer.h"

namespace attnscope {
namespace {

class CharacterTable {
 public:
  CharacterTable(std::string_view table, std::string_view where) {
    if (table.empty()) return;
    std::uint32_t size = 0;
    if (table.size() < 4) fail(where);
    std::memcpy(&size, table.data(), 4);
    if (size % 4 != 0 || size > table.size() - 4) fail(where);
    units_.resize(size / 4);
    if (size > 0) std::memcpy(units_.data(), table.data() + 4, size);
    replacements_ = table.substr(4 + size);
    if (!units_.empty() && (replacements_.empty() || replacements_.back() != '\0')) fail(where);
  }

  struct Replacement {
    std::size_t size;  // bytes replaced
    std::string_view by;
  };
  // Replacement for the shortest or longest prefix of text[at...] in the table.
  std::optional<Replacement> find(std::string_view text, std::size_t at, bool longest) const {
    std::optional<Replacement> best;
    if (units_.empty()) return best;
    std::size_t node = offset(units_[0]);
    for (std::size_t i = at; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      node ^= byte;
      if (node >= units_.size() || label(units_[node]) != byte) return best;
      const std::uint32_t unit = units_[node];
      node ^= offset(unit);
      if (!has_leaf(unit)) continue;
      if (node >= units_.size()) return best;
      const std::size_t value = units_[node] & 0x7fffffffu;
      if (value >= replacements_.size()) return best;
      best = Replacement{i + 1 - at, std::string_view(replacements_.data() + value)};
      if (!longest) return best;
    }
    return best;
  }

 private:
  [[noreturn]] static void fail(std::string_view where) {
    throw InputError(std::string(where) + ": invalid replacement table");
  }
  static bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) == 1; }
  static std::uint32_t label(std::uint32_t unit) { return unit & (1u << 31 | 0xff); }
  static std::size_t offset(std::uint32_t unit) {
    return std::size_t{unit >> 10} << ((unit & (1u << 9)) >> 6);
  }
  static_assert(std::endian::native == std::endian::little);

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) next_code(text, at);
  return count;
}

// Appends `by`, which replaces `old_count` characters: the last ones are inserted or removed.
void replace_part(std::vector<NewCharacter>& to, std::size_t old_count, std::string_view by) {
  const std::size_t first = to.size();
  for (std::size_t at = 0; at < by.size();) to.push_back({next_code(by, at), 0});
  const std::size_t count = to.size() - first;
  if (count > old_count) {
    for (std::size_t n = to.size() - (count - old_count); n < to.size(); ++n) to[n].change = 1;
  } else if (count < old_count && !to.empty()) {
    to.back().change -= static_cast<int>(old_count - count);
  }
}

class Precompiled final : public Normalizer {
 public:
  Precompiled(std::string_view table, std::string_view where) : table_(table, where) {}

  void apply(AlignedText& text) const override {
    constexpr std::size_t kMaxCluster = 6;
    const std::string_view all = text.text();
    std::vector<std::size_t> starts = cluster_starts(all);
    starts.push_back(all.size());
    std::vector<NewCharacter> characters;
    std::size_t dropped = 0;
    bool any = false;
    const auto replace = [&](std::string_view part) {
      const auto found = table_.find(part, 0, false);
      if (!found) return false;
      any = true;
      if (characters.empty() && found->by.empty()) {
        dropped += count_characters(part);
      } else {
        replace_part(characters, count_characters(part), found->by);
      }
      return true;
    };
    for (std::size_t n = 0; n + 1 < starts.size(); ++n) {
      const std::string_view cluster = all.substr(starts[n], starts[n + 1] - starts[n]);
      if (cluster.size() < kMaxCluster && replace(cluster)) continue;
      for (std::size_t at = 0; at < cluster.size();) {
        const std::size_t begin = at;
        const std::int32_t code = next_code(cluster, at);
        if (!replace(cluster.substr(begin, at - begin))) characters.push_back({code, 0});
      }
    }
    if (any) text.rewrite(characters, dropped);
  }

 private:
  CharacterTable table_;
};

class SentencePieceNormalizer final : public Normalizer {
 public:
  SentencePieceNormalizer(std::string_view table, const SentencePieceSpaces& spaces,
                          std::vector<std::string> untouched, std::string_view where)
      : table_(table, where), spaces_(spaces), untouched_texts_(std::move(untouched)) {
    std::vector<std::pair<std::string_view, std::int32_t>> keys;
    for (const std::string& text : untouched_texts_) keys.emplace_back(text, 0);
    untouched_ = ByteTrie(std::move(keys));
  }

  void apply(AlignedText& text) const override {
    const std::string_view all = text.text();
    AlignedText result = text.empty_copy();
    const std::string space = spaces_.escape ? "▁" : " ";
    std::size_t at = 0;
    if (spaces_.remove_extra) {
      while (at < all.size()) {
        const Part part = next(all, at);
        if (part.by != " ") break;
        at += part.size;
      }
    }
    if (at == all.size()) {
      text = text.empty_copy();
      return;
    }
    if (spaces_.prefix && !spaces_.suffix) result.append(space, text.origin({at, at}));
    bool after_space = spaces_.remove_extra;
    while (at < all.size()) {
      const Part part = next(all, at);
      const Span from = text.origin({at, at + part.size});
      std::string_view by = part.by;
      while (after_space && by.starts_with(' ')) by.remove_prefix(1);
      for (std::size_t i = 0; i < by.size();) {
        const std::size_t begin = i;
        next_code(by, i);
        const std::string_view c = by.substr(begin, i - begin);
        result.append(c == " " ? std::string_view(space) : c, from);
      }
      if (!by.empty()) after_space = spaces_.remove_extra && by.ends_with(' ');
      at += part.size;
    }
    if (spaces_.remove_extra) trim_end(result, space);
    if (spaces_.suffix && spaces_.prefix) {
      result.append(space, {result.origin({0, result.text().size()}).end,
                            result.origin({0, result.text().size()}).end});
    }
    text = std::move(result);
  }

 private:
  struct Part {
    std::size_t size;
    std::string_view by;
  };
  Part next(std::string_view text, std::size_t at) const {
    std::int32_t unused_number = 0;
    if (const std::size_t size = untouched_.longest(text, at, unused_number)) {
      return {size, text.substr(at, size)};
    }
    if (const auto found = table_.find(text, at, true)) return {found->size, found->by};
    const Character c = character_at(text, at);
    if (c.code < 0) return {1, "\xEF\xBF\xBD"};  // U+FFFD, as in SentencePiece
    return {c.size, text.substr(at, c.size)};
  }
  static void trim_end(AlignedText& text, const std::string& space) {
    std::size_t end = text.text().size();
    while (end >= space.size() && std::string_view(text.text()).substr(0, end).ends_with(space)) {
      end -= space.size();
    }
    if (end == text.text().size()) return;
    AlignedText kept = text.empty_copy();
    if (end > 0) kept.append(text, {0, end});
    text = std::move(kept);
  }

  CharacterTable table_;
  SentencePieceSpaces spaces_;
  std::vector<std::string> untouched_texts_;
  ByteTrie untouched_;
};

}  // namespace

NormalizerPtr precompiled_normalizer(std::string_view table, std::string_view where) {
  return std::make_shared<Precompiled>(table, where);
}

NormalizerPtr sentencepiece_normalizer(std::string_view table, const SentencePieceSpaces& spaces,
                                       std::vector<std::string> untouched, std::string_view where) {
  return std::make_shared<SentencePieceNormalizer>(table, spaces, std::move(untouched), where);
}

}  // namespace attnscope
