// Computes a pooled rectangle of one map. Invocation x: column of cells; y: row of cells. Computes
// scores of allowed pairs only, and their weights from row_sums as in weight.glsl. A cell is the
// weight of the largest magnitude, or the mean weight of all its pairs.
#include "attention.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer Queries { vec4 queries_of[]; };
layout(std430, binding = 1) readonly buffer Keys { vec4 keys_of[]; };
layout(std430, binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(std430, binding = 7) writeonly buffer Cells { float cells[]; };

#include "pair_score.glsl"
#include "weight.glsl"

uniform ivec4 tile_box;    // row, column, height, width in pairs
uniform ivec2 cell_steps;  // x: rows and columns per cell; y: 1: reads only the middle row
uniform ivec4 cell_area;   // cells to compute: first row and column, end of rows and columns

float products(int head, int i, int c) {
#if defined(CONTENT) || PRODUCTS > 0
  vec4 sum = vec4(0.0);
#endif
  float total = 0.0;
#ifdef CONTENT
  int q_row = (head * queries + i) * key_width, k_row = (kv_head(head) * keys + c) * key_width;
  for (int e = 0; e < key_width; ++e) sum += queries_of[q_row + e] * keys_of[k_row + e];
  total = dot(sum, vec4(1.0));
#ifdef RELU
  total = max(total, 0.0);
#endif
#endif
#if PRODUCTS > 0
  for (int p = 0; p < PRODUCTS; ++p) {
    int extra_head = head % product[p].w, width = product[p].z;
    int q_at = product[p].x + (extra_head * queries + i) * width;
    int k_at = product[p].y + (extra_head * keys + c) * width;
    sum = vec4(0.0);
    for (int e = 0; e < width; ++e) sum += vectors[q_at + e] * vectors[k_at + e];
    total += dot(sum, vec4(1.0));
  }
#endif
  return total;
}

float weight_of(int head, int i, int c) {
#ifdef TERMS
  float score = finish_score(products(head, i, c), head, i, c);
#else
  float score = products(head, i, c) * product_scale;
#endif
  return weight(score, row_sums[head * queries + i], head, i, c);
}

// A run of the pattern: columns x, x + z, ... below y.
ivec3 run_at(int r) {
  return ivec3(integers[runs + 3 * r], integers[runs + 3 * r + 1], integers[runs + 3 * r + 2]);
}

void main() {
  int head = head_first, step = cell_steps.x;
  int columns_of_cells = (tile_box.w + step - 1) / step;
  ivec2 cell = ivec2(gl_GlobalInvocationID.xy) + cell_area.yx;
  if (cell.x >= cell_area.w || cell.y >= cell_area.z) return;
  int i_begin = tile_box.x + cell.y * step, i_end = min(i_begin + step, tile_box.x + tile_box.z);
  int c_begin = tile_box.y + cell.x * step, c_end = min(c_begin + step, tile_box.y + tile_box.w);
  if (cell_steps.y == 1) {  // sampled
    i_begin += (i_end - i_begin) / 2;
    i_end = i_begin + 1;
  }
  float strongest = 0.0, sum = 0.0;
  for (int i = i_begin; i < i_end; ++i) {
    int row = pattern_heads == 1 ? i : (head % heads) * queries + i;
    for (int r = integers[starts + row]; r < integers[starts + row + 1]; ++r) {
      ivec3 run = run_at(r);
      if (run.x >= c_end) break;  // runs are sorted by their start
      int c = run.x >= c_begin ? run.x : run.x + (c_begin - run.x + run.z - 1) / run.z * run.z;
      for (int end = min(run.y, c_end); c < end; c += run.z) {
        float w = weight_of(head, i, c);
        sum += w;
        if (abs(w) > abs(strongest) || (abs(w) == abs(strongest) && w > strongest)) strongest = w;
      }
    }
  }
#ifdef MEAN
  cells[cell.y * columns_of_cells + cell.x] = sum / float((i_end - i_begin) * (c_end - c_begin));
#else
  cells[cell.y * columns_of_cells + cell.x] = strongest;
#endif
}
