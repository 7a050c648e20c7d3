// Session files: a session as JSON, in a file or embedded in a picture.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/json.h"
#include "core/experiment/session.h"

namespace attnscope {

// JSON: {"attnscope": 1, "text": ..., "model": ..., "variant": {"type": ..}, "position": {..}, ...}
// ("text_hex" replaces "text" if the text is not UTF-8). Settings of some heads are "groups":
// [{"layers": [0, 2], "heads": [0, 1], "variant": {"type": ..}, "position": {..}}]. Strict: unknown
// keys and wrong types throw InputErrors that name the key and begin with `path`.
Session session_from_json(const Json& object, std::string_view path = "session");
Json to_json(const Session& session);
// Loads a session file, or a picture (PNG) with an embedded session. Missing files of a run are
// looked up in the folder of `path` (run_files.h).
Session load_session(const std::filesystem::path& path);
// True if a PNG has an embedded session. Throws InputError if the file is not an intact PNG.
bool has_session(const std::filesystem::path& picture);
void save_session(const std::filesystem::path& path, const Session& session);

}  // namespace attnscope
