#!/usr/bin/env bash
# Updates the table in assets/docs/tokenizers.md with the test results.
#   tests/core/text/table.sh [BUILD_FOLDER]
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
build=${1:-$top/build}
page=$top/assets/docs/tokenizers.md
table=$(mktemp)
trap 'rm -f "$table"' EXIT
ATTNSCOPE_TOKENIZER_TABLE=$table "${ATTNSCOPE_TEST:-$build/tests/core/test_operations}" \
  --gtest_filter=TokenizerReferences.WriteTable >&2
page_text=$(awk -v table="$table" '
  /<!-- end of tokenizers -->/ { skip = 0 }
  !skip { print }
  /<!-- tokenizers:/ { skip = 1; while ((getline line < table) > 0) print line }
' "$page")
printf '%s\n' "$page_text" > "$page"
