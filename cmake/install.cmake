# What `make install` puts where. The package files find their prefix from where they lie, so that
# a tree may be moved or installed under another prefix than it was configured for.
include(CMakePackageConfigHelpers)

set(libraries rung_shared rung_static)
foreach(part IN LISTS rung_parts)
  list(APPEND libraries ${part}_shared ${part}_static)
endforeach()
# install_library(TARGET COMPONENT): its shared form; what one links with is for development.
function(install_library target component)
  install(TARGETS ${target}_shared ${target}_static
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
                  NAMELINK_COMPONENT development
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endfunction()
install_library(rung library)
foreach(part IN LISTS rung_parts)
  string(REGEX REPLACE "^rung_(.*)_part$" "\\1" component ${part})
  install_library(${part} ${component})
endforeach()
foreach(name IN LISTS rung_mpi_parts)
  install(TARGETS rung_mpi_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name})
endforeach()
install(FILES include/rung/rung.h include/rung/ranks.h include/rung/mpi.h include/rung/nccl.h
              include/rung/lab.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rung COMPONENT development)
# The manual of the library. A page of several calls is there under each name that its NAME lists:
# links, as Debian has them.
set(rung_manual librung rung_correlate rung_histogram rung_matmul rung_open rung_pairs rung_ranks
    rung_reduce rung_scan rung_stencil)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man3)
foreach(page IN LISTS rung_manual)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS man/${page}.3)
  install(FILES man/${page}.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT development)
  file(READ man/${page}.3 text)
  string(REGEX MATCH "\n\\.SH NAME\n[^\\]*" names "${text}")
  string(REGEX MATCHALL "rung_[a-z_]+" names "${names}")
  list(REMOVE_ITEM names ${page})
  foreach(name IN LISTS names)
    file(CREATE_LINK ${page}.3 ${PROJECT_BINARY_DIR}/man3/${name}.3 SYMBOLIC)
    install(FILES ${PROJECT_BINARY_DIR}/man3/${name}.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3
            COMPONENT development)
  endforeach()
endforeach()
if(TARGET rung_command)
  # The command finds the library from where it lies itself.
  file(RELATIVE_PATH to_library ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(rung_command PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  install(TARGETS rung_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  install(FILES man/rung.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
  install(FILES completions/rung.bash RENAME rung
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          COMPONENT command)
  install(FILES completions/rung.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
          COMPONENT command)
  install(FILES completions/_rung DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
          COMPONENT command)
endif()

# What a static program links: the parts, which the linker is told to take in, then the library, then
# what they stand on.
set(static_flags ${rung_part_options})
set(static_libraries "")
foreach(part IN LISTS rung_parts)
  get_target_property(name ${part}_static OUTPUT_NAME)
  list(APPEND static_libraries ${name})
endforeach()
set(static_parts ${static_libraries})
list(APPEND static_libraries rung)
set(static_systems ${rung_libraries})
if(RUNG_WITH_CUDA)
  get_filename_component(cudart_dir ${CUDA_cudart_static_LIBRARY} DIRECTORY)
  list(APPEND static_flags -L${cudart_dir})
  list(APPEND static_systems cudart_static pthread dl rt)
endif()
if(RUNG_WITH_SIM)
  list(APPEND static_systems ${rung_sim_static_libraries})
endif()
list(REMOVE_DUPLICATES static_systems)
list(APPEND static_libraries ${static_systems})
list(TRANSFORM static_libraries PREPEND -l OUTPUT_VARIABLE static_libraries_flags)
string(JOIN " " RUNG_PC_PRIVATE ${static_flags} ${static_libraries_flags})

# Where dlpack/dlpack.h was found, for the library's users; nothing where every compiler looks.
set(RUNG_PC_DLPACK "")
if(NOT RUNG_DLPACK IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
  set(RUNG_PC_DLPACK " -I${RUNG_DLPACK}")
endif()

set(pc_dir ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH RUNG_PC_PREFIX ${pc_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" RUNG_PC_PREFIX "${RUNG_PC_PREFIX}")
configure_file(cmake/rung.pc.in rung.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/rung.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rung)
configure_package_config_file(cmake/rungConfig.cmake.in rungConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(rungConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rungConfig.cmake ${PROJECT_BINARY_DIR}/rungConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)
