# Which GPUs the module is for. Sets CMAKE_CUDA_ARCHITECTURES, and FOURWAYS_BUILT_FOR for fourways_aot.built_for.
# -DCMAKE_CUDA_ARCHITECTURES or CUDAARCHS decide; else the GPUs of this machine; else a set that runs on all.

if(NOT CMAKE_CUDA_ARCHITECTURES AND DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES "$ENV{CUDAARCHS}")
endif()
if(CMAKE_CUDA_ARCHITECTURES)
  set(reason "as asked")
else()
  # One line for each GPU, as 9.0. Like CMake's `native`, but known before nvcc starts, and so printable.
  find_program(nvidia_smi nvidia-smi NO_CACHE)
  if(nvidia_smi)
    execute_process(COMMAND "${nvidia_smi}" --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE capabilities RESULT_VARIABLE failed ERROR_QUIET)
    if(NOT failed)
      string(REGEX MATCHALL "[0-9]+\\.[0-9]" local_gpus "${capabilities}")
      list(REMOVE_DUPLICATES local_gpus)
      list(TRANSFORM local_gpus REPLACE "\\." "")
      list(TRANSFORM local_gpus APPEND "-real")
    endif()
  endif()
  if(local_gpus)
    set(CMAKE_CUDA_ARCHITECTURES "${local_gpus}")
    set(reason "this machine's GPUs")
  else()
    # 75 without -real: its PTX, too, which the driver compiles for every GPU that has no machine code here.
    # PTX of a newer architecture would leave out the GPUs between 75 and that one.
    set(CMAKE_CUDA_ARCHITECTURES 75 90-real)
    set(reason "no GPU here; runs on all from 75 on")
  endif()
endif()
message(STATUS "CUDA architectures: ${CMAKE_CUDA_ARCHITECTURES} (${reason})")

# In CUDA's words: 90-real is sm_90, 90-virtual is compute_90 (PTX), 90 alone is both.
set(FOURWAYS_BUILT_FOR "")
foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
  if(architecture MATCHES "^([0-9]+[a-z]?)(-real|-virtual)?$")
    if(NOT CMAKE_MATCH_2 STREQUAL "-virtual")
      string(APPEND FOURWAYS_BUILT_FOR " sm_${CMAKE_MATCH_1}")
    endif()
    if(NOT CMAKE_MATCH_2 STREQUAL "-real")
      string(APPEND FOURWAYS_BUILT_FOR " compute_${CMAKE_MATCH_1}")
    endif()
  else()
    string(APPEND FOURWAYS_BUILT_FOR " ${architecture}") # native, all, all-major
  endif()
endforeach()
string(STRIP "${FOURWAYS_BUILT_FOR}" FOURWAYS_BUILT_FOR)
