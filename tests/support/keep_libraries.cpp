// Linked into the program where sanitizers watch it: what was loaded stays. LeakSanitizer counts
// leaks at the very end and knows a library's by its name, which it cannot find once the library is
// gone, as OpenGL's are when the window has closed. See leaks.supp.
extern "C" int dlclose(void*) noexcept;
extern "C" int dlclose(void*) noexcept {
  return 0;
}
