// Lessons: a file of steps, each with words, an experiment to look at, and claims about what is
// seen there that can be measured.
//
//   {"lesson": 1, "title": .., "summary": .., "source": .., "session": {..},
//    "steps": [{"title": .., "text": .., "notes": .., "session": {..}, "claims": [..]}, ..]}
//
// A step's "session" is a JSON merge patch (RFC 7396) on the lesson's, which is one as session
// files have it; files that it reads are named from the lesson's folder on. "notes" are the
// speaker's. Claims: claim.h.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/lesson/claim.h"

namespace attnscope {

struct LessonStep {
  std::string title, text;
  std::string notes;  // for the speaker; may be empty
  Experiment experiment;
  std::vector<Claim> claims;
};

struct Lesson {
  std::string id;  // the file's name without digits and ending: "self-attention"
  std::string title, summary;
  std::string source;  // the articles that it follows
  std::vector<LessonStep> steps;
};

// InputError that names the file and what is wrong in it.
Lesson load_lesson(const std::filesystem::path& path);

// Those in assets/lessons, in the order of their files' names. InputError when one is broken.
std::vector<Lesson> bundled_lessons();
// A bundled lesson by its id, or a file. InputError when there is neither.
Lesson find_lesson(const std::string& id_or_file);

}  // namespace attnscope
