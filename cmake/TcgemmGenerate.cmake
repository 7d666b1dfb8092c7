# cmake -DTOOL=tcgemm -DWHAT=man-run -DOUTPUT=tcgemm-run.1 -P TcgemmGenerate.cmake
# Runs `tcgemm --generate WHAT` and keeps what it prints. A failing tool leaves no file behind.
execute_process(COMMAND "${TOOL}" --generate "${WHAT}"
                OUTPUT_FILE "${OUTPUT}.part" RESULT_VARIABLE failed)
if(failed)
  file(REMOVE "${OUTPUT}.part")
  message(FATAL_ERROR "tcgemm --generate ${WHAT} failed: ${failed}")
endif()
file(RENAME "${OUTPUT}.part" "${OUTPUT}")
