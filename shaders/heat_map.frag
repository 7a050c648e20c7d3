// Maps each pixel's number to the nearest of the 256 colours of a colour map.

layout(location = 0) uniform sampler2D numbers;  // a texel per pixel, row 0 at the top
layout(location = 1) uniform sampler2D colours;  // 256 x 1
layout(location = 2) uniform ivec2 corner;       // upper left, in pixels from the bottom left
layout(location = 3) uniform vec2 range;         // minimum, maximum
layout(location = 4) uniform vec4 missing;       // colour of NaN
layout(location = 5) uniform bool hollow;        // draws NaN only

layout(location = 0) out vec4 colour;

void main() {
  ivec2 at = ivec2(floor(gl_FragCoord.xy));
  float number = texelFetch(numbers, ivec2(at.x - corner.x, corner.y - 1 - at.y), 0).r;
  if (isnan(number)) {
    if (missing.a == 0.0) discard;
    colour = missing;
    return;
  }
  if (hollow) discard;
  float extent = range.y - range.x;
  float share = extent > 0.0 ? clamp((number - range.x) / extent, 0.0, 1.0) : 0.0;
  colour = texelFetch(colours, ivec2(int(floor(share * 255.0 + 0.5)), 0), 0);
}
