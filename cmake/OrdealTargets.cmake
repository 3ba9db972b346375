# ordeal_library(NAME SOURCES a.cc ... LINKS lib ...): one static library a directory, named ordeal_NAME.
# ordeal_test(NAME SOURCES a_test.cc ... LINKS lib ...): one Catch2 program a directory of tests/; each
# test case becomes a ctest test.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)

add_library(ordeal_options INTERFACE)
target_include_directories(ordeal_options INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
target_compile_options(
  ordeal_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
                           # false positives of g++ 12 in operator+(const char*, std::string&&), bug 105651
                           $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                           # not part of g++'s -Wconversion
                           $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)
target_link_libraries(ordeal_options INTERFACE Threads::Threads fmt::fmt)
if(ORDEAL_SANITIZE)
  target_compile_options(
    ordeal_options INTERFACE -fsanitize=${ORDEAL_SANITIZE} -fno-omit-frame-pointer
                             # instrumented <regex> looks uninitialised to g++ 12
                             $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(ordeal_options INTERFACE -fsanitize=${ORDEAL_SANITIZE})
endif()

# The first library makes the precompiled header that all others and the tests use.
function(ordeal_precompile target)
  if(NOT ORDEAL_PRECOMPILE)
    return()
  endif()
  if(target STREQUAL ordeal_base)
    target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/base/precompiled.h)
  else()
    target_precompile_headers(${target} REUSE_FROM ordeal_base)
  endif()
endfunction()

function(ordeal_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(ordeal_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(ordeal_${name} PUBLIC ordeal_options ${ARG_LINKS})
  ordeal_precompile(ordeal_${name})
endfunction()

function(ordeal_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ordeal_catch_main ${ARG_LINKS})
  ordeal_precompile(${name}_test)
  # Half the time to compile, and a third under the sanitizers; what is tested is optimised all the same.
  if(ORDEAL_SANITIZE)
    target_compile_options(${name}_test PRIVATE -O0)
  else()
    target_compile_options(${name}_test PRIVATE -O1)
  endif()
  # One label: a list of them comes apart on its way into Catch's script, and takes the rest along.
  catch_discover_tests(
    ${name}_test TEST_PREFIX "${name}: " WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    PROPERTIES LABELS ${name} TIMEOUT 300)
endfunction()

# ordeal_python_test(NAME TIMEOUT seconds [ISOLATED] MODULE class...): the classes of MODULE_test.py in this
# directory, each a ctest test labelled NAME, on the built program; in namespaces of its own where isolated.
function(ordeal_python_test name)
  cmake_parse_arguments(ARG "ISOLATED" "TIMEOUT" "" ${ARGN})
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  list(POP_FRONT ARG_UNPARSED_ARGUMENTS module)
  if(ARG_ISOLATED)
    set(isolated ${CMAKE_SOURCE_DIR}/tests/e2e/isolated)
  endif()
  foreach(class ${ARG_UNPARSED_ARGUMENTS})
    set(test "${name}: ${module} ${class}")
    add_test(NAME ${test} COMMAND ${isolated} ${Python3_EXECUTABLE} -m unittest -v ${module}_test.${class}
             WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    set_tests_properties(
      ${test} PROPERTIES ENVIRONMENT "ORDEAL=$<TARGET_FILE:ordeal>;PYTHONDONTWRITEBYTECODE=1"
                         LABELS ${name} TIMEOUT ${ARG_TIMEOUT}
                         COST ${ARG_TIMEOUT}) # the longest begin first, with short ones beside them
  endforeach()
endfunction()
