// Retrieval choices as JSON: {"type": "knn", "store": FILE, "k": 8, ...}
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/model/retrieval.h"

namespace attnscope {

// InputErrors begin with `path`.
RetrievalChoice retrieval_from_json(const Json& value, const std::string& path);
Json to_json(const RetrievalChoice& retrieval);

}  // namespace attnscope
