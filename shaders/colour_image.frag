// A picture in its own colours: the pixel under the centre of one of the page where it is enlarged,
// about the mean of those that it covers where it is shrunk (the texture's filters).

layout(location = 0) uniform sampler2D image;  // row 0 topmost
layout(location = 2) uniform ivec2 corner;     // upper left, in framebuffer pixels from below
layout(location = 3) uniform ivec2 size;       // of the box, in framebuffer pixels

layout(location = 0) out vec4 colour;

void main() {
  vec2 at = vec2(gl_FragCoord.x - float(corner.x), float(corner.y) - gl_FragCoord.y);
  colour = texture(image, at / vec2(size));
}
