// An image in its own colours: nearest pixel if enlarged, approximately the mean of the covered
// pixels if shrunk (the texture's filters).

layout(location = 0) uniform sampler2D image;  // row 0 at the top
layout(location = 2) uniform ivec2 corner;     // upper left, in pixels from the bottom left
layout(location = 3) uniform ivec2 size;       // size of the box, in framebuffer pixels

layout(location = 0) out vec4 colour;

void main() {
  vec2 at = vec2(gl_FragCoord.x - float(corner.x), float(corner.y) - gl_FragCoord.y);
  colour = texture(image, at / vec2(size));
}
