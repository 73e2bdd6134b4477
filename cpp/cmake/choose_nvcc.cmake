# Which nvcc. Sets CMAKE_CUDA_COMPILER, FOURWAYS_CUDA_LIBRARIES where nvcc needs help to find its libraries, and
# FOURWAYS_GLIBC.
# In this order: -DCMAKE_CUDA_COMPILER or CUDACXX, the Python environment's own, CUDA_PATH, CUDA_HOME,
# FOURWAYS_SYSTEM_CUDA, PATH. PATH comes last: an nvcc there may be a wrapper script whose toolkit is somewhere else.

set(FOURWAYS_SYSTEM_CUDA "/usr/local/cuda" CACHE PATH "Where NVIDIA's installers put the CUDA toolkit")

# The wheels' nvcc (also in the throw-away environment that pip builds in), or conda's.
set(ask_python [=[
import pathlib, sys
wheels = (nvcc for entry in sys.path for nvcc in sorted(pathlib.Path(entry).glob("nvidia/cu*/bin/nvcc"))[::-1])
conda = (nvcc for nvcc in [pathlib.Path(sys.prefix, "bin", "nvcc")] if nvcc.is_file())
print(next(wheels, None) or next(conda, ""))
]=])
execute_process(COMMAND "${Python_EXECUTABLE}" -c "${ask_python}"
  OUTPUT_VARIABLE environment_nvcc OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

function(take nvcc reason)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS "${nvcc}")
    set(CMAKE_CUDA_COMPILER "${nvcc}" PARENT_SCOPE)
    message(STATUS "nvcc: ${nvcc} (${reason})")
  endif()
endfunction()

if(NOT CMAKE_CUDA_COMPILER AND DEFINED ENV{CUDACXX})
  set(CMAKE_CUDA_COMPILER "$ENV{CUDACXX}")
endif()
if(CMAKE_CUDA_COMPILER)
  message(STATUS "nvcc: ${CMAKE_CUDA_COMPILER} (named by -DCMAKE_CUDA_COMPILER or CUDACXX)")
endif()
take("${environment_nvcc}" "of the Python environment")
foreach(variable CUDA_PATH CUDA_HOME)
  if(DEFINED ENV{${variable}} AND NOT CMAKE_CUDA_COMPILER)
    take("$ENV{${variable}}/bin/nvcc" "from ${variable}")
    if(NOT CMAKE_CUDA_COMPILER)
      message(WARNING "${variable} is $ENV{${variable}}, where there is no bin/nvcc: passed over")
    endif()
  endif()
endforeach()
take("${FOURWAYS_SYSTEM_CUDA}/bin/nvcc" "the system's")
find_program(nvcc_on_path nvcc NO_CACHE NO_DEFAULT_PATH PATHS ENV PATH)
take("${nvcc_on_path}" "from PATH")
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "No nvcc. Install the CUDA compiler into the environment (no driver and no root needed):\n"
    "  ${Python_EXECUTABLE} -m pip install 'cuda-toolkit[nvcc,cccl,cudart]==13.0.*'\n"
    "or say where one is: CUDA_PATH=/usr/local/cuda-13.0 cmake --preset release")
endif()

# The wheels have lib/ where nvcc looks into lib64/, so it would not find its own libcudart_static.a.
# LIBRARY_PATH helps CMake's trial programs, FOURWAYS_CUDA_LIBRARIES the module.
file(REAL_PATH "${CMAKE_CUDA_COMPILER}" real_nvcc)
cmake_path(SET wheel_libraries NORMALIZE "${real_nvcc}/../../lib")
if(EXISTS "${wheel_libraries}/libcudart_static.a")
  set(FOURWAYS_CUDA_LIBRARIES "${wheel_libraries}")
  set(ENV{LIBRARY_PATH} "${wheel_libraries}:$ENV{LIBRARY_PATH}")
endif()

# glibc/bits/mathcalls.h reconciles CUDA 13.0's headers with glibc 2.42 and newer. The variable hands it to CMake's trial
# programs, FOURWAYS_GLIBC to the module.
set(FOURWAYS_GLIBC "${CMAKE_CURRENT_SOURCE_DIR}/glibc")
if(DEFINED ENV{CPLUS_INCLUDE_PATH})
  set(ENV{CPLUS_INCLUDE_PATH} "${FOURWAYS_GLIBC}:$ENV{CPLUS_INCLUDE_PATH}")
else()
  set(ENV{CPLUS_INCLUDE_PATH} "${FOURWAYS_GLIBC}")
endif()
