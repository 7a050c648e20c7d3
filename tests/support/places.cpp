#include "tests/support/places.h"

namespace attnscope::testing {

std::filesystem::path source_folder() {
  return ATTNSCOPE_SOURCE_DIR;
}

std::filesystem::path build_folder() {
  return ATTNSCOPE_BINARY_DIR;
}

std::string program_path() {
  return (build_folder() / "attnscope").string();
}

}  // namespace attnscope::testing
