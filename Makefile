# tcgemm: the commands of everyday. CMake does the work; see CMakeLists.txt and CMakePresets.json.
#
#     make run      real matrices multiplied and verified, in two minutes from a clean clone
#     make test     every test
#
# Both install what is missing with apt when they may (root or sudo), else they print the line to
# type. Others: make help. Variables: BUILD, JOBS, PREFIX, DESTDIR, CMAKE_FLAGS.

BUILD       ?= build
JOBS        ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX      ?= /usr/local
CMAKE_FLAGS ?=

CONFIGURE = cmake -S . -B $(BUILD) -DCMAKE_BUILD_TYPE=Release $(CMAKE_FLAGS)
# Without our MAKEFLAGS: the make that CMake calls takes its own -j.
COMPILE   = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake --build $(BUILD) -j $(JOBS)

.PHONY: help all run test test-python test-gpu wheel deb walkthrough bench plots install uninstall format clean
.DEFAULT_GOAL := all

help:
	@echo 'make            build the library and the tool into $(BUILD)/'
	@echo 'make run        build, then multiply and verify the data of examples/'
	@echo 'make test       build with the tests and run them all'
	@echo 'make test-python  build the Python module and run its tests (one screen: docs/python.md)'
	@echo 'make test-gpu   build for the GPU here and prove its kernels (tests/gpu/run.sh)'
	@echo 'make wheel      the Python wheel into $(BUILD)/wheel, and the platforms it is good for'
	@echo 'make deb        the Debian packages into $(BUILD)/debian, built twice and compared, with lintian'
	@echo 'make walkthrough  compile and run the program that docs/walkthrough.md is'
	@echo 'make bench      measure this machine (BENCH="--type f64_f64 ..." picks what)'
	@echo 'make plots      draw the pictures in docs/images from bench/results'
	@echo 'make install    into PREFIX=$(PREFIX), below DESTDIR if set; make uninstall removes it'
	@echo 'make format     lay out all C files with clang-format'
	@echo 'make clean      remove the build folders'

all:
	@scripts/setup run
	@$(CONFIGURE)
	@$(COMPILE)

# Only the tool, which holds the library: the tests and the man pages can wait.
run:
	@scripts/setup run
	@$(CONFIGURE)
	@$(COMPILE) --target tcgemm
	@sh examples/run.sh $(BUILD)/cli/tcgemm

test:
	@scripts/setup test
	@$(CONFIGURE) -DTCGEMM_BUILD_TESTS=ON -DTCGEMM_BUILD_PYTHON=AUTO
	@$(COMPILE)
	@scripts/suite $(BUILD)

# Not the rest of the tests: only what the module needs is compiled.
test-python:
	@scripts/setup test
	@$(CONFIGURE) -DTCGEMM_BUILD_TESTS=ON -DTCGEMM_BUILD_PYTHON=ON
	@$(COMPILE) --target tcgemm_python_tests
	@scripts/suite $(BUILD) -L python

test-gpu:
	@sh tests/gpu/run.sh

wheel:
	@scripts/wheel $(BUILD)

deb:
	@BUILD=$(BUILD) scripts/debian

# 77: no nvcc here, and it has said so.
walkthrough:
	@sh tests/walkthrough/run.sh || [ $$? -eq 77 ]

bench:
	@scripts/setup run
	@$(CONFIGURE)
	@$(COMPILE) --target tcgemm
	@$(BUILD)/cli/tcgemm bench $(BENCH)

plots:
	@scripts/setup plots
	@$(CONFIGURE)
	@$(COMPILE) --target tcgemm
	@bench/plots.sh $(BUILD)/cli/tcgemm

install:
	@scripts/setup run
	@$(CONFIGURE) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@$(COMPILE)
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD)
	@[ -n "$(DESTDIR)" ] || scripts/tell-loader "$(PREFIX)"

uninstall:
	@DESTDIR="$(DESTDIR)" cmake -DBUILD=$(abspath $(BUILD)) -DPREFIX=$(abspath $(PREFIX)) -P cmake/TcgemmUninstall.cmake
	@[ -n "$(DESTDIR)" ] || scripts/tell-loader

format:
	@find include src cli python tests bench examples lab \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) \
		-exec clang-format -i {} +

clean:
	@rm -rf $(BUILD) build-*
