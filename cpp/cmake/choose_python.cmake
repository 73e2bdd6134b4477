# Which Python the module is for. Sets Python_EXECUTABLE and finds its headers and its pybind11.

# The environment's own interpreter first: an active one, then the repository's, then CMake's search along PATH.
if(NOT Python_EXECUTABLE)
  foreach(candidate "${PYTHON_EXECUTABLE}" "$ENV{VIRTUAL_ENV}/bin/python" "$ENV{CONDA_PREFIX}/bin/python"
      "${CMAKE_CURRENT_SOURCE_DIR}/../.venv/bin/python")
    if(EXISTS "${candidate}")
      cmake_path(SET Python_EXECUTABLE NORMALIZE "${candidate}")
      break()
    endif()
  endforeach()
endif()

# Interpreter: to ask it questions. Development.Module: headers, but no libpython, which a module must not link.
find_package(Python 3.11 QUIET COMPONENTS Interpreter Development.Module)
if(NOT Python_Interpreter_FOUND OR Python_VERSION VERSION_LESS 3.11)
  message(FATAL_ERROR "No Python of version 3.11 or newer (looked at: ${Python_EXECUTABLE} and PATH). Name one:\n"
    "  cmake --preset release -DPython_EXECUTABLE=/path/to/python3")
endif()
if(NOT Python_Development.Module_FOUND)
  message(FATAL_ERROR "${Python_EXECUTABLE} (${Python_VERSION}) has no C headers (Python.h). Install them:\n"
    "  sudo apt install python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}-dev\n"
    "or name another interpreter with -DPython_EXECUTABLE=/path/to/python3")
endif()
message(STATUS "Python ${Python_VERSION}: ${Python_EXECUTABLE}")

# pybind11 is a Python package and knows where its CMake files are.
execute_process(
  COMMAND "${Python_EXECUTABLE}" -m pybind11 --cmakedir
  OUTPUT_VARIABLE pybind11_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  message(FATAL_ERROR "${Python_EXECUTABLE} has no pybind11. Install it:\n"
    "  ${Python_EXECUTABLE} -m pip install 'pybind11>=3.1,<4'")
endif()
find_package(pybind11 CONFIG REQUIRED)
