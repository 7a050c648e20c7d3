#!/usr/bin/env bash
# Writes the README's table of tokenizers from what the tests measure.
#   tests/core/text/table.sh [BUILD_FOLDER]
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
build=${1:-$top/build}
table=$(mktemp)
trap 'rm -f "$table"' EXIT
ATTNSCOPE_TOKENIZER_TABLE=$table "${ATTNSCOPE_TEST:-$build/tests/core/test_operations}" \
  --gtest_filter=TokenizerReferences.MakeATable >&2
made=$(awk -v table="$table" '
  /<!-- end of tokenizers -->/ { skip = 0 }
  !skip { print }
  /<!-- tokenizers:/ { skip = 1; while ((getline line < table) > 0) print line }
' "$top/README.md")
printf '%s\n' "$made" > "$top/README.md"
