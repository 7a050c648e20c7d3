#include "core/text/expression.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <chrono>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

constexpr std::size_t kMaxPattern = 8192;
constexpr std::uint32_t kMaxSteps = 10'000'000;  // per match
constexpr std::uint32_t kStepsPerByte = 1000;

using Code = std::shared_ptr<pcre2_code>;

[[noreturn]] void fail_with(std::string_view where, std::string_view pattern,
                            const std::string& what) {
  throw InputError(std::string(where) + ": expression " + shortened(Json(pattern)) + ": " + what);
}

std::string message_of(int error) {
  PCRE2_UCHAR text[160];
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

Code compile(const std::string& pattern, std::uint32_t options, std::string_view where,
             std::string_view shown) {
  int error = 0;
  PCRE2_SIZE at = 0;
  std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context*)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  if (!context) throw std::bad_alloc();
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                          PCRE2_UTF | options, &error, &at, context.get()),
            pcre2_code_free);
  if (!code) fail_with(where, shown, message_of(error));
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // optional; failure only costs speed
  return code;
}

// Per-thread matching buffers.
struct Workspace {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(1 << 15, 1 << 24, nullptr);

  Workspace() {
    if (!data || !context || !stack) throw std::bad_alloc();
    pcre2_jit_stack_assign(context, nullptr, stack);
  }
  ~Workspace() {
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
};

// Replaces each invalid byte by a control character, keeping the length. `made` holds the result if
// it differs from `text`.
std::string_view valid_utf8(std::string_view text, std::string& made) {
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.code < 0) {
      if (made.empty()) made = text;
      made[at] = '\x01';
    }
    at += c.size;
  }
  return made.empty() ? text : made;
}

}  // namespace

struct Expression::Compiled {
  Compiled(Code compiled, std::string_view shown, std::string_view file)
      : code(std::move(compiled)), pattern(shown), where(file) {
    std::size_t size = 0;
    fast = pcre2_pattern_info(code.get(), PCRE2_INFO_JITSIZE, &size) == 0 && size > 0;
  }

  // Finds the first match from `at` on. `text` must be valid UTF-8.
  int match(PCRE2_SPTR text, std::size_t size, std::size_t at, pcre2_match_data* data,
            pcre2_match_context* context) const {
    if (fast) {
      const int rc = pcre2_jit_match(code.get(), text, size, at, 0, data, context);
      if (rc != PCRE2_ERROR_JIT_STACKLIMIT) return rc;
    }
    return pcre2_match(code.get(), text, size, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data,
                       context);
  }

  Code code;
  std::string pattern, where;
  bool fast = false;  // compiled to machine code
};

Expression::Expression(std::string_view pattern, std::string_view where) {
  if (pattern.size() > kMaxPattern) {
    fail_with(where, pattern,
              "expected at most " + std::to_string(kMaxPattern) + " bytes, found " +
                  std::to_string(pattern.size()));
  }
  compiled_ = std::make_shared<const Compiled>(
      compile(pcre2_from_oniguruma(pattern, where), PCRE2_UCP | PCRE2_MULTILINE, where, pattern),
      pattern, where);
}

Expression Expression::literal(std::string_view text) {
  const std::string pattern(text);
  return Expression(
      std::make_shared<const Compiled>(compile(pattern, PCRE2_LITERAL, "", text), pattern, ""));
}

bool Expression::matches(std::string_view text) const {
  bool any = false;
  each(text, [&](std::size_t, std::size_t) { any = true; });
  return any;
}

void Expression::each(std::string_view text,
                      const std::function<void(std::size_t begin, std::size_t end)>& match) const {
  using Clock = std::chrono::steady_clock;
  thread_local Workspace workspace;
  std::string made;
  const std::string_view subject = valid_utf8(text, made);
  const auto* bytes = reinterpret_cast<PCRE2_SPTR>(subject.data());
  const auto most = kStepsPerByte * (std::min<std::size_t>(subject.size(), kMaxSteps) + 100);
  pcre2_set_match_limit(workspace.context,
                        static_cast<std::uint32_t>(std::min<std::size_t>(most, kMaxSteps)));
  const auto latest =
      Clock::now() + std::chrono::seconds(2) + std::chrono::microseconds(10 * subject.size());
  const PCRE2_SIZE* found = pcre2_get_ovector_pointer(workspace.data);
  std::size_t at = 0, last_end = std::string_view::npos;
  for (std::size_t n = 1; at <= subject.size(); ++n) {
    const int rc = compiled_->match(bytes, subject.size(), at, workspace.data, workspace.context);
    if (rc == PCRE2_ERROR_NOMATCH) return;
    if (rc < 0) {
      fail_with(compiled_->where, compiled_->pattern, "matching failed: " + message_of(rc));
    }
    if (n % 256 == 0 && Clock::now() > latest) {
      fail_with(compiled_->where, compiled_->pattern, "matching takes too long");
    }
    const std::size_t begin = std::min(found[0], found[1]), end = found[1];
    if (begin == end && end == last_end) {  // an empty match at the end of the previous one
      at += at < subject.size() ? character_at(subject, at).size : 1;
      continue;
    }
    at = last_end = end;
    match(begin, end);
  }
}

}  // namespace attnscope
