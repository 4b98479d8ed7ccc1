#!/usr/bin/env bash
# Builds every fuzz target and runs each for a number of seconds (60 by default), seeded with the lit tests.
# A target whose edges stop growing in its first minute is broken: the last lines show them (cov:).
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
command -v cargo-fuzz >/dev/null || cargo install --locked cargo-fuzz

# cargo-fuzz instruments with unstable flags; this lets a stable compiler take them.
export RUSTC_BOOTSTRAP=1
cargo fuzz build --sanitizer none

for target in parse fixed_point verify filecheck; do
  corpus=fuzz/corpus/$target
  mkdir -p "$corpus"
  find lit-tests -name '*.hlo' -size -64k -exec cp -n {} "$corpus"/ \;
  log=$(mktemp)
  if ! cargo fuzz run --sanitizer none "$target" "$corpus" -- -max_total_time="$seconds" -max_len=8192 \
      -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 >"$log" 2>&1; then
    tail -60 "$log"
    echo "fuzz target $target failed"
    exit 1
  fi
  first=$(grep -o 'cov: [0-9]*' "$log" | head -1)
  last=$(grep -o 'cov: [0-9]*' "$log" | tail -1)
  runs=$(grep -o 'stat::number_of_executed_units: *[0-9]*' "$log" | grep -o '[0-9]*$')
  echo "$target: $runs runs, edges ${first#cov: } -> ${last#cov: }"
  rm -f "$log"
done
