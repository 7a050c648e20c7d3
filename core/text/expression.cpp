#include "core/text/expression.h"

#include <oniguruma.h>

#include <algorithm>
#include <ctime>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxPattern = 8192;
constexpr std::size_t kMaxSteps = 10'000'000;  // backtracking steps per match
constexpr std::size_t kStepsPerByte = 1000;
constexpr unsigned kMaxStack = 1'000'000;  // entries

const OnigUChar* first_byte(std::string_view text) {
  return reinterpret_cast<const OnigUChar*>(text.data());
}

[[noreturn]] void fail_with(std::string_view where, std::string_view pattern,
                            const std::string& what) {
  throw InputError(std::string(where) + ": expression " + shortened(Json(pattern)) + ": " + what);
}

std::string error_message(int error, OnigErrorInfo* info = nullptr) {
  OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
  const int length = info != nullptr ? onig_error_code_to_str(text, error, info)
                                     : onig_error_code_to_str(text, error);
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(length)};
}

// Adds symbols to [:punct:], which lacks them in Oniguruma before 6.9.9.
std::string with_symbols(std::string pattern) {
  constexpr std::string_view kClass = "[:punct:]", kSymbols = R"(\p{S})";
  for (auto at = pattern.find(kClass); at != pattern.npos; at = pattern.find(kClass, at)) {
    pattern.insert(at, kSymbols);
    at += kSymbols.size() + kClass.size();
  }
  return pattern;
}

// Per-thread matching buffers.
struct Workspace {
  OnigRegion* region = onig_region_new();
  OnigMatchParam* limits = onig_new_match_param();

  Workspace() {
    if (!region || !limits) throw std::bad_alloc();
    onig_initialize_match_param(limits);
    onig_set_match_stack_limit_size_of_match_param(limits, kMaxStack);
  }
  ~Workspace() {
    onig_free_match_param(limits);
    onig_region_free(region, 1);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
};

// Replaces each invalid byte by a control character, keeping the length. Returns `text` itself if
// it is valid, else a view of `storage`.
std::string_view valid_utf8(std::string_view text, std::string& storage) {
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.code < 0) {
      if (storage.empty()) storage = text;
      storage[at] = '\x01';
    }
    at += c.size;
  }
  return storage.empty() ? text : storage;
}

}  // namespace

struct Expression::Compiled {
  Compiled(std::string_view source, std::string_view file, OnigSyntaxType* syntax)
      : pattern(source), where(file) {
    static const int initialised = [] {
      OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
      return onig_initialize(encodings, 1);
    }();
    if (initialised != ONIG_NORMAL) fail_with(where, pattern, error_message(initialised));
    OnigErrorInfo info;
    const std::string adjusted = syntax == ONIG_SYNTAX_ASIS ? pattern : with_symbols(pattern);
    const int error = onig_new(&code, first_byte(adjusted), first_byte(adjusted) + adjusted.size(),
                               ONIG_OPTION_NONE, ONIG_ENCODING_UTF8, syntax, &info);
    if (error != ONIG_NORMAL) fail_with(where, pattern, error_message(error, &info));
  }
  ~Compiled() { onig_free(code); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  std::string pattern, where;
  regex_t* code = nullptr;
};

Expression::Expression(std::string_view pattern, std::string_view where) {
  if (pattern.size() > kMaxPattern) {
    fail_with(where, pattern,
              "expected at most " + std::to_string(kMaxPattern) + " bytes, found " +
                  std::to_string(pattern.size()));
  }
  compiled_ = std::make_shared<const Compiled>(pattern, where, ONIG_SYNTAX_ONIGURUMA);
}

Expression Expression::literal(std::string_view text) {
  return Expression(std::make_shared<const Compiled>(text, "", ONIG_SYNTAX_ASIS));
}

namespace {

// Processor time of this thread: a limit on it does not depend on the load of the machine.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

bool Expression::matches(std::string_view text) const {
  bool any = false;
  each(text, [&](std::size_t, std::size_t) { any = true; });
  return any;
}

void Expression::each(std::string_view text,
                      const std::function<void(std::size_t begin, std::size_t end)>& match) const {
  thread_local Workspace workspace;
  std::string storage;
  const std::string_view subject = valid_utf8(text, storage);
  const OnigUChar *const first = first_byte(subject), *const last = first + subject.size();
  const auto max_steps = kStepsPerByte * (std::min<std::size_t>(subject.size(), kMaxSteps) + 100);
  onig_set_retry_limit_in_search_of_match_param(workspace.limits, std::min(max_steps, kMaxSteps));
  const double deadline = thread_seconds() + 2 + 1e-5 * static_cast<double>(subject.size());
  std::size_t at = 0, last_end = std::string_view::npos;
  for (std::size_t n = 1; at <= subject.size(); ++n) {
    const int found = onig_search_with_param(compiled_->code, first, last, first + at, last,
                                             workspace.region, ONIG_OPTION_NONE, workspace.limits);
    if (found == ONIG_MISMATCH) return;
    if (found < 0) {
      fail_with(compiled_->where, compiled_->pattern, "matching failed: " + error_message(found));
    }
    if (n % 256 == 0 && thread_seconds() > deadline) {
      fail_with(compiled_->where, compiled_->pattern, "matching takes too long");
    }
    const auto begin = static_cast<std::size_t>(workspace.region->beg[0]);
    const auto end = static_cast<std::size_t>(workspace.region->end[0]);
    if (begin == end && end == last_end) {  // an empty match at the end of the previous match
      at += at < subject.size() ? character_at(subject, at).size : 1;
      continue;
    }
    at = last_end = end;
    match(begin, end);
  }
}

}  // namespace attnscope
