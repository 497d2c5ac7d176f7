# librung, and its parts: the CUDA rungs and the simulator, which are loaded when a context first
# asks for them (src/core/part.h). Every object is compiled once, and goes into a shared and a static
# library.
file(GLOB core_sources CONFIGURE_DEPENDS src/core/*.c src/backend/*.c src/backend/cpu/*.c
     src/ops/operations.c src/ops/*/*.c)
file(GLOB isa_sources CONFIGURE_DEPENDS src/ops/*/cpu/*.c src/ops/*/cpu/kernels/*.c
     src/backend/cpu/kernels/*.c)
file(GLOB cuda_sources CONFIGURE_DEPENDS src/backend/cuda/*.cu src/backend/cuda/*.c)
set(device_kernels ${PROJECT_SOURCE_DIR}/src/backend/clocks.cu) # a GPU's and the simulated one's
file(GLOB rung_kernels CONFIGURE_DEPENDS src/ops/*/cuda/*.cu)
# Rungs of instructions that capability 9.0 alone has: compiled for it alone (9.0a), where code for
# 9.0 is asked for, and not for the simulator.
set(hopper_kernels "")
foreach(rung tf32 tf32x3 bf16 f16 tensor-i8 tensor-tma quads-tma wgmma)
  list(APPEND hopper_kernels ${PROJECT_SOURCE_DIR}/src/ops/matmul/cuda/${rung}.cu)
endforeach()
list(REMOVE_ITEM rung_kernels ${hopper_kernels})

add_library(rung_core OBJECT ${core_sources})
target_link_libraries(rung_core PRIVATE rung_flags)
# Loops over elements are compiled once an instruction set, below; of what decides which of them run,
# -O3 makes 70 KB more; copying is loops alone.
target_compile_options(rung_core PRIVATE $<$<CONFIG:Release>:-O2>)
set_source_files_properties(src/core/copy.c PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
set(rung_objects $<TARGET_OBJECTS:rung_core>)
set(rung_libraries m ${CMAKE_DL_LIBS})

# Part of the C library, or one of its own ("-lpthread").
set(THREADS_PREFER_PTHREAD_FLAG FALSE)
find_package(Threads REQUIRED)
if(CMAKE_THREAD_LIBS_INIT)
  string(REGEX REPLACE "^-l" "" thread_library ${CMAKE_THREAD_LIBS_INIT})
  list(APPEND rung_libraries ${thread_library})
endif()

# One object library per instruction set, chosen from at run time.
set(isas baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND isas avx2 avx512)
  set(flags_baseline $<$<CONFIG:Release>:-O2>) # CPUs of before 2013: -O3 makes it twice as large
  set(flags_avx2 -mavx2 -mfma -mf16c)
  set(flags_avx512 -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma -mf16c
      -mprefer-vector-width=512)
endif()
# Sanitizers watch AVX2 alone, where there is AVX2: the widest set whose instrumented loops compile
# in seconds, and the one that tools/check has their tests run. For the others it stands in, where a
# test names them; the fuzzing targets compare with the baseline, which is watched too. What measures
# the processor's peaks is there for every set.
set(watched ${isas})
if(RUNG_SANITIZE AND "avx2" IN_LIST isas AND EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo avx2 LIMIT_COUNT 1 REGEX "^flags.* avx2 ")
  set(watched baseline)
  if(avx2 AND RUNG_FUZZ)
    list(APPEND watched avx2)
  elseif(avx2)
    set(watched avx2)
  endif()
endif()
if(RUNG_SANITIZE) # peaks are measured: a sanitizer's would be none, and take half a minute
  set_source_files_properties(src/backend/cpu/kernels/probe.c PROPERTIES COMPILE_OPTIONS
                              "-O2;-fno-sanitize=all")
  # Nor is a time a result: caches need not be emptied for it, which takes 512 MB of memory and twice
  # as much of a sanitizer's own, for every sample, where they are large.
  set_property(SOURCE src/backend/cpu/measure.c src/backend/cpu/facts.c APPEND PROPERTY
               COMPILE_DEFINITIONS "RUNG_CPU_FLUSH_BYTES=((int64_t)2 << 20)")
endif()
if(RUNG_SANITIZE STREQUAL "address" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # What is called for a vector looks at each of its bytes: where pairs are all that tests do, checks
  # are written out.
  set(swept ${isa_sources})
  list(FILTER swept INCLUDE REGEX "/ops/pairs/cpu/")
  set_source_files_properties(${swept} PROPERTIES COMPILE_OPTIONS
                              --param=asan-instrumentation-with-call-threshold=10000)
endif()
if(isa_sources)
  foreach(isa IN LISTS isas)
    # Linked last, for what is linked comes after a target's own options.
    add_library(rung_flags_${isa} INTERFACE)
    target_compile_options(rung_flags_${isa} INTERFACE ${flags_${isa}})
    set(sources ${isa_sources})
    if(NOT isa IN_LIST watched)
      list(FILTER sources INCLUDE REGEX "/src/backend/cpu/kernels/")
      list(GET watched -1 other)
      string(TOUPPER ${isa} set)
      target_compile_definitions(rung_flags INTERFACE RUNG_CODE_OF_${set}=${other})
    elseif(RUNG_FUZZ) # unrolled vectors, instrumented in full, take clang minutes
      target_compile_options(rung_flags_${isa} INTERFACE -O0 -fno-sanitize=undefined)
    endif()
    add_library(rung_cpu_${isa} OBJECT ${sources})
    target_link_libraries(rung_cpu_${isa} PRIVATE rung_flags rung_flags_${isa})
    target_compile_definitions(rung_cpu_${isa} PRIVATE RUNG_ISA_NAME=${isa})
    list(APPEND rung_objects $<TARGET_OBJECTS:rung_cpu_${isa}>)
  endforeach()
endif()

# rung_library(TARGET NAME MAP OBJECT...): lib${NAME}.so as TARGET_shared and lib${NAME}.a as
# TARGET_static. Only the names in MAP leave the shared one. It is never unmapped: its threads, and
# the CUDA runtime's call-backs, outlive dlclose().
function(rung_library target name map)
  add_library(${target}_shared SHARED ${ARGN})
  target_link_options(${target}_shared PRIVATE -Wl,--exclude-libs,ALL -Wl,--as-needed
    -Wl,--gc-sections -Wl,-z,nodelete -Wl,--version-script=${map}
    $<$<NOT:$<BOOL:${RUNG_SANITIZE}>>:-Wl,-z,defs>)
  set_target_properties(${target}_shared PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS ${map})
  add_library(${target}_static STATIC ${ARGN})
  set_target_properties(${target}_static PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C)
endfunction()

configure_file(cmake/librung.map.in ${PROJECT_BINARY_DIR}/generated/librung.map @ONLY)
rung_library(rung rung ${PROJECT_BINARY_DIR}/generated/librung.map ${rung_objects})
target_link_libraries(rung_shared PRIVATE rung_flags ${rung_libraries})
target_link_libraries(rung_static PUBLIC ${rung_libraries} INTERFACE rung_flags)

# rung_part(NAME KERNELS OBJECT...): the part librung-NAME, of a backend's objects and the table of
# its rungs, those of the list of files KERNELS. A shared part takes what it needs of librung's objects with it, hidden, so that parts and
# libraries of several versions may meet in one process.
set(rung_parts "")       # the targets
set(rung_part_options "") # what makes a static program take the parts in
function(rung_part name kernels)
  set(declarations "")
  set(rows "")
  foreach(kernel IN LISTS ${kernels})
    string(REGEX MATCH "ops/([^/]+)/cuda/(.+)\\.cu$" matched ${kernel})
    set(operation ${CMAKE_MATCH_1})
    set(rung ${CMAKE_MATCH_2})
    string(REPLACE "-" "_" entry "${operation}_${rung}_${name}")
    string(APPEND declarations "extern rung_launch ${entry};\n")
    string(APPEND rows "    {\"${operation}\", \"${rung}\", ${entry}},\n")
  endforeach()
  set(part ${name})
  configure_file(cmake/part.c.in ${PROJECT_BINARY_DIR}/generated/part_${name}.c @ONLY)
  configure_file(cmake/part.map.in ${PROJECT_BINARY_DIR}/generated/part_${name}.map @ONLY)
  add_library(rung_${name}_table OBJECT ${PROJECT_BINARY_DIR}/generated/part_${name}.c)
  target_link_libraries(rung_${name}_table PRIVATE rung_flags)
  rung_library(rung_${name}_part rung-${name} ${PROJECT_BINARY_DIR}/generated/part_${name}.map
               $<TARGET_OBJECTS:rung_${name}_table> ${ARGN})
  target_link_libraries(rung_${name}_part_shared PRIVATE rung_flags rung_static)
  target_link_libraries(rung_${name}_part_static PUBLIC rung_static)
  set(rung_parts ${rung_parts} rung_${name}_part PARENT_SCOPE)
  set(rung_part_options ${rung_part_options} -Wl,-u,rung_part_${name} PARENT_SCOPE)
endfunction()

# rung_together(RESULT FILE...): sources that hold eight FILEs each, every one in a namespace of its
# own behind all their headers. nvcc takes two seconds to begin.
function(rung_together result)
  set(units "")
  set(count 0)
  list(LENGTH ARGN all)
  foreach(file IN LISTS ARGN)
    file(STRINGS ${file} lines REGEX "^#include ")
    list(APPEND headers ${lines})
    string(APPEND text "namespace file_${count} {\n#include \"${file}\"\n}\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    math(EXPR count "${count} + 1")
    math(EXPR left "${count} % 8")
    if(left EQUAL 0 OR count EQUAL all)
      list(REMOVE_DUPLICATES headers)
      list(JOIN headers "\n" headers)
      string(MD5 name "${text}")
      set(unit ${PROJECT_BINARY_DIR}/generated/together/${name}.cu)
      file(CONFIGURE OUTPUT ${unit} CONTENT "${headers}\n${text}" @ONLY)
      list(APPEND units ${unit})
      set(headers "")
      set(text "")
    endif()
  endforeach()
  set(${result} ${units} PARENT_SCOPE)
endfunction()

if(RUNG_WITH_CUDA)
  set(cuda_targets rung_cuda)
  set(cuda_kernels ${rung_kernels})
  set(compiled ${rung_kernels})
  set(compiled_for_hopper ${hopper_kernels})
  if(NOT RUNG_CUDA_OPTIMISED) # all is to compile, and not to run
    rung_together(compiled ${rung_kernels})
    rung_together(compiled_for_hopper ${hopper_kernels})
  endif()
  add_library(rung_cuda OBJECT ${cuda_sources} ${device_kernels} ${compiled})
  if(NOT RUNG_CUDA_OPTIMISED OR RUNG_CUDA_ARCHITECTURES MATCHES "(^|;)90a?(-|;|$)")
    list(APPEND cuda_targets rung_hopper)
    list(APPEND cuda_kernels ${hopper_kernels})
    add_library(rung_hopper OBJECT ${compiled_for_hopper})
    set_target_properties(rung_hopper PROPERTIES CUDA_ARCHITECTURES 90a-real)
  endif()
  set(cuda_objects "")
  foreach(target IN LISTS cuda_targets)
    target_link_libraries(${target} PRIVATE rung_flags)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${rung_cuda_options}>")
    target_include_directories(${target} SYSTEM PRIVATE
                               ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
    list(APPEND cuda_objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  rung_part(cuda cuda_kernels ${cuda_objects})
  target_link_libraries(rung_cuda_part_shared PRIVATE CUDA::cudart_static)
  target_link_libraries(rung_cuda_part_static PUBLIC CUDA::cudart_static)
endif()

if(RUNG_WITH_SIM)
  file(GLOB sim_sources CONFIGURE_DEPENDS src/backend/sim/*.c)
  add_library(rung_sim OBJECT ${sim_sources})
  target_link_libraries(rung_sim PRIVATE rung_flags)
  target_include_directories(rung_sim SYSTEM PRIVATE ${rung_sim_includes})
  target_compile_definitions(rung_sim PRIVATE ${rung_sim_definitions})
  target_compile_options(rung_sim PRIVATE ${rung_sim_stack_options})
  rung_sim_kernels(rung_sim_rungs ${device_kernels} ${rung_kernels})
  rung_part(sim rung_kernels $<TARGET_OBJECTS:rung_sim> ${rung_sim_rungs_object})
  target_link_libraries(rung_sim_part_shared PRIVATE ${rung_sim_libraries})
  target_link_libraries(rung_sim_part_static PUBLIC ${rung_sim_libraries})
  # One object file for both libraries, made once.
  add_dependencies(rung_sim_part_shared rung_sim_rungs_gathered)
  add_dependencies(rung_sim_part_static rung_sim_rungs_gathered)
endif()

# Whatever runs from the build folder finds the parts beside librung.so.
add_custom_target(rung_loadable)
add_dependencies(rung_shared rung_loadable)
foreach(part IN LISTS rung_parts)
  add_dependencies(rung_loadable ${part}_shared)
endforeach()

# What links all of it into itself, internal names in reach: the tests.
add_library(rung_all INTERFACE)
list(TRANSFORM rung_parts APPEND _static OUTPUT_VARIABLE static_parts)
target_link_libraries(rung_all INTERFACE ${static_parts} rung_static)
target_link_options(rung_all INTERFACE ${rung_part_options})
