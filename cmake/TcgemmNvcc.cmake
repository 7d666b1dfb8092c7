# cmake -DNVCC= -DSOURCE= -DARCH=90a -DCODE=sm_90a -DOUTPUT=x.fatbin -DLOG=x.ptxas -DINCLUDE=a|b
#       -P TcgemmNvcc.cmake
# Compiles one GPU module for one architecture and keeps what ptxas says of its registers.
string(REPLACE "|" ";" folders "${INCLUDE}")
set(includes "")
foreach(folder IN LISTS folders)
  list(APPEND includes "-I${folder}")
endforeach()
execute_process(
  COMMAND "${NVCC}" -fatbin -std=c++17 -O3 ${includes}
          -gencode "arch=compute_${ARCH},code=${CODE}"
          -Xptxas -v -Xfatbin -compress-all ${COMPRESS} -Wno-deprecated-gpu-targets
          -o "${OUTPUT}" "${SOURCE}"
  OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed)
file(WRITE "${LOG}" "${log}")
if(failed)
  file(REMOVE "${OUTPUT}")
  message(FATAL_ERROR "${log}")
endif()
string(REGEX MATCHALL "[^\n]*warning[^\n]*" warnings "${log}")
foreach(warning IN LISTS warnings)
  message("${warning}")
endforeach()
