# Common settings of all targets of the project.
include(CheckLinkerFlag)

add_library(attnscope_options INTERFACE)
target_compile_options(attnscope_options INTERFACE -Wall -Wextra -Wconversion -Werror
                                                  ${ATTNSCOPE_MACHINE_FLAGS})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # -Wrestrict fires on every "literal" + std::string (https://gcc.gnu.org/PR105651).
  target_compile_options(attnscope_options INTERFACE -Wno-restrict)
  if(ATTNSCOPE_UNITY)  # False positives within std::variant in large translation units.
    target_compile_options(attnscope_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Collecting garbage less often saves 8% of the compiler's time for up to 200 MB a process.
  target_compile_options(attnscope_options INTERFACE --param=ggc-min-heapsize=1048576)
endif()
# Precompiled headers require that all targets agree on -pthread, which some libraries add.
target_compile_options(attnscope_options INTERFACE -pthread)
target_include_directories(attnscope_options INTERFACE ${PROJECT_SOURCE_DIR})
if(ATTNSCOPE_TESTS AND NOT ATTNSCOPE_BENCHMARKS)
  # Out-of-range indices of containers and arrays abort the program.
  target_compile_definitions(attnscope_options INTERFACE _GLIBCXX_ASSERTIONS
                                                         ATTNSCOPE_CHECKS)
endif()
if(ATTNSCOPE_SANITIZE)
  # -Wmaybe-uninitialized has false positives in std::regex if sanitizers are enabled.
  target_compile_options(attnscope_options INTERFACE -fsanitize=${ATTNSCOPE_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer -g1
                         -Wno-error=maybe-uninitialized)
  target_link_options(attnscope_options INTERFACE -fsanitize=${ATTNSCOPE_SANITIZE})
  if(ATTNSCOPE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # -Wtsan: TSan ignores fences. Streaming stores end with a fence before threads are signalled.
    target_compile_options(attnscope_options INTERFACE -Wno-tsan)
  endif()
endif()
if(ATTNSCOPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "ATTNSCOPE_FUZZ: expected Clang, whose libFuzzer is used; found "
                        "${CMAKE_CXX_COMPILER_ID} (tests/fuzz/run.sh configures it)")
  endif()
  # float-cast-overflow detects untrusted numbers that no integer type can represent.
  set(ATTNSCOPE_FUZZ_SANITIZERS address,undefined,float-cast-overflow)
  target_compile_options(attnscope_options INTERFACE
                         -fsanitize=fuzzer-no-link,${ATTNSCOPE_FUZZ_SANITIZERS}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer -gline-tables-only -O1
                         -Wno-error)
  target_link_options(attnscope_options INTERFACE -fsanitize=${ATTNSCOPE_FUZZ_SANITIZERS})
endif()

# attnscope_sources(TARGET [FOLDER...]): adds all sources below these folders, or below this one; new
# files are found automatically. With ATTNSCOPE_UNITY the sources of a folder are compiled together,
# so that common includes and templates are processed once.
function(attnscope_sources target)
  set(folders ${ARGN})
  if(NOT folders)
    set(folders .)
  endif()
  foreach(folder ${folders})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
    target_sources(${target} PRIVATE ${sources})
    foreach(source ${sources})
      cmake_path(GET source PARENT_PATH group)
      cmake_path(NORMAL_PATH group)
      cmake_path(RELATIVE_PATH group BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
      string(MAKE_C_IDENTIFIER "${group}" group)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ATTNSCOPE_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

# Flags for short compile times: QUICK for panels, commands and other code that computes little,
# TEST for tests, which run once.
set(ATTNSCOPE_QUICK_BUILD "$<$<NOT:$<CONFIG:Debug>>:-Og;-fno-tree-vectorize>")
set(ATTNSCOPE_TEST_BUILD $<$<NOT:$<CONFIG:Debug>>:-O0>)

# Common headers, precompiled once per optimisation level: a target that compiles with the default
# flags or with ATTNSCOPE_QUICK_BUILD uses the headers of attnscope_headers or attnscope_quick_headers
# (REUSE_FROM). Sources still include the headers that they use: they also build with
# CMAKE_DISABLE_PRECOMPILE_HEADERS.
set(ATTNSCOPE_COMMON_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <filesystem>
    <functional> <limits> <map> <memory> <mutex> <numbers> <numeric> <optional> <set> <span> <sstream>
    <string> <string_view> <variant> <vector>)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers.cpp CONTENT "")
foreach(headers attnscope_headers attnscope_quick_headers)
  add_library(${headers} OBJECT ${PROJECT_BINARY_DIR}/headers.cpp)
  target_link_libraries(${headers} PRIVATE attnscope_options)
  target_precompile_headers(${headers} PRIVATE ${ATTNSCOPE_COMMON_HEADERS})
endforeach()
# Views, panels and commands include most of the computing rooms' headers by way of this one.
target_precompile_headers(attnscope_quick_headers PRIVATE core/view/view.h)
target_compile_options(attnscope_quick_headers PRIVATE ${ATTNSCOPE_QUICK_BUILD})

# LLD and Gold link a test program in a fraction of the default linker's time.
if(NOT ATTNSCOPE_FUZZ AND NOT ATTNSCOPE_SANITIZE)
  foreach(linker lld gold)
    check_linker_flag(CXX -fuse-ld=${linker} ATTNSCOPE_HAS_${linker})
    if(ATTNSCOPE_HAS_${linker})
      target_link_options(attnscope_options INTERFACE -fuse-ld=${linker})
      break()
    endif()
  endforeach()
endif()

# attnscope_tests(NAME LIBRARY FOLDER... [FILES FILE...] [PROCESSORS N] [COST N]): adds a GoogleTest
# program with the tests below these folders. CTest runs each suite in a process, which occupies N
# processors and uses N threads (default 1). Suites with a higher COST (default 0) start earlier, so that no long one runs
# alone at the end.
function(attnscope_tests name library)
  cmake_parse_arguments(PARSE_ARGV 2 tests "" "PROCESSORS;COST" "FILES")
  if(NOT tests_PROCESSORS)
    set(tests_PROCESSORS 1)
  endif()
  if(NOT tests_COST)
    set(tests_COST 0)
  endif()
  add_executable(${name} ${tests_FILES})
  if(tests_UNPARSED_ARGUMENTS)
    attnscope_sources(${name} ${tests_UNPARSED_ARGUMENTS})
  endif()
  target_link_libraries(${name} PRIVATE attnscope_options ${library} attnscope_testing
                                        GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${ATTNSCOPE_TEST_BUILD})
  # The linker uses the first instantiation of a template. The core is linked before the tests'
  # objects, so that tests run the shipped instantiations.
  target_link_options(${name} PRIVATE LINKER:--whole-archive $<TARGET_FILE:attnscope_core>
                                      LINKER:--no-whole-archive)
  # Compiles files in batches, since whole folders would rebuild slowly after one change. The
  # namespace ATTNSCOPE_FILE makes the names of a file local. It is unnamed if files are compiled
  # alone.
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${ATTNSCOPE_UNITY} UNITY_BUILD_MODE BATCH
                        UNITY_BUILD_BATCH_SIZE 60 UNITY_BUILD_UNIQUE_ID ATTNSCOPE_FILE)
  target_precompile_headers(${name} REUSE_FROM attnscope_testing)
  set(suites ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
  set(properties TIMEOUT 600 PROCESSORS ${tests_PROCESSORS} COST ${tests_COST}
                 ENVIRONMENT "ATTNSCOPE_GUARD_STORAGE=1\\;ATTNSCOPE_THREADS=${tests_PROCESSORS}")
  add_custom_command(TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${name}> -D OUTPUT=${suites}
            -D "PROPERTIES=${properties}" -P ${PROJECT_SOURCE_DIR}/.cmake/discover_suites.cmake
    VERBATIM)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${suites})
endfunction()

# attnscope_rooms(PROGRAM ROOM...): adds a target test_ROOM per source folder ROOM. It builds
# PROGRAM and the script ROOM/test_ROOM, which runs the tests of that folder only and accepts
# GoogleTest's options.
function(attnscope_rooms program)
  foreach(room ${ARGN})
    set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${room})
    configure_file(${PROJECT_SOURCE_DIR}/.cmake/test_room.sh.in ${room}/test_${room} @ONLY
                   FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    add_custom_target(test_${room} DEPENDS ${program})
  endforeach()
endfunction()
