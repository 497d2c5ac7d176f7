# The laboratory, the file formats and the command. Only these see the generated headers.
file(GLOB lab_sources CONFIGURE_DEPENDS src/lab/*.c src/ops/cases.c src/ops/*/lab/*.c)
file(GLOB files_sources CONFIGURE_DEPENDS src/files/*.c)
file(GLOB cli_sources CONFIGURE_DEPENDS src/cli/*.c)
set(rung_generated ${PROJECT_BINARY_DIR}/generated)
set(rung_tools "") # what the tests link beside the library

# Images of other libraries' formats: compiled where their headers are, loaded by these names when
# the first such file comes.
option(RUNG_IMAGES "Read and write PNG, JPEG and TIFF, each where its library is found" ON)
function(rung_image_library macro header)
  string(TOLOWER ${macro} name)
  find_path(RUNG_${macro}_INCLUDE ${header})
  find_library(RUNG_${macro}_LIBRARY ${ARGN})
  mark_as_advanced(RUNG_${macro}_INCLUDE RUNG_${macro}_LIBRARY)
  set(found "")
  if(RUNG_${macro}_INCLUDE AND RUNG_${macro}_LIBRARY)
    file(REAL_PATH ${RUNG_${macro}_LIBRARY} found)
    string(REGEX MATCH "[^/]+\\.so\\.[0-9]+" found "${found}")
  endif()
  if(NOT found)
    message(STATUS "images: ${name} not found, such files are not read")
    return()
  endif()
  set_property(SOURCE src/files/${name}.c APPEND PROPERTY
               COMPILE_DEFINITIONS "RUNG_${macro}=\"${found}\"")
  if(NOT RUNG_${macro}_INCLUDE IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
    set_property(SOURCE src/files/${name}.c APPEND PROPERTY
                 INCLUDE_DIRECTORIES ${RUNG_${macro}_INCLUDE})
  endif()
endfunction()
if(RUNG_IMAGES)
  rung_image_library(PNG png.h png16 png)
  rung_image_library(JPEG jpeglib.h jpeg)
  rung_image_library(TIFF tiffio.h tiff)
endif()

if(files_sources)
  add_library(rung_files STATIC ${files_sources})
  target_link_libraries(rung_files PUBLIC rung_flags ${CMAKE_DL_LIBS})
  set_target_properties(rung_files PROPERTIES LINKER_LANGUAGE C)
  list(APPEND rung_tools rung_files)
endif()

if(NOT RUNG_LAB)
  return()
endif()
find_package(PkgConfig REQUIRED)
pkg_check_modules(JANSSON IMPORTED_TARGET jansson)
if(NOT JANSSON_FOUND)
  message(FATAL_ERROR "Jansson is not there: install libjansson-dev, or use RUNG_LAB=OFF")
endif()

# Rewritten only where a value changed, so that one file is compiled again and not the rest.
if(RUNG_USES_FLOAT)
  set(RUNG_DEFAULT_DOUBLE 0)
else()
  set(RUNG_DEFAULT_DOUBLE 1)
endif()
configure_file(cmake/rung_defaults.h.in ${rung_generated}/rung_defaults.h @ONLY)

# What a report has besides its records, as text of C: style, script and what old reports measured.
function(rung_text name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
  file(READ ${PROJECT_SOURCE_DIR}/${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\" \\\n  \"" text "${text}")
  set(${name} "${text}" PARENT_SCOPE)
endfunction()
rung_text(RUNG_REPORT_STYLE src/cli/report.css)
rung_text(RUNG_REPORT_SCRIPT src/cli/report.js)
file(SHA256 ${PROJECT_SOURCE_DIR}/src/cli/report.js RUNG_REPORT_SHA256)
set(RUNG_REPORT_HISTORY "")
foreach(name matmul-shared matmul-tiles reduce-finish scan histogram-shared pairs radiator
        radiator-means)
  rung_text(history docs/history/${name}.csv)
  string(APPEND RUNG_REPORT_HISTORY "\"${history}\", \\\n")
endforeach()
configure_file(cmake/rung_report.h.in ${rung_generated}/rung_report.h @ONLY)

# Provenance for records, asked anew at every build.
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
string(JOIN " " RUNG_BUILD_FLAGS -std=c17 ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}}
       ${rung_c_options})
if(RUNG_WITH_CUDA)
  string(JOIN " " RUNG_BUILD_FLAGS ${RUNG_BUILD_FLAGS} "| nvcc: -std=c++17" ${CMAKE_CUDA_FLAGS}
         ${CMAKE_CUDA_FLAGS_${type}} ${rung_cuda_options})
endif()
find_package(Git QUIET)
add_custom_target(rung_provenance
  COMMAND ${CMAKE_COMMAND} -D "SOURCE=${PROJECT_SOURCE_DIR}" -D "GIT=${GIT_EXECUTABLE}"
          -D "TEMPLATE=${PROJECT_SOURCE_DIR}/cmake/rung_build.h.in"
          -D "OUTPUT=${rung_generated}/rung_build.h"
          -D "RUNG_BUILD_COMPILER=${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}"
          -D "RUNG_BUILD_FLAGS=${RUNG_BUILD_FLAGS}" -D "RUNG_BUILD_CUDA=${rung_cuda_version}"
          -D "RUNG_BUILD_TYPE=${CMAKE_BUILD_TYPE}"
          -P ${PROJECT_SOURCE_DIR}/cmake/provenance.cmake
  BYPRODUCTS ${rung_generated}/rung_build.h
  VERBATIM)

if(RUNG_SANITIZE) # what is expected takes longest, and is worked out before threads are made
  set(references ${lab_sources})
  list(FILTER references INCLUDE REGEX "/lab/(reference|grid)\\.c$")
  set(watch "")
  if(RUNG_SANITIZE STREQUAL "thread")
    set(watch -fno-sanitize=all)
  endif()
  set_source_files_properties(${references} PROPERTIES COMPILE_OPTIONS "-O2;${watch}")
endif()
if(lab_sources)
  add_library(rung_lab STATIC ${lab_sources})
  target_include_directories(rung_lab PRIVATE ${rung_generated})
  target_link_libraries(rung_lab PUBLIC rung_flags PkgConfig::JANSSON)
  set_target_properties(rung_lab PROPERTIES LINKER_LANGUAGE C)
  add_dependencies(rung_lab rung_provenance)
  list(PREPEND rung_tools rung_lab)
else()
  message(STATUS "lab: no sources")
endif()

include(cmake/peers.cmake)
if(cli_sources AND lab_sources AND files_sources)
  # The verbs, which a test links too; and the command.
  list(FILTER cli_sources EXCLUDE REGEX "/main\\.c$")
  add_library(rung_cli STATIC ${cli_sources})
  target_include_directories(rung_cli PRIVATE ${rung_generated} ${PROJECT_SOURCE_DIR})
  target_compile_options(rung_cli PRIVATE $<$<CONFIG:Release>:-Os>) # it asks others to work
  # Nobody unwinds the stack of a program in C: the tables for it are 80 KB of the command.
  foreach(target rung_cli rung_lab rung_files)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-fno-asynchronous-unwind-tables>)
  endforeach()
  target_link_libraries(rung_cli PUBLIC rung_lab rung_files rung_peers)
  set_target_properties(rung_cli PROPERTIES LINKER_LANGUAGE C)
  add_dependencies(rung_cli rung_provenance)
  add_executable(rung_command src/cli/main.c)
  # What librung.so does not show, the laboratory takes from its objects.
  target_link_libraries(rung_command PRIVATE rung_cli rung_lab rung_files rung_peers rung_shared
                        rung_static)
  target_link_options(rung_command PRIVATE -Wl,--as-needed -Wl,--gc-sections)
  set_target_properties(rung_command PROPERTIES OUTPUT_NAME rung LINKER_LANGUAGE ${rung_command_language})
else()
  message(STATUS "command: no sources")
endif()
