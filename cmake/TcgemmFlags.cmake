# The flags of every target of ours: tcgemm_flags(target).
#
# Floating point: -ffp-contract=off, because a product that is fused on one machine and not on the
# next gives different bits (a kernel that wants an FMA writes one); -fno-math-errno lets sqrt be an
# instruction. Never -ffast-math, never -march=native: the choice of instructions is made at run
# time, from files compiled for one instruction set each (src/CMakeLists.txt).
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

set(TCGEMM_WARNINGS
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes)

function(tcgemm_flags target)
  set_target_properties(${target} PROPERTIES
    C_VISIBILITY_PRESET hidden
    POSITION_INDEPENDENT_CODE ON
    COMPILE_WARNING_AS_ERROR ${TCGEMM_WERROR})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_compile_options(${target} PRIVATE
    ${TCGEMM_WARNINGS} -ffp-contract=off -fno-math-errno -fstack-protector-strong)
  target_link_options(${target} PRIVATE
    LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)

  if(TCGEMM_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${TCGEMM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${TCGEMM_SANITIZE})
  else()
    # Fortified functions need an optimised build, and they hide calls from the sanitizers.
    target_compile_options(${target} PRIVATE
      $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE>
      $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-D_FORTIFY_SOURCE=2>)
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()
  if(TCGEMM_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()
