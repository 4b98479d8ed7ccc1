#!/usr/bin/env bash
# Builds every fuzz target and runs each for a number of seconds (60 by default), three at a time, seeded with the lit
# tests and with what earlier runs found (fuzz/seeds). A target whose edges stop growing in its first minute is broken:
# the last lines show them (cov:). `tools/fuzz.sh build` only builds.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || targets=(parse fixed_point verify filecheck proto passes)
command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz

# cargo-fuzz instruments with unstable flags; this lets a stable compiler take them.
export RUSTC_BOOTSTRAP=1
cargo fuzz build --sanitizer none
[ "$seconds" != build ] || exit 0

run() {
  target=$1
  corpus=fuzz/corpus/$target
  mkdir -p "$corpus" "fuzz/artifacts/$target"
  # What isn't text can't begin with tests.
  seeds=("fuzz/seeds/$target"); [ "$target" = passes ] || seeds+=(lit-tests)
  find "${seeds[@]}" -type f -size -64k -exec cp -n {} "$corpus"/ \; 2>/dev/null || true
  log=$(mktemp)
  if ! "fuzz/target/$(rustc -vV | sed -n 's/^host: //p')/release/$target" "$corpus" -max_total_time="$seconds" \
      -max_len=8192 -seed=1 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="fuzz/artifacts/$target/" \
      >"$log" 2>&1; then
    tail -60 "$log"
    echo "fuzz target $target failed"
    exit 1
  fi
  first=$(grep -m1 -o 'cov: [0-9]*' "$log")
  last=$(grep -o 'cov: [0-9]*' "$log" | tail -1)
  runs=$(grep -o 'stat::number_of_executed_units: *[0-9]*' "$log" | grep -o '[0-9]*$')
  echo "$target: $runs runs, edges ${first#cov: } -> ${last#cov: }"
  rm -f "$log"
}
export -f run
export seconds
printf '%s\n' "${targets[@]}" | xargs -P3 -I{} bash -euo pipefail -c 'run {}'
