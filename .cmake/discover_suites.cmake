# Registers the suites of a GoogleTest program as tests of CTest; runs after the program is linked.
#   PROGRAM     path of the program
#   OUTPUT      file with the registrations, which CTest includes
#   PROPERTIES  properties of each test, for set_tests_properties()
# A process per suite instead of one per test: starting a process takes longer than most tests.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listing TIMEOUT 60
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "#[^\n]*" "" listing "${listing}")  # values of parameters
string(REGEX MATCHALL "(^|\n)[^ \n]+[.]" lines "${listing}")
list(TRANSFORM PROPERTIES REPLACE "^.+$" "[==[\\0]==]")
list(JOIN PROPERTIES " " properties)
set(script "")
foreach(line ${lines})
  string(STRIP "${line}" suite)  # with its trailing dot
  string(REGEX REPLACE "[.]$" "" name "${suite}")
  string(APPEND script "add_test([=[${name}]=] [=[${PROGRAM}]=] [=[--gtest_filter=${suite}*]=])\n"
                       "set_tests_properties([=[${name}]=] PROPERTIES ${properties})\n")
endforeach()
file(WRITE ${OUTPUT} "${script}")
