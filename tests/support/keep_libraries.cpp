// Disables dlclose in sanitizer builds: LeakSanitizer reports at exit and can name the source of a
// leak only while its library is loaded, but OpenGL libraries are unloaded with the window. See
// leaks.supp.
extern "C" int dlclose(void*) noexcept;
extern "C" int dlclose(void*) noexcept {
  return 0;
}
