# TCGEMM_BUILD_PYTHON: ON needs Python 3.11 or newer with its headers, AUTO takes it where it is. Debian's own
# comes first, whose headers are a package; pip brings its Python with it (SKBUILD).
#
# Sets TCGEMM_PYTHON_BUILD, TCGEMM_PYTHON_IS_FREE_THREADED, and Python_EXECUTABLE, which the tests take.
if(NOT SKBUILD AND NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3 AND EXISTS /etc/debian_version)
  file(GLOB headers /usr/include/python3.*/Python.h)
  if(headers)
    set(Python_ROOT_DIR /usr)
    set(Python_FIND_STRATEGY LOCATION)
  endif()
endif()
if(TCGEMM_BUILD_PYTHON STREQUAL "AUTO")
  find_package(Python 3.11 COMPONENTS Interpreter Development.Module)
  if(NOT Python_FOUND)
    message(STATUS "tcgemm: no Python 3.11 with headers, so the Python module is not built")
  endif()
else()
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
endif()
set(TCGEMM_PYTHON_BUILD ${Python_FOUND})
set(TCGEMM_PYTHON_IS_FREE_THREADED OFF)
if(Python_FOUND)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c
                          "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(found)
    set(TCGEMM_PYTHON_IS_FREE_THREADED ON)
  endif()
endif()
