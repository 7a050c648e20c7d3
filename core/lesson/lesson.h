// Lessons: a file of steps, each with a text, a session and measurable claims about it (claim.h).
//
//   {"lesson": 1, "title": .., "summary": .., "source": .., "session": {..},
//    "steps": [{"title": .., "text": .., "notes": .., "session": {..}, "claims": [..]}, ..]}
//
// The lesson's "session" has the format of a session file; a step's "session" is a JSON merge patch
// (RFC 7396) to it. Relative file names refer to the lesson's folder. "notes": speaker notes.
// "requires": name of a model in the user's models folder. Without that model the step is omitted,
// and the text of the step before it says so.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/session.h"
#include "core/lesson/claim.h"

namespace attnscope {

struct LessonStep {
  std::string title, text;
  std::string notes;  // speaker notes; may be empty
  Session session;
  std::vector<Claim> claims;
};

struct Lesson {
  std::string id;  // file name without leading digits and extension: "self-attention"
  std::string title, summary;
  std::string source;  // articles that the lesson follows
  std::vector<LessonStep> steps;
};

// Throws InputError with the file and the invalid member.
Lesson load_lesson(const std::filesystem::path& path);

// Lessons in assets/lessons, ordered by file name. Throws InputError if a lesson is invalid.
std::vector<Lesson> bundled_lessons();
// Loads a bundled lesson by its id, or a file. Throws InputError if neither exists.
Lesson find_lesson(const std::string& id_or_file);

}  // namespace attnscope
