# Cross-build for 64-bit Arm with Debian's gcc-aarch64-linux-gnu; programs run in qemu-user:
#
#     scripts/arm-sysroot build-arm-sysroot     libraries that the tests and the tool need
#     cmake --preset arm && cmake --build --preset arm
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

# pkg-config must not find this machine's own libraries.
get_filename_component(sysroot "${CMAKE_CURRENT_LIST_DIR}/../build-arm-sysroot" ABSOLUTE)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${sysroot}")
set(ENV{PKG_CONFIG_LIBDIR} "${sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig")
