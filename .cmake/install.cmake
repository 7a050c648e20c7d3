# Installation: cmake --install BUILD --prefix PREFIX, and a Debian package by cpack -G DEB. The
# program finds its files in share/attnscope next to its bin/ (core/base/home.h).
include(GNUInstallDirs)

# Installation does not build the tests first.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

# The program generates its manual page and completions.
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
foreach(folder data experiments lessons models presets samples stores texts)
  install(DIRECTORY assets/${folder} DESTINATION ${home}/assets)
endforeach()
install(FILES assets/pictures/hills.png DESTINATION ${home}/assets/pictures)
# Pages of the window's menu item Help, Documentation.
install(DIRECTORY assets/docs DESTINATION ${home}/assets
        PATTERN "*.py" EXCLUDE PATTERN "*.sh" EXCLUDE)
install(DIRECTORY shaders DESTINATION ${home})
install(PROGRAMS app/get-model.sh DESTINATION ${home}/app)

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
set(CPACK_PACKAGE_DESCRIPTION "Choose an attention variant and a position encoding, type a text, and \
see what a trained model attends to, why, and at what cost. Figures are exported from the window or \
the command line.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# dpkg-shlibdeps finds linked libraries only. The OpenGL libraries are loaded at run time.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "fonts-inter, fonts-dejavu-core, libegl1, libgl1")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libgl1-mesa-dri")
if(NOT ATTNSCOPE_PORTABLE)
  string(APPEND CPACK_PACKAGE_DESCRIPTION " This one was built without ATTNSCOPE_PORTABLE, for the \
processor of the build machine.")
endif()
include(CPack)
