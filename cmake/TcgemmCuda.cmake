# TCGEMM_CUDA: which GPU kernels are built.
#
#     AUTO   those for the GPU of this machine, if nvcc and a GPU are here; else none
#     ON     those for every architecture below; nvcc must be here, a GPU need not
#     OFF    none
#
# TCGEMM_CUDA_ARCHS, a list such as "80;90a-real;80-virtual", overrides the choice. As in CMake's own
# CUDA_ARCHITECTURES, N-real is machine code for sm_N, N-virtual is PTX, which the driver compiles
# for newer devices; N alone stands for N-real here. The driver is opened at run time, so that nothing
# of CUDA is linked.
#
# Sets TCGEMM_CUDA_BUILD, TCGEMM_CUDA_IMAGES (the archs) and TCGEMM_CUDA_STATE, the words that
# `tcgemm --version` prints.
set(TCGEMM_CUDA_ALL_ARCHS 75 80 86 87 89 90a 90-virtual)

# The rooms whose kernels are the same on all of 8.x: if sm_80 is built, its code serves 86, 87 and 89
# (the driver runs machine code on every later minor version). It keeps the library below 12 MB. Of the other
# rooms the code of 86 serves 89, for which ptxas writes the very same; that of 80 would not do: it issues f32
# at half of 86's rate.
set(TCGEMM_CUDA_COMMON_ROOMS batched steps simt_outer stream wmma_direct wmma_shared)
# Modules likewise: f64 on the tensor cores of 86, 87 and 89 is as slow as without them.
set(TCGEMM_CUDA_COMMON_MODULES mma_pipelined_f64_f64)

# The rooms whose rows end with sm_90: where its machine code is built, PTX for what comes after is not. It keeps
# the library below 12 MB, too.
set(TCGEMM_CUDA_MEASURED_ROOMS batched simt_tma stream_tma)

# The rooms whose kernels no product on sm_90 is the sooner for: where PTX for what comes after is built, the driver
# translates that, should somebody ask for one by its name (a second or two for a module, once). Likewise.
set(TCGEMM_CUDA_TRANSLATED_ROOMS wmma_shared)

# The modules whose rows are offered on older and newer devices than sm_90, but not there (src/device/facts.h): PTX of 90,
# no machine code.
option(TCGEMM_FP8_ON_90 "Offer FP8 by mma.sync on sm_90, too, where it is slow" OFF)
mark_as_advanced(TCGEMM_FP8_ON_90)
set(TCGEMM_CUDA_BUT_90_MODULES "^mma_pipelined_e[45]m[32]_")
if(TCGEMM_FP8_ON_90)
  set(TCGEMM_CUDA_BUT_90_MODULES "^$")
endif()

# The modules whose rows are not all offered on sm_90 (shape.h of their rooms): the image of 90a is compiled without
# these, and does not share the PTX of 90.
set(TCGEMM_CUDA_OWN_90A_MODULES "^(mma_pipelined_(b?f16|tf32)|stream_f32)_")

# The rooms that know nothing of what 90 has beyond 80, neither instructions (.ci/run looks for them) nor rows: their
# PTX is the same.
set(TCGEMM_CUDA_PLAIN_ROOMS wmma_direct wmma_shared)

# The rooms whose kernels need what one architecture alone has: machine code for 90a, no PTX.
set(TCGEMM_CUDA_SPECIFIC_ROOMS wgmma)
set(TCGEMM_CUDA_ARCHS "" CACHE STRING "GPU architectures, e.g. 80;90a; empty: by TCGEMM_CUDA")

if(NOT TCGEMM_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TCGEMM_CUDA is \"${TCGEMM_CUDA}\"; use AUTO, ON or OFF")
endif()

# The architecture of the GPU here ("90a", "86"), or "" if there is none.
function(tcgemm_find_gpu nvcc result)
  set(${result} "" PARENT_SCOPE)
  if(NOT EXISTS /dev/nvidiactl AND NOT EXISTS /dev/dxg AND NOT EXISTS /dev/nvmap)
    return()
  endif()
  get_filename_component(real "${nvcc}" REALPATH)
  get_filename_component(bin "${real}" DIRECTORY)
  find_program(NVIDIA_SMI nvidia-smi)
  mark_as_advanced(NVIDIA_SMI)
  set(arch "")
  if(NVIDIA_SMI)
    execute_process(COMMAND "${NVIDIA_SMI}" --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE text ERROR_QUIET TIMEOUT 20)
    if(text MATCHES "([0-9]+)\\.([0-9])")
      set(arch "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
    endif()
  endif()
  if(NOT arch AND EXISTS "${bin}/__nvcc_device_query")
    execute_process(COMMAND "${bin}/__nvcc_device_query"
                    OUTPUT_VARIABLE text ERROR_QUIET TIMEOUT 20)
    if(text MATCHES "([0-9]+)")
      set(arch "${CMAKE_MATCH_1}")
    endif()
  endif()
  if(arch EQUAL 90)
    set(arch 90a) # wgmma and its like
  endif()
  set(${result} "${arch}" PARENT_SCOPE)
endfunction()

set(TCGEMM_CUDA_BUILD FALSE)
set(TCGEMM_CUDA_IMAGES "")
set(TCGEMM_CUDA_STATE "not built")
if(NOT TCGEMM_CUDA STREQUAL "OFF")
  find_program(TCGEMM_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
               PATH_SUFFIXES bin)
  mark_as_advanced(TCGEMM_NVCC)
  if(NOT TCGEMM_NVCC)
    if(TCGEMM_CUDA STREQUAL "ON")
      message(FATAL_ERROR "TCGEMM_CUDA=ON needs nvcc (CUDA 12.4 or newer), which is not on the path. "
                          "Use TCGEMM_CUDA=AUTO or OFF for the CPU library.")
    endif()
    set(TCGEMM_CUDA_STATE "not built (no nvcc)")
  elseif(TCGEMM_CUDA_ARCHS)
    set(TCGEMM_CUDA_IMAGES ${TCGEMM_CUDA_ARCHS})
  elseif(TCGEMM_CUDA STREQUAL "ON")
    set(TCGEMM_CUDA_IMAGES ${TCGEMM_CUDA_ALL_ARCHS})
  else()
    tcgemm_find_gpu("${TCGEMM_NVCC}" TCGEMM_CUDA_IMAGES)
    if(NOT TCGEMM_CUDA_IMAGES)
      set(TCGEMM_CUDA_STATE "not built (no GPU here)")
    endif()
  endif()
endif()

if(TCGEMM_CUDA_IMAGES)
  set(TCGEMM_CUDA_BUILD TRUE)
  get_filename_component(real "${TCGEMM_NVCC}" REALPATH)
  get_filename_component(bin "${real}" DIRECTORY)
  find_path(TCGEMM_CUDA_INCLUDE cuda.h
            HINTS "${bin}/../include" "${bin}/../targets/x86_64-linux/include"
                  "${bin}/../targets/sbsa-linux/include" "${bin}/../targets/aarch64-linux/include"
            NO_DEFAULT_PATH)
  mark_as_advanced(TCGEMM_CUDA_INCLUDE)
  if(NOT TCGEMM_CUDA_INCLUDE)
    message(FATAL_ERROR "nvcc is here (${TCGEMM_NVCC}), but cuda.h is not beside it")
  endif()
  # The best compression that this nvcc knows (zstd from 12.4 on).
  execute_process(COMMAND "${TCGEMM_NVCC}" --help OUTPUT_VARIABLE text ERROR_QUIET)
  set(TCGEMM_NVCC_COMPRESS "")
  if(text MATCHES "--compress-mode")
    set(TCGEMM_NVCC_COMPRESS "--compress-mode=size")
  endif()
  set(words "")
  foreach(arch IN LISTS TCGEMM_CUDA_IMAGES)
    if(NOT arch MATCHES "^([0-9]+[af]?)(-real|-virtual)?$")
      message(FATAL_ERROR "TCGEMM_CUDA_ARCHS: '${arch}' is not like 80, 90a-real or 80-virtual")
    endif()
    if(CMAKE_MATCH_2 STREQUAL "-virtual")
      list(APPEND words "compute_${CMAKE_MATCH_1}")
    else()
      list(APPEND words "sm_${CMAKE_MATCH_1}")
    endif()
  endforeach()
  list(JOIN words ", " TCGEMM_CUDA_STATE)
endif()
message(STATUS "tcgemm: CUDA back end ${TCGEMM_CUDA_STATE}")

# tcgemm_cuda_least(RESULT SOURCE): the least architecture that a row of the module is offered on. The
# module <folder>_<type>.cu holds the rows ROW(<type>, sums, min_cc, ...) of the rows.def beside it; 0
# where there is none.
function(tcgemm_cuda_least result source)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME family)
  cmake_path(GET source STEM module)
  set(${result} 0 PARENT_SCOPE)
  set(rows "${folder}/rows.def")
  if(NOT EXISTS "${rows}")
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${rows}")
  string(REGEX REPLACE "^${family}_" "" type "${module}")
  file(STRINGS "${rows}" lines REGEX "^ROW\\( *${type} *,")
  set(least "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^ROW\\([^,]*,[^,]*, *([0-9]+) *," line "${line}")
    if(least STREQUAL "" OR CMAKE_MATCH_1 LESS least)
      set(least ${CMAKE_MATCH_1})
    endif()
  endforeach()
  if(least STREQUAL "")
    message(FATAL_ERROR "${source}: ${rows} has no row of type ${type}")
  endif()
  set(${result} ${least} PARENT_SCOPE)
endfunction()

# tcgemm_cuda_front(RESULT ROOM LEAST ARCH ARCH...): the architecture whose PTX becomes the image for ARCH, where those
# that follow are built, too, of a module with rows from LEAST on. nvcc's front end takes longer than ptxas, so architectures for which it writes
# the same PTX share it. Blocks have as much shared memory on 87 as on 80 and on 89 as on 86, and only the
# common rooms have instructions that tell 89 from 86; what 90a, or 90, alone has is used by the rooms named above.
function(tcgemm_cuda_front result room least arch)
  set(${result} "${arch}" PARENT_SCOPE)
  set(pairs "")
  if(room IN_LIST TCGEMM_CUDA_PLAIN_ROOMS)
    list(APPEND pairs 90a:80 90:80)
  elseif(NOT room IN_LIST TCGEMM_CUDA_SPECIFIC_ROOMS)
    list(APPEND pairs 90a:90)
  endif()
  if(NOT room IN_LIST TCGEMM_CUDA_COMMON_ROOMS)
    list(APPEND pairs 87:80 89:86)
  endif()
  foreach(pair IN LISTS pairs)
    string(REGEX MATCH "^(.*):(.*)$" pair "${pair}")
    set(other "${CMAKE_MATCH_2}")
    if(arch STREQUAL CMAKE_MATCH_1 AND NOT other LESS least AND
       ("${other}" IN_LIST ARGN OR "${other}-real" IN_LIST ARGN OR "${other}-virtual" IN_LIST ARGN))
      set(${result} "${other}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# tcgemm_cuda_list(RESULT ARCH...): every module of src/gpu/{families/*,steps} for every architecture that it is
# compiled for, as "module|slot|number|front|code|is_ptx|only_this|source". A module is named by its file,
# images of one module share a slot, those of one front the PTX. Architectures older than all of its rows are
# left out, and those that the code of another one serves.
function(tcgemm_cuda_list result)
  file(GLOB modules CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/gpu/families/*/*.cu" "${PROJECT_SOURCE_DIR}/src/gpu/steps/*.cu")
  set(list "")
  set(slot 0)
  foreach(source IN LISTS modules)
    cmake_path(GET source STEM module)
    cmake_path(GET source PARENT_PATH room)
    cmake_path(GET room FILENAME room)
    tcgemm_cuda_least(least "${source}")
    foreach(image IN LISTS ARGN)
      string(REGEX MATCH "^([0-9]+)([af]?)(-real|-virtual)?$" image "${image}")
      set(number "${CMAKE_MATCH_1}")
      set(arch "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
      set(is_ptx 0)
      set(code "sm_${arch}")
      if(CMAKE_MATCH_3 STREQUAL "-virtual")
        set(is_ptx 1)
        set(code "compute_${arch}")
      endif()
      set(only_this 0)
      if(NOT arch STREQUAL number)
        set(only_this 1)
      endif()
      if((room IN_LIST TCGEMM_CUDA_COMMON_ROOMS OR module IN_LIST TCGEMM_CUDA_COMMON_MODULES) AND
         arch MATCHES "^(86|87|89)$" AND NOT is_ptx AND ("80" IN_LIST ARGN OR "80-real" IN_LIST ARGN))
        continue()
      endif()
      if(room IN_LIST TCGEMM_CUDA_MEASURED_ROOMS AND is_ptx AND "90a" IN_LIST ARGN)
        continue()
      endif()
      if(room IN_LIST TCGEMM_CUDA_TRANSLATED_ROOMS AND number EQUAL 90 AND NOT is_ptx AND "90-virtual" IN_LIST ARGN)
        continue()
      endif()
      if(arch STREQUAL "89" AND NOT is_ptx AND NOT least GREATER 86 AND
         ("86" IN_LIST ARGN OR "86-real" IN_LIST ARGN))
        continue() # ptxas writes the same instructions
      endif()
      if(number EQUAL 90 AND NOT is_ptx AND module MATCHES "${TCGEMM_CUDA_BUT_90_MODULES}")
        continue()
      endif()
      if(number LESS least OR (room IN_LIST TCGEMM_CUDA_SPECIFIC_ROOMS AND NOT only_this))
        continue()
      endif()
      tcgemm_cuda_front(front "${room}" ${least} "${arch}" ${ARGN})
      if(arch STREQUAL "90a" AND module MATCHES "${TCGEMM_CUDA_OWN_90A_MODULES}")
        set(front "90a")
      endif()
      if(is_ptx AND "${front}-virtual" IN_LIST ARGN)
        set(front "${number}") # two images need two files
      elseif(is_ptx)
        set(code "compute_${front}")
      endif()
      list(APPEND list
           "${module}|${slot}|${number}|${front}|${code}|${is_ptx}|${only_this}|${source}")
    endforeach()
    math(EXPR slot "${slot} + 1")
  endforeach()
  set(${result} "${list}" PARENT_SCOPE)
endfunction()

# tcgemm_cuda_images(TARGET): compiles them, one at a time so that the build can show and share them, and
# adds the result to the target's sources:
#
#     cuda/<module>.<front>.ptx     what nvcc's front end makes of the source
#     cuda/<module>.<code>.fatbin   compressed      cuda/<module>.<code>.ptxas   registers, spills
#     cuda/images.c                 embeds them and lists them for src/cuda/module.c
function(tcgemm_cuda_images target)
  file(GLOB headers CONFIGURE_DEPENDS
       "${PROJECT_SOURCE_DIR}/src/gpu/*.h" "${PROJECT_SOURCE_DIR}/src/gpu/ptx/*"
       "${PROJECT_SOURCE_DIR}/src/gpu/*.cuh" "${PROJECT_SOURCE_DIR}/src/gpu/families/*/*.cuh"
       "${PROJECT_SOURCE_DIR}/src/gpu/families/*/shape.h" "${PROJECT_SOURCE_DIR}/src/gpu/families/*/rows.def"
       "${PROJECT_SOURCE_DIR}/src/device/arch_smem.h" "${PROJECT_SOURCE_DIR}/src/tile/*.h")
  set(folder "${PROJECT_BINARY_DIR}/cuda")
  file(MAKE_DIRECTORY "${folder}")
  set(script "${PROJECT_SOURCE_DIR}/cmake/TcgemmNvcc.cmake")
  set(ptx "")
  set(fatbins "")
  set(embed "")
  set(rows "")
  tcgemm_cuda_list(images ${TCGEMM_CUDA_IMAGES})
  foreach(image IN LISTS images)
    string(REPLACE "|" ";" image "${image}")
    list(POP_FRONT image module slot number front code is_ptx only_this source)
    set(common "${folder}/${module}.compute_${front}.ptx")
    if(NOT common IN_LIST ptx)
      list(APPEND ptx "${common}")
      add_custom_command(
        OUTPUT "${common}"
        COMMAND ${CMAKE_COMMAND} "-DNVCC=${TCGEMM_NVCC}" "-DSOURCE=${source}" "-DARCH=${front}" "-DOUTPUT=${common}"
                "-DINCLUDE=${PROJECT_SOURCE_DIR}/src|${PROJECT_SOURCE_DIR}/include" -P "${script}"
        DEPENDS "${source}" ${headers} "${script}"
        COMMENT "Building GPU module ${module}: PTX of compute_${front}" VERBATIM)
    endif()
    set(stem "${folder}/${module}.${code}")
    add_custom_command(
      OUTPUT "${stem}.fatbin"
      COMMAND ${CMAKE_COMMAND} "-DNVCC=${TCGEMM_NVCC}" "-DSOURCE=${common}" "-DARCH=${front}" "-DCODE=${code}"
              "-DCOMPRESS=${TCGEMM_NVCC_COMPRESS}" "-DOUTPUT=${stem}.fatbin" "-DLOG=${stem}.ptxas" -P "${script}"
      DEPENDS "${common}" "${script}"
      COMMENT "Building GPU module ${module} for ${code}" VERBATIM)
    list(APPEND fatbins "${stem}.fatbin")
    string(APPEND embed "EMBED(${module}_${code}, \"${stem}.fatbin\")\n")
    string(APPEND rows
           "    {\"${module}\", ${slot}, ${number}, ${only_this}, ${is_ptx}, "
           "tcgemm_image_${module}_${code}},\n")
  endforeach()
  if(NOT rows)
    message(FATAL_ERROR "no GPU module is for the architectures ${TCGEMM_CUDA_IMAGES}")
  endif()
  list(GET images -1 last)
  string(REPLACE "|" ";" last "${last}")
  list(GET last 1 last)
  math(EXPR TCGEMM_IMAGES_SLOTS "${last} + 1")
  set(TCGEMM_IMAGES_EMBED "${embed}")
  set(TCGEMM_IMAGES_ROWS "${rows}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/tcgemm_images.c.in" "${folder}/images.c" @ONLY)
  set_source_files_properties("${folder}/images.c" PROPERTIES OBJECT_DEPENDS "${fatbins}")
  target_sources(${target} PRIVATE "${folder}/images.c")
endfunction()
