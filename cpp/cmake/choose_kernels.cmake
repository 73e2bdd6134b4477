# Which kernels go in. Sets FOURWAYS_SOURCES and FOURWAYS_BINDINGS.
# A kernel is aot/<name>.cu with its launcher, and aot/<name>.hpp with bind_<name>.

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
endforeach()

# One C++ expression for module.cpp: bind_doublify(m),bind_saxpy(m)
list(TRANSFORM kernels REPLACE "(.+)" "aot/\\1.cu" OUTPUT_VARIABLE FOURWAYS_SOURCES)
list(TRANSFORM kernels REPLACE "(.+)" "bind_\\1(m)" OUTPUT_VARIABLE FOURWAYS_BINDINGS)
list(JOIN FOURWAYS_BINDINGS "," FOURWAYS_BINDINGS)
