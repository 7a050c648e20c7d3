// Disables dlclose() in sanitizer builds. LeakSanitizer reports leaks at exit and cannot name a
// leak's source in an unloaded library. OpenGL libraries would be unloaded with the window. See
// leaks.supp.
extern "C" int dlclose(void*) noexcept;
extern "C" int dlclose(void*) noexcept {
  return 0;
}
