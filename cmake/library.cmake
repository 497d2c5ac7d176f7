# librung: every object is compiled once, and goes into the shared and the static library.
file(GLOB core_sources CONFIGURE_DEPENDS src/core/*.c src/backend/*.c src/backend/cpu/*.c
     src/ops/operations.c src/ops/*/*.c)
file(GLOB isa_sources CONFIGURE_DEPENDS src/ops/*/cpu/*.c src/backend/cpu/kernels/*.c)
file(GLOB cuda_sources CONFIGURE_DEPENDS src/backend/cuda/*.cu src/backend/cuda/*.c
     src/ops/*/cuda/*.cu)

add_library(rung_core OBJECT ${core_sources})
target_link_libraries(rung_core PRIVATE rung_flags)
set(rung_objects $<TARGET_OBJECTS:rung_core>)
set(rung_libraries m)

# Threads are one file's business; the others are compiled without OpenMP.
find_package(OpenMP COMPONENTS C)
if(OpenMP_C_FOUND)
  set_source_files_properties(src/backend/cpu/parallel.c PROPERTIES COMPILE_OPTIONS
                              "${OpenMP_C_FLAGS}")
  list(APPEND rung_libraries ${OpenMP_C_LIB_NAMES})
else()
  message(STATUS "openmp: not found, the CPU backend runs on one thread")
endif()

# One object library per instruction set, chosen from at run time.
set(isas baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND isas avx2 avx512)
  set(flags_avx2 -mavx2 -mfma)
  set(flags_avx512 -mavx512f -mavx512vl -mavx512bw -mavx512dq -mfma -mprefer-vector-width=512)
endif()
if(isa_sources)
  foreach(isa IN LISTS isas)
    add_library(rung_cpu_${isa} OBJECT ${isa_sources})
    target_link_libraries(rung_cpu_${isa} PRIVATE rung_flags)
    target_compile_options(rung_cpu_${isa} PRIVATE ${flags_${isa}})
    target_compile_definitions(rung_cpu_${isa} PRIVATE RUNG_ISA_NAME=${isa})
    list(APPEND rung_objects $<TARGET_OBJECTS:rung_cpu_${isa}>)
  endforeach()
endif()

if(RUNG_WITH_CUDA AND cuda_sources)
  add_library(rung_cuda OBJECT ${cuda_sources})
  target_link_libraries(rung_cuda PRIVATE rung_flags)
  target_compile_options(rung_cuda PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${rung_cuda_options}>")
  target_include_directories(rung_cuda SYSTEM PRIVATE
                             ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  list(APPEND rung_objects $<TARGET_OBJECTS:rung_cuda>)
endif()

if(RUNG_WITH_SIM)
  file(GLOB sim_sources CONFIGURE_DEPENDS src/backend/sim/*.c)
  file(GLOB sim_kernels CONFIGURE_DEPENDS src/ops/*/cuda/*.cu)
  add_library(rung_sim OBJECT ${sim_sources})
  target_link_libraries(rung_sim PRIVATE rung_flags)
  target_include_directories(rung_sim SYSTEM PRIVATE ${rung_sim_includes})
  target_compile_definitions(rung_sim PRIVATE ${rung_sim_definitions})
  list(APPEND rung_objects $<TARGET_OBJECTS:rung_sim>)
  list(APPEND rung_libraries ${rung_sim_libraries})
  rung_sim_kernels(rung_sim_rungs ${sim_kernels})
  list(APPEND rung_objects ${rung_sim_rungs_object})
endif()

add_library(rung_shared SHARED ${rung_objects})
target_link_libraries(rung_shared PRIVATE rung_flags ${rung_libraries})
# --exclude-libs keeps the CUDA runtime's names to ourselves.
target_link_options(rung_shared PRIVATE -Wl,--exclude-libs,ALL -Wl,--as-needed
                    $<$<NOT:$<BOOL:${RUNG_SANITIZE}>>:-Wl,-z,defs>)
if(RUNG_WITH_SIM) # one object file for both libraries, made once
  add_dependencies(rung_shared rung_sim_rungs_gathered)
endif()
set_target_properties(rung_shared PROPERTIES OUTPUT_NAME rung LINKER_LANGUAGE C
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

# The static library keeps its hidden symbols in reach: the lab, the command and the tests use it.
add_library(rung_static STATIC ${rung_objects})
target_link_libraries(rung_static PUBLIC ${rung_libraries} INTERFACE rung_flags)
if(RUNG_WITH_SIM)
  add_dependencies(rung_static rung_sim_rungs_gathered)
endif()
set_target_properties(rung_static PROPERTIES OUTPUT_NAME rung LINKER_LANGUAGE C)
