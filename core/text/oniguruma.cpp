// Translation from Oniguruma to PCRE2 syntax. References:
// https://github.com/kkos/oniguruma/blob/master/doc/RE and pcre2pattern(3).
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/text/expression.h"

namespace attnscope {
namespace {

constexpr const char* kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
constexpr const char* kHexDigit = "0-9A-Fa-f";

// Canonical form of a property name: lower case, without "_", "-" and spaces.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '_' || c == '-' || c == ' ') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return plain;
}

// PCRE2 set items, without [], for POSIX brackets and the properties of the same names.
const std::map<std::string, std::string>& posix_sets() {
  static const std::map<std::string, std::string> sets = {{"alnum", R"(\p{Alphabetic}\p{Nd})"},
                                                          {"alpha", R"(\p{Alphabetic})"},
                                                          {"ascii", R"(\x00-\x7f)"},
                                                          {"blank", R"(\p{Zs}\t)"},
                                                          {"cntrl", R"(\p{Cc})"},
                                                          {"digit", R"(\p{Nd})"},
                                                          {"lower", R"(\p{Lowercase})"},
                                                          {"punct", R"(\p{P}\p{S})"},
                                                          {"space", R"(\p{White_Space})"},
                                                          {"upper", R"(\p{Uppercase})"},
                                                          {"word", kWord},
                                                          {"xdigit", kHexDigit}};
  return sets;
}

const std::map<std::string, std::string>& category_names() {
  static const std::map<std::string, std::string> names = {{"letter", "L"},
                                                           {"casedletter", "L&"},
                                                           {"lc", "L&"},
                                                           {"uppercaseletter", "Lu"},
                                                           {"lowercaseletter", "Ll"},
                                                           {"titlecaseletter", "Lt"},
                                                           {"modifierletter", "Lm"},
                                                           {"otherletter", "Lo"},
                                                           {"mark", "M"},
                                                           {"nonspacingmark", "Mn"},
                                                           {"spacingmark", "Mc"},
                                                           {"enclosingmark", "Me"},
                                                           {"number", "N"},
                                                           {"decimalnumber", "Nd"},
                                                           {"letternumber", "Nl"},
                                                           {"othernumber", "No"},
                                                           {"punctuation", "P"},
                                                           {"connectorpunctuation", "Pc"},
                                                           {"dashpunctuation", "Pd"},
                                                           {"openpunctuation", "Ps"},
                                                           {"closepunctuation", "Pe"},
                                                           {"initialpunctuation", "Pi"},
                                                           {"finalpunctuation", "Pf"},
                                                           {"otherpunctuation", "Po"},
                                                           {"symbol", "S"},
                                                           {"mathsymbol", "Sm"},
                                                           {"currencysymbol", "Sc"},
                                                           {"modifiersymbol", "Sk"},
                                                           {"othersymbol", "So"},
                                                           {"separator", "Z"},
                                                           {"spaceseparator", "Zs"},
                                                           {"lineseparator", "Zl"},
                                                           {"paragraphseparator", "Zp"},
                                                           {"other", "C"},
                                                           {"control", "Cc"},
                                                           {"format", "Cf"},
                                                           {"unassigned", "Cn"},
                                                           {"privateuse", "Co"},
                                                           {"surrogate", "Cs"}};
  return names;
}

// True if PCRE2 supports the property.
bool is_known(const std::string& property) {
  const std::string pattern = "\\p{" + property + "}";
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   PCRE2_UTF, &error, &at, nullptr);
  pcre2_code_free(code);
  return code != nullptr;
}

class Translation {
 public:
  Translation(std::string_view pattern, std::string_view where) : in_(pattern), where_(where) {}

  std::string run() {
    while (at_ < in_.size()) step();
    return std::move(out_);
  }

 private:
  // A character set: items inside [] and further single-character expressions.
  struct Set {
    std::string items;
    std::vector<std::string> others;

    std::string expression() const {
      if (others.empty()) return items.empty() ? "(?!)" : "[" + items + "]";
      std::string all = "(?:";
      if (!items.empty()) all += "[" + items + "]|";
      for (const std::string& other : others) all += (&other == &others[0] ? "" : "|") + other;
      return all + ")";
    }
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(std::string(where_) + ": expression " + shortened(Json(in_)) + ": " + what +
                     " at byte " + std::to_string(at_) + " is not supported");
  }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0';
  }
  bool take(std::string_view text) {
    if (!in_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }

  void step() {
    const char c = in_[at_];
    if (c == '*' || c == '+' || c == '?' || (c == '{' && is_interval())) return quantifier();
    if (c == ')') {
      if (!groups_.empty()) {
        atom_ = groups_.back();
        groups_.pop_back();
      }
      out_ += in_[at_++];
      return;
    }
    atom_ = out_.size();
    if (c == '(') return group();
    if (c == '[') {
      ++at_;
      out_ += set();
    } else if (c == '\\') {
      ++at_;
      out_ += escape();
    } else {
      while (true) {  // one character
        out_ += in_[at_++];
        if (at_ >= in_.size() || (static_cast<unsigned char>(in_[at_]) & 0xc0) != 0x80) break;
      }
    }
  }

  void group() {
    groups_.push_back(out_.size());
    ++at_;
    out_ += '(';
    if (peek() == '*') fail("a verb");
    if (!take("?")) return;
    out_ += '?';
    for (const char* kind : {":", "=", "!", ">", "<=", "<!"}) {
      if (take(kind)) {
        out_ += kind;
        return;
      }
    }
    if (peek() == '<' || peek() == '\'') {  // a named group, copied unchanged
      out_ += in_[at_++];
      return;
    }
    std::size_t end = in_.find_first_not_of("i-", at_);
    if (end == at_ || end == in_.npos || (in_[end] != ':' && in_[end] != ')')) {
      fail("this kind of group");
    }
    out_ += in_.substr(at_, end - at_);
    at_ = end;
    if (in_[end] == ':') out_ += in_[at_++];
  }

  // "{2}", "{2,}", "{2,3}", "{,3}"
  bool is_interval() const {
    std::size_t end = at_ + 1, digits = 0, commas = 0;
    for (; end < in_.size() && in_[end] != '}'; ++end) {
      if (in_[end] == ',' && commas == 0) {
        ++commas;
      } else if (in_[end] >= '0' && in_[end] <= '9') {
        ++digits;
      } else {
        return false;
      }
    }
    return end < in_.size() && digits > 0;
  }

  void quantifier() {
    if (in_[at_] != '{') {
      out_ += in_[at_++];
      if (peek() == '?' || peek() == '+') out_ += in_[at_++];  // lazy, possessive
      return;
    }
    const std::size_t end = in_.find('}', at_);
    const std::string_view counts = in_.substr(at_ + 1, end - at_ - 1);
    out_ += counts.starts_with(',') ? "{0" + std::string(counts) + "}"
                                    : "{" + std::string(counts) + "}";
    at_ = end + 1;
    const bool exact = counts.find(',') == counts.npos;
    if (peek() == '?' && !exact) {
      out_ += in_[at_++];
    } else if (peek() == '+' || peek() == '?' || peek() == '*') {  // a repetition of the repetition
      out_ = out_.substr(0, atom_) + "(?:" + out_.substr(atom_) + ")";
    }
  }

  // Translates an escape outside a set, after the backslash.
  std::string escape() {
    const char c = peek();
    const std::string word = kWord, around = "(?:(?<=[" + word + "])(?![" + word + "])|(?<![" +
                                             word + "])(?=[" + word + "]))";
    switch (c) {
      case 'b':
        ++at_;
        return around;
      case 'B':
        ++at_;
        return "(?!" + around + ")";
      case 'O':
        ++at_;
        return "(?s:.)";
      case 'A':
      case 'z':
      case 'Z':
      case 'N':
      case 'R':
      case 'X':
        ++at_;
        return std::string("\\") + c;
      default:
        break;
    }
    if (c >= '1' && c <= '9') {
      ++at_;
      return std::string("\\") + c;
    }
    Set one;
    set_escape(one);
    return one.others.empty() && is_single(one.items) ? one.items : one.expression();
  }

  // True if the items need no surrounding [].
  static bool is_single(const std::string& items) {
    if (items.starts_with("\\p{") || items.starts_with("\\P{") || items.starts_with("\\x{")) {
      return items.find('}') == items.size() - 1;
    }
    return items.size() == 2 && items[0] == '\\';
  }

  // Translates an escape that denotes a set of characters, after the backslash.
  void set_escape(Set& to) {
    if (at_ >= in_.size()) fail("a trailing backslash");
    const char c = in_[at_++];
    switch (c) {
      case 'w':
        to.items += kWord;
        return;
      case 'W':
        to.others.push_back("[^" + std::string(kWord) + "]");
        return;
      case 's':
      case 'S':
        to.items += c == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
        return;
      case 'd':
      case 'D':
        to.items += c == 'd' ? "\\p{Nd}" : "\\P{Nd}";
        return;
      case 'h':
        to.items += kHexDigit;
        return;
      case 'H':
        to.others.push_back("[^" + std::string(kHexDigit) + "]");
        return;
      case 'p':
      case 'P':
        return property(c == 'P', to);
      case 'v':
        to.items += "\\x0b";
        return;
      case 'b':  // within a set
        to.items += "\\x08";
        return;
      case 'x':
      case 'u':
        to.items += code(c);
        return;
      case 't':
      case 'n':
      case 'r':
      case 'f':
      case 'e':
      case 'a':
        to.items += '\\';
        to.items += c;
        return;
      default:
        break;
    }
    const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    if (letter || (c >= '0' && c <= '9')) {
      --at_;
      fail(std::string("\\") + c);
    }
    if (static_cast<unsigned char>(c) < 0x80) to.items += '\\';
    to.items += c;
  }

  std::string code(char kind) {
    std::string digits;
    if (kind == 'x' && take("{")) {
      while (peek() != '}' && at_ < in_.size()) digits += in_[at_++];
      ++at_;
    } else {
      const std::size_t most = kind == 'x' ? 2 : 4;
      while (digits.size() < most && std::isxdigit(static_cast<unsigned char>(peek()))) {
        digits += in_[at_++];
      }
      // \xe4 is a byte, not a character.
      if (kind == 'x' && digits.size() == 2 && digits[0] >= '8') fail("\\x" + digits);
      if (kind == 'u' && digits.size() != 4) fail("\\u" + digits);
    }
    const auto is_digit = [](unsigned char d) { return std::isxdigit(d) != 0; };
    if (digits.empty() || digits.size() > 8 || !std::ranges::all_of(digits, is_digit)) {
      fail("\\x" + digits);
    }
    return "\\x{" + digits + "}";
  }

  void property(bool negated, Set& to) {
    const std::size_t end = in_.find('}', at_);
    if (peek() != '{' || end == in_.npos) fail("\\p without a name");
    std::string_view name = in_.substr(at_ + 1, end - at_ - 1);
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    const auto add = [&](const std::string& known) {
      to.items += (negated ? "\\P{" : "\\p{") + known + "}";
      at_ = end + 1;
    };
    const std::string plain = plain_name(name);
    if (plain.empty() ||
        plain.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") != plain.npos) {
      fail("the property " + std::string(name));
    }
    if (const auto found = posix_sets().find(plain); found != posix_sets().end()) {
      if (negated) {
        to.others.push_back("[^" + found->second + "]");
      } else {
        to.items += found->second;
      }
      at_ = end + 1;
      return;
    }
    if (const auto found = category_names().find(plain); found != category_names().end()) {
      return add(found->second);
    }
    if (plain.size() > 2 && is_known("sc:" + plain)) return add("sc:" + plain);
    if (!is_known(plain)) fail("the property " + std::string(name));
    add(plain);
  }

  // Reads "[:alpha:]" after the opening bracket.
  bool posix(Set& to) {
    const std::size_t end = in_.find(":]", at_);
    if (peek() != ':' || end == in_.npos) return false;
    std::string_view name = in_.substr(at_ + 1, end - at_ - 1);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    const auto found = posix_sets().find(std::string(name));
    if (found == posix_sets().end()) return false;
    if (negated) {
      to.others.push_back("[^" + found->second + "]");
    } else {
      to.items += found->second;
    }
    at_ = end + 2;
    return true;
  }

  // Translates a set, from after the opening bracket to after the closing one.
  std::string set() {
    if (++depth_ > 64) fail("a set nested this deeply");
    const bool negated = take("^");
    std::vector<Set> operands(1);  // of "&&"
    bool first = true;
    while (true) {
      if (at_ >= in_.size()) fail("an unterminated set");
      Set& now = operands.back();
      const char c = in_[at_];
      if (c == ']' && !first) break;
      first = false;
      if (take("&&")) {
        operands.emplace_back();
      } else if (take("[")) {
        if (!posix(now)) now.others.push_back(set());
      } else if (take("\\")) {
        set_escape(now);
      } else {
        if (c == ']' || c == '^') now.items += '\\';
        now.items += in_[at_++];
      }
    }
    ++at_;
    --depth_;
    if (operands.size() == 1 && operands[0].others.empty() && !operands[0].items.empty()) {
      return (negated ? "[^" : "[") + operands[0].items + "]";
    }
    std::string all = operands.back().expression();
    if (operands.size() > 1) {
      std::string before;
      for (std::size_t n = 0; n + 1 < operands.size(); ++n) {
        before += "(?=" + operands[n].expression() + ")";
      }
      all = "(?:" + before + all + ")";
    }
    return negated ? "(?:(?!" + all + ")(?s:.))" : all;
  }

  std::string_view in_, where_;
  std::string out_;
  std::size_t at_ = 0;
  std::size_t atom_ = 0;             // begin in out_ of the operand of a quantifier
  std::vector<std::size_t> groups_;  // begins in out_ of the open groups
  int depth_ = 0;
};

}  // namespace

std::string pcre2_from_oniguruma(std::string_view pattern, std::string_view where) {
  return Translation(pattern, where).run();
}

}  // namespace attnscope
