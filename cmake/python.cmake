# The package `rung` for Python: one extension over librung, on Python's limited API, so that one file
# serves CPython 3.11 and later. In the build it lies in python/rung, beside a copy of the package's
# Python files: PYTHONPATH=build/release/python.
set(RUNG_PYTHON AUTO CACHE STRING "the Python package: AUTO (where Python.h is found), ON or OFF")
set_property(CACHE RUNG_PYTHON PROPERTY STRINGS AUTO ON OFF)
if(RUNG_PYTHON STREQUAL "OFF" OR CMAKE_CROSSCOMPILING OR RUNG_SANITIZE)
  return()
endif()

# The first python3 that has its headers, Debian's before others on PATH: it is what its
# python3-numpy is for.
find_program(RUNG_PYTHON_COMMAND python3 HINTS /usr/bin NO_DEFAULT_PATH)
find_program(RUNG_PYTHON_COMMAND python3)
mark_as_advanced(RUNG_PYTHON_COMMAND)
set(why_not "no python3")
if(RUNG_PYTHON_COMMAND)
  execute_process(COMMAND ${RUNG_PYTHON_COMMAND} ${PROJECT_SOURCE_DIR}/python/where.py
                          ${CMAKE_INSTALL_PREFIX}
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(why_not "${RUNG_PYTHON_COMMAND} is older than 3.11")
  if(found)
    list(GET found 0 python_include)
    list(GET found 1 python_packages)
    set(why_not "")
    if(NOT EXISTS "${python_include}/Python.h")
      set(why_not "no Python.h: install python3-dev")
    endif()
  endif()
endif()
if(why_not)
  if(RUNG_PYTHON STREQUAL "ON")
    message(FATAL_ERROR "RUNG_PYTHON is ON, but ${why_not}")
  endif()
  message(STATUS "Python package: not built (${why_not})")
  return()
endif()
set(RUNG_PYTHON_PACKAGES ${python_packages} CACHE STRING
    "where the Python package goes, under the prefix")

file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/src/*.c)
file(GLOB python_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/rung/*.py*
     ${PROJECT_SOURCE_DIR}/python/rung/py.typed)
set(RUNG_PYTHON_BUILT ${PROJECT_BINARY_DIR}/python)
add_library(rung_python MODULE ${python_sources})
target_link_libraries(rung_python PRIVATE rung_flags rung_shared)
target_include_directories(rung_python SYSTEM PRIVATE ${python_include})
# The library lies beside the extension (a wheel), or where the package was installed to, or where
# the loader looks.
file(RELATIVE_PATH to_library /prefix/${RUNG_PYTHON_PACKAGES}/rung
     /prefix/${CMAKE_INSTALL_LIBDIR})
set_target_properties(rung_python PROPERTIES PREFIX "" OUTPUT_NAME _rung SUFFIX .abi3.so
  LIBRARY_OUTPUT_DIRECTORY ${RUNG_PYTHON_BUILT}/rung INSTALL_RPATH "$ORIGIN;$ORIGIN/${to_library}")
add_custom_command(TARGET rung_python POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E copy_if_different ${python_files} ${RUNG_PYTHON_BUILT}/rung VERBATIM)
set_property(TARGET rung_python APPEND PROPERTY LINK_DEPENDS ${python_files})

# What pip and importlib.metadata know a package by.
set(metadata ${PROJECT_BINARY_DIR}/generated/rung-${PROJECT_VERSION}.dist-info)
configure_file(cmake/python-metadata.in ${metadata}/METADATA @ONLY)
file(CONFIGURE OUTPUT ${metadata}/entry_points.txt CONTENT "[pytest11]\nrung = rung.pytest_plugin\n")
install(TARGETS rung_python LIBRARY DESTINATION ${RUNG_PYTHON_PACKAGES}/rung COMPONENT python)
install(FILES ${python_files} DESTINATION ${RUNG_PYTHON_PACKAGES}/rung COMPONENT python)
install(DIRECTORY ${metadata} DESTINATION ${RUNG_PYTHON_PACKAGES} COMPONENT python)
