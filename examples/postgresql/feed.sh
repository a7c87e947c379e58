#!/usr/bin/env bash
# Exports the database, builds a snapshot and publishes it: everything the first time, then the changes since the last
# feed. The database is that of libpq's variables (PGHOST, PGDATABASE, …), prepared with views.sql and changes.sql.
#
# usage: feed.sh [--full] [--allow-shrink] [--rollback]
#   --full          exports everything
#   --allow-shrink  publishes although an organization, or more than half of a collection, is missing
#   --rollback      exports everything, and publishes although the clock is behind the published snapshot
# environment: FEED_DIR      folder of the feed's own files, by default data/feed
#              FEED_NAME     name of the published snapshot, by default main
#              FEED_KEEP     number of published snapshots to keep for a rollback, by default 3
#              FEED_INVALID  hold-back (default): an organization with bad lines keeps its last state, and the others go
#                            on; stop: a bad line fails the feed
#              SNAPSHOT_DIR and others, as for `npm run snapshot`
#
# The exit status is 0 when the snapshot is published or feeds are paused, 1 when it is not, 2 on wrong usage. A feed
# that is killed leaves the published snapshot or a newer one, and the next feed makes up for it:
#
#   state             the token of the last complete feed, the latest time of any, and the base of the next feed; replaced
#                     by a rename, before the build and after the publication
#   built/            the latest snapshots, by the times of their exports. On the disk of SNAPSHOT_DIR they are links:
#                     the latest is the published snapshot itself, a whole file and that of its changes
#   export/           the lines of this feed
#   held-back.ndjson  the organizations that the last build held back
#   paused            while an operator keeps this file, no feed publishes
#
# SNAPSHOT_DIR/NAME.feed.json tells the process how the last feed went.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

wrong_usage() {
  echo "feed.sh: $1" >&2
  exit 2
}

requested='' rollback=''
publication=()
for option in "$@"; do
  case $option in
    --full) requested=$option ;;
    --allow-shrink) publication+=("$option") ;;
    --rollback) requested=$option rollback=$option ;;
    *) wrong_usage "$option is not an option; usage: feed.sh [--full] [--allow-shrink] [--rollback]" ;;
  esac
done

folder=${FEED_DIR:-data/feed}
name=${FEED_NAME:-main}
keep=${FEED_KEEP:-3}
published=${SNAPSHOT_DIR:-data/snapshots}/$name.sqlite
export PGCONNECT_TIMEOUT=${PGCONNECT_TIMEOUT:-10}
[[ $keep =~ ^[1-9][0-9]*$ ]] || wrong_usage "FEED_KEEP must be a number of at least 1, not $keep"
[[ -d $(dirname "$published") ]] || wrong_usage "SNAPSHOT_DIR is $(dirname "$published"): no such folder"
mkdir -p "$folder/export" "$folder/built"
folder=$(realpath "$folder")
held=$folder/held-back.ndjson
case ${FEED_INVALID:-hold-back} in
  hold-back) invalid=(--hold-back "$held") ;;
  stop) invalid=() ;;
  *) wrong_usage "FEED_INVALID must be hold-back or stop, not $FEED_INVALID" ;;
esac
example=$PWD/examples/postgresql

# Children inherit the lock, so that the rest of a killed feed keeps it until they have ended.
exec 9>"$folder/lock"
flock --nonblock 9 || {
  echo "feed.sh: $folder: another feed is running" >&2
  exit 1
}

# The report is written at the start and at the end. A feed that is killed leaves that of its start.
report=${published%.sqlite}.feed.json
text() { printf '"%s"' "$(tr '\n\t' '  ' <<<"$1" | tr -d '\000-\037' | cut -c 1-500 | sed 's/[\\"]/\\&/g; s/ *$//')"; }
now() { date -u +'"%FT%TZ"'; }
member() { sed -nE "s/.*\"$1\":(null|\"([^\"\\]|\\\\.)*\").*/\1/p" "$report" 2>/dev/null | grep . || echo null; }
write_report() { # ENDED-AT PUBLISHED-AT FAILED-AT FAILURE PAUSED-AT
  local new
  new=$(dirname "$report")/.$name.feed.json
  printf '{"startedAt":%s,"endedAt":%s,"publishedAt":%s,"failedAt":%s,"failure":%s,"pausedAt":%s,"heldBack":[%s]}\n' \
    "$started" "$@" "$(paste -sd , "$held")" >"$new"
  mv "$new" "$report"
}
finish() {
  if (($? > 0)); then
    write_report "$(now)" "$(member publishedAt)" "$(now)" "$(text "${failure:-the feed was ended}")" null
  elif [[ -e $folder/paused ]]; then
    write_report "$(now)" "$(member publishedAt)" null null "$(date -u -r "$folder/paused" +'"%FT%TZ"')"
  else
    write_report "$(now)" "$(now)" null null null
    snapshot tidy "$name" --grown || echo 'feed.sh: the snapshot is published, but its changes grow' >&2
  fi
}
started=$(now) failure=''
touch "$held"
write_report null "$(member publishedAt)" "$(member failedAt)" "$(member failure)" "$(member pausedAt)"
trap finish EXIT

fail() { # REASON [DETAIL]
  failure=$1${2:+: $2}
  echo "feed.sh: $1" >&2
  exit 1
}

# Runs a program. The first and the last line of its standard error are the detail of a failure.
run() { # REASON COMMAND…
  local status=0
  "${@:2}" 2>"$folder/errors" || status=$?
  cat "$folder/errors" >&2
  ((status == 0)) || fail "$1" "$(sed -n '1p;$p' "$folder/errors" | uniq | paste -sd ' ')"
}
sql() { psql --no-psqlrc --quiet --no-align --tuples-only -v ON_ERROR_STOP=1 "$@"; }
# As `npm run snapshot`, without the start of npm.
snapshot() {
  env NODE_COMPILE_CACHE=node_modules/.cache/compiled \
    node_modules/.bin/node --max-semi-space-size=4 scripts/snapshot.ts "$@"
}

# A rollback lasts until the operator ends the pause.
if [[ -e $folder/paused ]]; then
  echo "feed.sh: paused; remove $folder/paused to continue"
  exit 0
fi

# The last feed. Without its base, everything is exported.
state=$folder/state
write_state() { # TOKEN LATEST BASE
  echo "$@" >"$state.new"
  mv "$state.new" "$state"
}
last='' latest='' base=''
if [[ -f $state ]]; then
  read -r last latest base <"$state" || true
  [[ $last =~ ^[0-9a-f-]{36}$ ]] || fail "$state: is damaged, or of another version; remove it to export everything"
fi
[[ -f $folder/built/$base ]] || requested=${requested:-there is no earlier snapshot} base=''
[[ -z $rollback ]] || latest='' base='' invalid=()

rm -rf "$folder"/export/*
cd "$folder/export"
run 'the export failed' sql -v last="$last" -v requested="$requested" -v after="$latest" -f "$example/export.sql" \
  >"$folder/exported"
cd "$OLDPWD"
read -r last token as_of reason <"$folder/exported"
# A later snapshot is never older, also if the clock is set back.
write_state "$last" "$as_of" "$base"

output=$folder/built/${as_of//[:.]/-}.sqlite
((${#invalid[@]} > 0)) || : >"$held"
options=(--input "$folder/export" --as-of "$as_of" --allow-future)
if [[ -n $rollback ]]; then
  run 'nothing was built' snapshot build "${options[@]}" --output "$output"
  run 'nothing was published' snapshot publish "$output" --as "$name" --rollback "${publication[@]}"
else
  if [[ -z $reason ]]; then
    options+=(--base "$folder/built/$base")
  elif [[ -n $base ]]; then
    # Finds the records that changed or are gone.
    options+=(--previous "$folder/built/$base")
  fi
  run 'nothing was published' snapshot build "${options[@]}" --publish "$name" --no-tidy "${publication[@]}" "${invalid[@]}"
fi
# The changes first, as all readers open the files.
for suffix in changes sqlite; do
  [[ ! -e ${published%.sqlite}.$suffix ]] ||
    ln -f "${published%.sqlite}.$suffix" "${output%.sqlite}.$suffix" 2>/dev/null ||
    cp --reflink=auto "${published%.sqlite}.$suffix" "${output%.sqlite}.$suffix"
done

# From here on, the next feed continues with this one.
HELD=$held run 'the snapshot is published, but the next feed repeats it' sql -v token="$token" <<'END'
\set held `cat "$HELD"`
SELECT feed.complete(:'token', :'held')
END
write_state "$token" "$as_of" "$(basename "$output")"
find "$folder/built" -name '*.sqlite' | sort -r | awk -v output="$output" -v keep="$keep" '$0 > output || ++n > keep' |
  xargs -r rm
for changes in "$folder"/built/*.changes; do
  [[ -e ${changes%changes}sqlite ]] || rm -f "$changes"
done
echo "feed.sh: ${reason:+everything: }${reason:-changes}"
