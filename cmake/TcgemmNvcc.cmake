# cmake -DNVCC= -DSOURCE=x.cu -DARCH=90 -DOUTPUT=x.ptx -DINCLUDE=a|b -P TcgemmNvcc.cmake
# cmake -DNVCC= -DSOURCE=x.ptx -DARCH=90 -DCODE=sm_90a -DOUTPUT=x.fatbin -DLOG=x.ptxas -P TcgemmNvcc.cmake
# Compiles one GPU module: first to PTX, then this for one architecture, and keeps what ptxas says of its
# registers.
if(DEFINED CODE)
  set(what -fatbin -gencode "arch=compute_${ARCH},code=${CODE}" -Xptxas -v -Xfatbin -compress-all ${COMPRESS})
else()
  set(what -ptx -gencode "arch=compute_${ARCH},code=compute_${ARCH}")
  string(REPLACE "|" ";" folders "${INCLUDE}")
  foreach(folder IN LISTS folders)
    list(APPEND what "-I${folder}")
  endforeach()
endif()
execute_process(
  COMMAND "${NVCC}" -std=c++17 -O3 ${what} -Wno-deprecated-gpu-targets -o "${OUTPUT}" "${SOURCE}"
  OUTPUT_VARIABLE log ERROR_VARIABLE log RESULT_VARIABLE failed)
if(DEFINED LOG)
  file(WRITE "${LOG}" "${log}")
endif()
if(failed)
  file(REMOVE "${OUTPUT}")
  message(FATAL_ERROR "${log}")
endif()
string(REGEX MATCHALL "[^\n]*warning[^\n]*" warnings "${log}")
foreach(warning IN LISTS warnings)
  message("${warning}")
endforeach()
