#!/bin/sh
# Prints the README's table of layouts: tests/layouts/table.sh BUILD_FOLDER
set -eu
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
ATTNSCOPE_LAYOUT_TABLE=$rows "$1/tests/core/test_models" --gtest_brief=1 \
  --gtest_filter='*CheckpointLayouts.Compute*' >&2
echo '| Layout | Models | Attention | States | Logits |'
echo '|---|---|---|---|---|'
sort "$rows"
