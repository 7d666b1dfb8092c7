# The version is written twice: in project() for the packages, in tcgemm.h for the compiler.
# Here the two are compared, so that they cannot drift apart.
file(STRINGS "${PROJECT_SOURCE_DIR}/include/tcgemm/tcgemm.h" lines
     REGEX "^#define TCGEMM_VERSION_(MAJOR|MINOR|PATCH) [0-9]+$")
set(numbers "")
foreach(line IN LISTS lines)
  string(REGEX MATCH "[0-9]+$" number "${line}")
  list(APPEND numbers "${number}")
endforeach()
list(JOIN numbers "." header_version)
if(NOT header_version STREQUAL PROJECT_VERSION)
  message(FATAL_ERROR "include/tcgemm/tcgemm.h says version ${header_version}, "
                      "CMakeLists.txt says ${PROJECT_VERSION}")
endif()
