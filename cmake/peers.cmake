# Peers: other libraries in the harness of `rung bench --peers`. Sets rung_peers, a library that the
# command links; without RUNG_PEERS, or where none is found, its rows say so. BLAS libraries and
# programs are looked for when the command runs.
option(RUNG_PEERS "`rung bench --peers`: CUB, TBB and OpenCV, where they are found" OFF)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/peers/programs/*.c
     ${PROJECT_SOURCE_DIR}/peers/blas/*.c ${PROJECT_SOURCE_DIR}/peers/filters/*.c)
add_library(rung_peers STATIC ${PROJECT_SOURCE_DIR}/peers/peers.c ${PROJECT_SOURCE_DIR}/peers/loaded.c
            ${sources})
target_include_directories(rung_peers PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(rung_peers PUBLIC rung_files)
set_target_properties(rung_peers PROPERTIES LINKER_LANGUAGE C)
set(rung_command_language C)
if(NOT RUNG_PEERS)
  return()
endif()

# As their own users would build them: full optimisation, exceptions, the machine's own instructions
# where they are compiled from templates. libstdc++'s parallel algorithms are vectorised by `omp simd`,
# which compilers pass over without -fopenmp-simd.
set(rung_peer_cxx -std=c++17 -O3 -fopenmp-simd)
set(rung_peer_native "")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR AND NOT CMAKE_CROSSCOMPILING)
  list(APPEND rung_peer_cxx -march=native)
  set(options "")
  if(CMAKE_CXX_COMPILER)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -Q --help=target
                    OUTPUT_VARIABLE options ERROR_QUIET)
  endif()
  if(options MATCHES "-march=[ \t]+([a-z0-9.+_-]+)") # of GCC; others do not tell
    set(rung_peer_native ": ${CMAKE_MATCH_1}")
  endif()
endif()
set(rung_peer_cuda -O3 -Xcompiler=-fvisibility=hidden)
target_compile_options(rung_peers PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${rung_peer_cxx}>"
                                          "$<$<COMPILE_LANGUAGE:CUDA>:${rung_peer_cuda}>")

# The compiler, and all flags that it is given, as they stand in records.
function(rung_peer_built language flags result)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(JOIN " " text ${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION}
         ${CMAKE_${language}_FLAGS} ${CMAKE_${language}_FLAGS_${type}} ${flags})
  string(REGEX REPLACE " +" " " text "${text}${ARGN}")
  string(REPLACE "\"" "" text "${text}")
  string(REPLACE ";" "," text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# peer(MACRO "NAME VERSION"): its sources and its text.
function(rung_peer macro text)
  message(STATUS "peer: ${text}")
  target_sources(rung_peers PRIVATE ${ARGN})
  target_compile_definitions(rung_peers PRIVATE "RUNG_PEER_${macro}=\"${text}\"")
endfunction()

if(RUNG_WITH_CUDA)
  find_file(RUNG_CUB_VERSION_HEADER cub/version.cuh
            HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES} PATH_SUFFIXES cccl NO_DEFAULT_PATH)
  mark_as_advanced(RUNG_CUB_VERSION_HEADER)
  if(RUNG_CUB_VERSION_HEADER)
    file(STRINGS ${RUNG_CUB_VERSION_HEADER} line REGEX "#define CUB_VERSION ")
    string(REGEX MATCH "[0-9]+" number "${line}")
    math(EXPR major "${number} / 100000")
    math(EXPR minor "${number} / 100 % 1000")
    math(EXPR patch "${number} % 100")
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/peers/cub/*.cu)
    rung_peer_built(CUDA "-std=c++17;${rung_peer_cuda}" built " for ${CMAKE_CUDA_ARCHITECTURES}")
    rung_peer(CUB "CUB ${major}.${minor}.${patch}, ${built}" ${sources})
  endif()
endif()

if(CMAKE_CXX_COMPILER)
  find_package(TBB QUIET CONFIG)
  if(TBB_FOUND)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/peers/tbb/*.cpp)
    rung_peer_built(CXX "${rung_peer_cxx}" built "${rung_peer_native}")
    rung_peer(TBB "TBB ${TBB_VERSION}, ${built}" ${sources})
    target_link_libraries(rung_peers PUBLIC TBB::tbb)
    set(rung_command_language CXX)
  endif()
  # Debian's packages of single modules bring no package file of CMake's.
  find_path(RUNG_OPENCV_INCLUDE opencv2/imgproc.hpp PATH_SUFFIXES opencv4)
  find_library(RUNG_OPENCV_CORE opencv_core)
  find_library(RUNG_OPENCV_IMGPROC opencv_imgproc)
  mark_as_advanced(RUNG_OPENCV_INCLUDE RUNG_OPENCV_CORE RUNG_OPENCV_IMGPROC)
  if(RUNG_OPENCV_INCLUDE AND RUNG_OPENCV_CORE AND RUNG_OPENCV_IMGPROC)
    file(STRINGS ${RUNG_OPENCV_INCLUDE}/opencv2/core/version.hpp lines
         REGEX "#define CV_VERSION_(MAJOR|MINOR|REVISION) ")
    string(REGEX MATCHALL " [0-9]+" numbers "${lines}")
    string(REPLACE " " "" numbers "${numbers}")
    string(REPLACE ";" "." version "${numbers}")
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/peers/opencv/*.cpp)
    rung_peer(OPENCV "OpenCV ${version}" ${sources})
    target_include_directories(rung_peers SYSTEM PRIVATE ${RUNG_OPENCV_INCLUDE})
    target_link_libraries(rung_peers PUBLIC ${RUNG_OPENCV_IMGPROC} ${RUNG_OPENCV_CORE})
    set(rung_command_language CXX)
  endif()
endif()
