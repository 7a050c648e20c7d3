#!/usr/bin/env bash
# Makes the pictures of the documentation, except window.png: a screenshot of the first start with
# SmolLM2 (attnscope --size 1600x1000 --scale 1 --no-tour) and the pointer on the marked pair.
#   assets/docs/pictures/make.sh [PROGRAM]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=${1:-$here/../../../build/attnscope}
text="The lamp went out, and the old sailor lit it again with his left hand."
story=$(cat "$here/../../samples/07-lamp.txt")

render() { "$program" render "$@"; }

# The model of map.png is that of the first start.
smollm2=$("$here/../../../app/get-model.sh" smollm2 --path) || { echo "run app/get-model.sh smollm2 first" >&2; exit 1; }
render --model "$smollm2" --text "The old sailor gave the girl his lamp because she was afraid of the dark." \
  --view map --layer 4 --head 8 --pin 9,5 --width 720 --height 540 --scale 1 -o "$here/map.png"
render --text "$text" --variant lsh --view mechanism --width 720 --height 540 --scale 1 -o "$here/mechanism.png"
render --text "$text" --view rope --width 720 --height 540 --scale 1 -o "$here/rope.png"
render --text "The old sailor lit it again." --view flow --width 1080 --height 720 --scale 1 -o "$here/flow.png"
render --text "$text" --compare-variant local,window=2 --view compare --width 720 --height 540 --scale 1 -o "$here/compare.png"
render --model memory-compressive --text "$story" --segment 2 --view memory --width 720 --height 540 --scale 1 -o "$here/memory.png"
render --text "$text" --variant local,window=4 --view map --layer 2 --head 4 --animate variant.window=1:16 --frames 32 \
  --width 720 --height 540 --scale 1 -o "$here/window-size.gif"

# One picture per method: the gallery's pictures in the light theme.
gallery=$(mktemp -d)
trap 'rm -rf "$gallery"' EXIT
"$program" gallery "$gallery" --scale "${ATTNSCOPE_PICTURE_SCALE:-0.75}" > /dev/null
mkdir -p "$here/methods"
for picture in "$gallery"/variant-*.png "$gallery"/position-*.png; do
  case $picture in
    *-dark.png) ;;
    *) cp "$picture" "$here/methods/" ;;
  esac
done
du -sh "$here"
