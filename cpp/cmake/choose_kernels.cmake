# Which kernels go in. Sets FOURWAYS_SOURCES and FOURWAYS_BINDINGS.
# A kernel is aot/<name>.cu with its launcher, and aot/<name>.cpp with bind_<name>.

set(FOURWAYS_KERNELS "all" CACHE STRING "The kernels to build: all, or names as in -DFOURWAYS_KERNELS='doublify;saxpy'")

# A new .cu file is seen when CMake configures again.
file(GLOB all_kernels RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/aot" "${CMAKE_CURRENT_SOURCE_DIR}/aot/*.cu")
list(TRANSFORM all_kernels REPLACE "\\.cu$" "")

set(kernels "${FOURWAYS_KERNELS}")
if(NOT kernels OR kernels STREQUAL "all")
  set(kernels "${all_kernels}")
endif()
list(REMOVE_DUPLICATES kernels)
foreach(kernel IN LISTS kernels)
  if(NOT kernel IN_LIST all_kernels)
    list(JOIN all_kernels ", " known)
    message(FATAL_ERROR "FOURWAYS_KERNELS names ${kernel}, but there is no cpp/aot/${kernel}.cu. "
      "Take one or more of: ${known}; or all")
  endif()
  if(NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/aot/${kernel}.cpp")
    message(FATAL_ERROR "There is cpp/aot/${kernel}.cu, but beside it no cpp/aot/${kernel}.cpp, "
      "where bind_${kernel}(py::module_ &m) says what Python sees. cpp/aot/doublify.cpp is a model")
  endif()
endforeach()

# What takes longest first: the quick ones fill the gaps at the build's end.
list(TRANSFORM kernels REPLACE "(.+)" "aot/\\1.cu" OUTPUT_VARIABLE FOURWAYS_SOURCES)
list(TRANSFORM kernels REPLACE "(.+)" "aot/\\1.cpp" OUTPUT_VARIABLE bindings)
list(APPEND FOURWAYS_SOURCES ${bindings})

# A list for module.cpp, which says what X is: X(doublify) X(saxpy)
list(TRANSFORM kernels REPLACE "(.+)" "X(\\1)" OUTPUT_VARIABLE FOURWAYS_BINDINGS)
list(JOIN FOURWAYS_BINDINGS " " FOURWAYS_BINDINGS)
