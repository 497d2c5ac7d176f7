# Finds CUDA by itself, on PATH or where NVIDIA's installer puts it. Sets RUNG_WITH_CUDA.
set(RUNG_WITH_CUDA FALSE)
if(NOT RUNG_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "RUNG_CUDA is \"${RUNG_CUDA}\"; expected: AUTO, ON or OFF")
endif()

if(NOT RUNG_CUDA STREQUAL "OFF")
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(RUNG_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda
                 PATH_SUFFIXES bin)
    mark_as_advanced(RUNG_NVCC)
    if(RUNG_NVCC)
      set(CMAKE_CUDA_COMPILER ${RUNG_NVCC})
    endif()
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${RUNG_CUDA_ARCHITECTURES})
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(RUNG_WITH_CUDA TRUE)
  elseif(RUNG_CUDA STREQUAL "ON")
    message(FATAL_ERROR "RUNG_CUDA is ON, but no nvcc that works was found: put it on PATH, set "
                        "CUDACXX, or use RUNG_CUDA=OFF")
  endif()
endif()

if(RUNG_WITH_CUDA)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" rung_cuda_version ${CMAKE_CUDA_COMPILER_VERSION})
  message(STATUS "cuda: ${rung_cuda_version} for ${CMAKE_CUDA_ARCHITECTURES}")
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  find_package(CUDAToolkit REQUIRED)
  # nvcc's own -O is for the host's code alone, where it overrules -Xcompiler's. That code picks a
  # kernel and launches it, from every kernel's template: by -Os it is a third as large.
  string(REGEX REPLACE "-O[1-3]" "-Xcompiler=-Os" CMAKE_CUDA_FLAGS_RELEASE
         "${CMAKE_CUDA_FLAGS_RELEASE}")
  # Without exceptions, RTTI and guarded statics the objects need no C++ runtime, so that a C
  # program can link the static library.
  set(rung_cuda_options --fmad=false --Werror=all-warnings
      -Xcompiler=-Wall,-Wextra,-Werror,-fvisibility=hidden,-ffp-contract=off
      -Xcompiler=-fno-exceptions,-fno-rtti,-fno-threadsafe-statics)
  if(RUNG_CUDA_OPTIMISED)
    # GPU code is kept compressed as hard as nvcc can: the part is a fifth as large, and its first
    # launch decompresses what it needs.
    list(APPEND rung_cuda_options --compress-mode=size)
  else()
    list(APPEND rung_cuda_options --compress-mode=none -Xcicc=-O1 -Xptxas=-O0 -Xcompiler=-O0)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13.0)
      list(APPEND rung_cuda_options --Ofast-compile=max) # a third less again
    endif()
  endif()
else()
  set(rung_cuda_version "not built")
  message(STATUS "cuda: not built")
endif()
