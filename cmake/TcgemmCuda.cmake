# TCGEMM_CUDA: AUTO builds the CUDA back end where it can be built, ON insists, OFF leaves it out.
# The back end is the folder src/cuda; a tree without that folder is a complete CPU library.
# Sets TCGEMM_CUDA_STATE, the words that `tcgemm --version` prints.
if(NOT TCGEMM_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TCGEMM_CUDA is \"${TCGEMM_CUDA}\"; use AUTO, ON or OFF")
endif()

set(TCGEMM_CUDA_STATE "not built")
if(EXISTS "${PROJECT_SOURCE_DIR}/src/cuda/CMakeLists.txt" AND NOT TCGEMM_CUDA STREQUAL "OFF")
  message(FATAL_ERROR "src/cuda is here, but cmake/TcgemmCuda.cmake does not build it yet")
elseif(TCGEMM_CUDA STREQUAL "ON")
  message(FATAL_ERROR "TCGEMM_CUDA=ON, but this tree has no CUDA back end (src/cuda). "
                      "Use TCGEMM_CUDA=AUTO or OFF for the CPU library.")
endif()
message(STATUS "tcgemm: CUDA back end ${TCGEMM_CUDA_STATE}")
