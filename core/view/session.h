// Sessions: an experiment with what to look at, as JSON, in a file of its own or in a picture.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/json.h"
#include "core/experiment/experiment.h"

namespace attnscope {

// JSON: {"attnscope": 1, "text": ..., "model": ..., "variant": {"type": ..}, "position": {..}, ...}
// ("text_hex" in place of "text" where that is no UTF-8). Choices for some heads are "groups":
// [{"layers": [0, 2], "heads": [0, 1], "variant": {"type": ..}, "position": {..}}]. Strict: unknown
// keys and wrong types are InputErrors that name the key and begin with `path`.
Experiment experiment_from_json(const Json& object, std::string_view path = "session");
Json to_json(const Experiment& experiment);
// A session file, or a picture (PNG) that carries the experiment that made it.
Experiment load_session(const std::filesystem::path& path);
// Whether a PNG carries an experiment. InputError where it is none, or damaged.
bool carries_session(const std::filesystem::path& picture);
void save_session(const std::filesystem::path& path, const Experiment& experiment);

}  // namespace attnscope
