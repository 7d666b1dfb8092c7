# What `make install` puts where. The installed tree may be moved: nothing in it names its prefix.
#
#     bin/tcgemm                                     the tool
#     include/tcgemm/tcgemm.h, inspect.h
#     lib/libtcgemm.so.0.1.0 (.so.0, .so)  lib/libtcgemm.a
#     lib/cmake/tcgemm/                              find_package(tcgemm): tcgemm::tcgemm, ::static
#     lib/pkgconfig/tcgemm.pc
#     share/man/man1, share/bash-completion, share/zsh, share/fish        (cli/CMakeLists.txt)
include(CMakePackageConfigHelpers)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/tcgemm"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(TARGETS tcgemm_shared EXPORT tcgemmTargets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS tcgemm_static EXPORT tcgemmTargets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(TCGEMM_BUILD_CLI)
  install(TARGETS tcgemm RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

# find_package(tcgemm 0.1 CONFIG)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tcgemm")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tcgemmConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/tcgemmConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tcgemmConfigVersion.cmake"
                                 COMPATIBILITY SameMajorVersion)
install(EXPORT tcgemmTargets NAMESPACE tcgemm:: DESTINATION "${package_dir}")
install(FILES "${PROJECT_BINARY_DIR}/tcgemmConfig.cmake"
              "${PROJECT_BINARY_DIR}/tcgemmConfigVersion.cmake"
        DESTINATION "${package_dir}")

# pkg-config: the prefix is where the .pc file lies, so many folders up.
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR libdir_is_absolute)
if(libdir_is_absolute)
  set(TCGEMM_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
  set(TCGEMM_PC_LIBDIR "${CMAKE_INSTALL_LIBDIR}")
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(TCGEMM_PC_PREFIX "\${pcfiledir}/${up}")
  set(TCGEMM_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_INCLUDEDIR includedir_is_absolute)
if(includedir_is_absolute)
  set(TCGEMM_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(TCGEMM_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/tcgemm.pc.in" "${PROJECT_BINARY_DIR}/tcgemm.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tcgemm.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

if(PROJECT_IS_TOP_LEVEL)
  # What was installed below which prefix, so that `make uninstall PREFIX=` removes that and nothing else.
  install(CODE "
    string(SHA1 key \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    string(REPLACE \";\" \"\\n\" lines \"\${CMAKE_INSTALL_MANIFEST_FILES}\")
    file(WRITE \"${PROJECT_BINARY_DIR}/manifests/\${key}.txt\" \"\${lines}\\n\")")
  add_custom_target(uninstall
    COMMAND ${CMAKE_COMMAND} "-DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt"
            -P "${PROJECT_SOURCE_DIR}/cmake/TcgemmUninstall.cmake"
    COMMENT "" VERBATIM)
endif()
