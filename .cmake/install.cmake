# cmake --install BUILD --prefix PREFIX, and the Debian package that cpack -G DEB makes of the same.
# The program finds its files in share/attnscope beside the bin/ that it lies in (core/base/home.h).
include(GNUInstallDirs)

# Packages are made of what is built, without the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

# The manual page and the completions are what the program says of its own commands.
set(pages ${PROJECT_BINARY_DIR}/pages)
set(page_files ${pages}/attnscope.1 ${pages}/attnscope.bash ${pages}/_attnscope
               ${pages}/attnscope.fish)
add_custom_command(OUTPUT ${page_files}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}
  COMMAND attnscope manual -o ${pages}/attnscope.1
  COMMAND attnscope completion bash -o ${pages}/attnscope.bash
  COMMAND attnscope completion zsh -o ${pages}/_attnscope
  COMMAND attnscope completion fish -o ${pages}/attnscope.fish
  DEPENDS attnscope COMMENT "Manual page and completions" VERBATIM)
add_custom_target(attnscope_pages ALL DEPENDS ${page_files})

install(TARGETS attnscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(home ${CMAKE_INSTALL_DATADIR}/attnscope)
foreach(folder lessons models presets samples stores)
  install(DIRECTORY assets/${folder} DESTINATION ${home}/assets)
endforeach()
install(FILES assets/pictures/hills.png DESTINATION ${home}/assets/pictures)
install(DIRECTORY shaders DESTINATION ${home})

install(FILES assets/desktop/attnscope.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES assets/desktop/attnscope.svg
        DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES ${pages}/attnscope.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${pages}/attnscope.bash RENAME attnscope
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages}/_attnscope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${pages}/attnscope.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME attnscope)
set(CPACK_PACKAGE_VENDOR "the attnscope developers")
set(CPACK_PACKAGE_CONTACT "the attnscope developers <attnscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "laboratory for transformer attention")
set(CPACK_PACKAGE_DESCRIPTION "Pick an attention variant and a positional encoding, type a text, and \
see at once what a trained model attends to, why, and what it costs. Pictures go into files, from \
the window or from the command line.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# Libraries that are linked are found by dpkg-shlibdeps; OpenGL's are loaded when a window opens.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "fonts-dejavu-core, libegl1, libgl1")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libgl1-mesa-dri")
if(NOT ATTNSCOPE_PORTABLE)
  string(APPEND CPACK_PACKAGE_DESCRIPTION " This one was built without ATTNSCOPE_PORTABLE, for the \
processor of the machine that made it.")
endif()
include(CPack)
