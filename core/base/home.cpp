#include "core/base/home.h"

#include <cstdlib>

namespace attnscope {

std::filesystem::path home_folder() {
  const char* chosen = std::getenv("ATTNSCOPE_HOME");
  return chosen != nullptr && *chosen != '\0' ? chosen : ATTNSCOPE_CONFIGURED_HOME;
}

}  // namespace attnscope
