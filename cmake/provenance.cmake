# cmake -D SOURCE= -D GIT= -D TEMPLATE= -D OUTPUT= -D RUNG_BUILD_...= -P provenance.cmake
# Writes rung_build.h, and touches it only where something changed.
set(RUNG_BUILD_COMMIT unknown)
# A .git above the tree belongs to another project: an unpacked archive has no commit.
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12
                  OUTPUT_VARIABLE said RESULT_VARIABLE failed ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed AND said)
    set(RUNG_BUILD_COMMIT ${said})
  endif()
endif()
foreach(name COMMIT COMPILER FLAGS CUDA TYPE)
  string(REGEX REPLACE "([\"\\\\])" "\\\\\\1" RUNG_BUILD_${name} "${RUNG_BUILD_${name}}")
endforeach()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
