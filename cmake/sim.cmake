# The simulator: the CUDA rungs compiled by the C++ compiler for a GPU that the CPU plays. Sets
# RUNG_WITH_SIM. The compiler is GCC, whose call-backs the simulator lives on.
set(RUNG_WITH_SIM FALSE)
set(sim_why_not "")
if(NOT RUNG_SIM MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "RUNG_SIM is \"${RUNG_SIM}\"; expected: AUTO, ON or OFF")
endif()
if(RUNG_SIM STREQUAL "OFF")
  set(sim_why_not "RUNG_SIM is OFF")
elseif(RUNG_SANITIZE STREQUAL "thread")
  set(sim_why_not "ThreadSanitizer cannot follow its fibres")
elseif(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11)
  set(sim_why_not "it needs g++ 11 or later")
elseif(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|aarch64|arm64)$")
  set(sim_why_not "it knows x86-64 and aarch64")
else()
  set(RUNG_WITH_SIM TRUE)
endif()
if(RUNG_SIM STREQUAL "ON" AND NOT RUNG_WITH_SIM)
  message(FATAL_ERROR "RUNG_SIM is ON, but ${sim_why_not}")
endif()
if(NOT RUNG_WITH_SIM)
  message(STATUS "simulator: not built (${sim_why_not})")
  return()
endif()

# Accesses stay as the source has them: no vectors, no structs taken apart, no loop turned inside
# out; code stays in the order of the source, which threaded jumps would leave, and the same code in
# two places stays in two, for a barrier here is not the barrier there. Exceptions, RTTI and guarded
# statics are left out so that a C program can link the library.
set(rung_sim_options -Os -g1 -fno-crossjumping -fno-tree-tail-merge -fno-code-hoisting -fno-gcse
    -fno-ipa-icf -fno-tree-sra -fno-tree-vectorize -fno-reorder-blocks -fno-thread-jumps
    -fno-guess-branch-probability -fno-exceptions -fno-rtti -fno-threadsafe-statics
    -fno-gnu-unique -fno-math-errno -fno-trapping-math -fvisibility=hidden -ffp-contract=off
    -Wall -Werror -Wno-unknown-pragmas -Wno-sign-compare)
set(rung_sim_definitions "")
set(rung_sim_stack_options "")
if(RUNG_SANITIZE STREQUAL "address")
  # Kernels are long, and are compiled more than they run: they are not optimised, which takes a
  # third of the time, and all their checks are calls.
  list(APPEND rung_sim_options -O0 ${sanitizers} -fsanitize-sections=rung_shared
       --param=asan-instrumentation-with-call-threshold=0 -fno-omit-frame-pointer)
  # What watches for locals that outlive their function takes megabytes for every stack; a simulated
  # thread has one.
  set(rung_sim_stack_options --param=asan-use-after-return=0)
  list(APPEND rung_sim_options ${rung_sim_stack_options})
else()
  # Nobody unwinds the stack of a simulated thread but a debugger, which has tables of its own.
  list(APPEND rung_sim_options -fno-asynchronous-unwind-tables)
  list(APPEND rung_sim_options -fsanitize=thread -fsanitize-coverage=trace-pc
       --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1)
  list(APPEND rung_sim_definitions RUNG_SIM_WATCHED=1)
endif()

if(NOT RUNG_SIM_OPTIMISED)
  list(APPEND rung_sim_options -O0)
endif()

# What names lines of source and counts floating-point operations, where it is found.
set(rung_sim_libraries "")
set(rung_sim_static_libraries "")
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND AND NOT CMAKE_CROSSCOMPILING)
  pkg_check_modules(LIBDW QUIET libdw)
  pkg_check_modules(CAPSTONE QUIET capstone)
endif()
set(rung_sim_includes ${LIBDW_INCLUDE_DIRS} ${CAPSTONE_INCLUDE_DIRS})
if(LIBDW_FOUND)
  list(APPEND rung_sim_libraries ${LIBDW_LIBRARIES})
  list(APPEND rung_sim_static_libraries ${LIBDW_STATIC_LIBRARIES})
  list(APPEND rung_sim_definitions RUNG_WITH_LIBDW=1)
else()
  message(STATUS "simulator: libdw not found, places are given as addresses")
endif()
if(CAPSTONE_FOUND)
  list(APPEND rung_sim_libraries ${CAPSTONE_LIBRARIES})
  list(APPEND rung_sim_static_libraries ${CAPSTONE_STATIC_LIBRARIES})
  list(APPEND rung_sim_definitions RUNG_WITH_CAPSTONE=1)
else()
  message(STATUS "simulator: capstone not found, floating-point operations are not counted")
endif()

# rung_sim_kernels(NAME SOURCE...): one object file, ${NAME}_object, of kernels for the simulator,
# made by the target ${NAME}_gathered.
# Of its names only the entries (RUNG_ENTRY) are seen outside: templates' functions have the same
# names in the object files that nvcc makes of the same sources.
function(rung_sim_kernels name)
  string(JOIN "\n" text
    "set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CXX)"
    "add_library(${name} OBJECT ${ARGN})")
  # In a folder of its own, for there a .cu file may be C++ while it is CUDA elsewhere.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
  file(CONFIGURE OUTPUT ${folder}/CMakeLists.txt CONTENT "${text}\n" @ONLY)
  add_subdirectory(${folder} ${folder}/build)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_options(${name} PRIVATE ${rung_sim_options})
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE RUNG_WITH_SIM=1 ${rung_sim_definitions})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_SOURCE_DIR}/src)
  # Read once: C++'s own headers behind it are the half of what a small kernel takes.
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/backend/gpu.h)
  set(script ${PROJECT_SOURCE_DIR}/src/backend/sim/shared.ld)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  set(objects "$<FILTER:$<TARGET_OBJECTS:${name}>,EXCLUDE,\\.gch$>")
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -T ${script} -o ${object}.all
            ${objects}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=*_sim ${object}.all ${object}
    DEPENDS ${name} ${objects} ${script}
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${name}_gathered DEPENDS ${object})
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${name}_object ${object} PARENT_SCOPE)
endfunction()
