# tcgemm_build_config.h: the facts of this build as string macros, for `tcgemm --version`.
#
# The commit is asked of git at every build, not only at configure time, but the header is rewritten
# only when something in it changed, and only the one file that includes it is compiled again.
# Included by src/CMakeLists.txt it makes the target `tcgemm_build_config`; run as a script
# (cmake -P) it writes the header.

if(CMAKE_SCRIPT_MODE_FILE)
  set(TCGEMM_BUILD_COMMIT unknown)
  find_program(GIT git)
  if(GIT AND EXISTS "${SOURCE_DIR}/.git") # not the commit of a project that merely contains us
    execute_process(
      COMMAND ${GIT} -C "${SOURCE_DIR}" describe --always --dirty --abbrev=12 --exclude=*
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(TCGEMM_BUILD_COMMIT "${commit}")
    endif()
  endif()
  configure_file("${SOURCE_DIR}/cmake/tcgemm_build_config.h.in" "${OUTPUT}" @ONLY) # if changed
  return()
endif()

set(TCGEMM_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")
add_custom_target(tcgemm_build_config
  COMMAND ${CMAKE_COMMAND}
          "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
          "-DOUTPUT=${TCGEMM_GENERATED_DIR}/tcgemm_build_config.h"
          "-DTCGEMM_BUILD_COMPILER=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
          "-DTCGEMM_BUILD_TYPE=$<CONFIG>"
          "-DTCGEMM_BUILD_CUDA=${TCGEMM_CUDA_STATE}"
          -P "${PROJECT_SOURCE_DIR}/cmake/TcgemmBuildConfig.cmake"
  BYPRODUCTS "${TCGEMM_GENERATED_DIR}/tcgemm_build_config.h"
  COMMENT "" VERBATIM)
