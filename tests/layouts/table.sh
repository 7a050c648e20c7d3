#!/usr/bin/env bash
# Updates the table in assets/docs/layouts.md: tests/layouts/table.sh [BUILD_FOLDER]
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${1:-$top/build}
page=$top/assets/docs/layouts.md
rows=$(mktemp)
trap 'rm -f "$rows" "$rows.table"' EXIT
ATTNSCOPE_LAYOUT_TABLE=$rows "$build/tests/core/test_models" --gtest_brief=1 \
  --gtest_filter='*CheckpointLayouts.Compute*' >&2
{
  echo '| Layout | Models | Attention | States | Logits |'
  echo '| --- | --- | --- | --- | --- |'
  sort "$rows"
} > "$rows.table"
made=$(awk -v table="$rows.table" '
  /<!-- end of layouts -->/ { skip = 0 }
  !skip { print }
  /<!-- layouts:/ { skip = 1; while ((getline line < table) > 0) print line }
' "$page")
printf '%s\n' "$made" > "$page"
