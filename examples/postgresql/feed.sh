#!/usr/bin/env bash
# Exports the database, builds a snapshot and publishes it: everything the first time, then the changes since the last
# feed. The database is that of libpq's variables (PGHOST, PGDATABASE, …), prepared with views.sql and changes.sql.
#
# usage: feed.sh [--full] [--allow-shrink]
#   --full          exports everything
#   --allow-shrink  publishes although an organization or half of a collection is missing
# environment: FEED_DIR   folder of the feed's own files, by default data/feed
#              FEED_NAME  name of the published snapshot, by default main
#              FEED_KEEP  number of published snapshots to keep for a rollback, by default 3
#              SNAPSHOT_DIR and others, as for `npm run snapshot`
#
# The exit status is 0 when the snapshot is published or feeds are paused, 1 when it is not, 2 on wrong usage. A feed
# that is killed leaves the published snapshot or a newer one, and the next feed makes up for it:
#
#   state       source, transaction id and base of the last feed; replaced by one rename, after the publication
#   built/      the latest snapshots, by the times of their exports; `state` names the base of the next feed. On the disk
#               of SNAPSHOT_DIR they are links: the latest is the published file itself
#   export/     the lines of this feed
#   paused      while an operator keeps this file, no feed publishes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fail() {
  echo "feed.sh: $1" >&2
  exit "${2:-1}"
}

full=
publication=()
for option in "$@"; do
  case $option in
    --full) full=yes ;;
    --allow-shrink) publication+=(--allow-shrink) ;;
    *) fail "$option is not an option; usage: feed.sh [--full] [--allow-shrink]" 2 ;;
  esac
done

folder=${FEED_DIR:-data/feed}
name=${FEED_NAME:-main}
keep=${FEED_KEEP:-3}
[[ $keep =~ ^[1-9][0-9]*$ ]] || fail "FEED_KEEP must be a number of at least 1, not $keep" 2
mkdir -p "$folder/export" "$folder/built"
folder=$(realpath "$folder")
example=$PWD/examples/postgresql

# Children inherit the lock, so that the rest of a killed feed keeps it until they have ended.
exec 9>"$folder/lock"
flock --nonblock 9 || fail "$folder: another feed is running"

# A rollback lasts until the operator ends the pause.
pause() {
  [[ -e $folder/paused ]] || return 0
  echo "feed.sh: paused; remove $folder/paused to continue"
  exit 0
}
pause

sql() { psql --no-psqlrc --quiet "$@"; }

# The last feed. Without a complete state and its base, everything is exported.
source='' since='' base=''
if [[ -f $folder/state ]]; then
  read -r source since base <"$folder/state" || fail "$folder/state: is damaged; remove it to export everything"
  [[ -f $folder/built/$base ]] || source='' base=''
fi
[[ -z $full ]] || source=''

rm -rf "$folder"/export/*
exported=$(cd "$folder/export" && sql -v source="$source" -v since="$since" -f "$example/export.sql") ||
  fail 'the export failed'
read -r extent source since as_of <<<"$exported"

output=${as_of//[:.]/-}.sqlite
earlier=()
if [[ $extent == changes ]]; then
  earlier=(--base "$folder/built/$base")
elif [[ -n $base ]]; then
  # Finds the records that changed or are gone.
  earlier=(--previous "$folder/built/$base")
fi
npm run --silent snapshot -- build --input "$folder/export" --as-of "$as_of" "${earlier[@]}" --publish "$name" "${publication[@]}" ||
  fail "nothing was published; $folder/export has the lines"
published=${SNAPSHOT_DIR:-data/snapshots}/$name.sqlite
ln -f "$published" "$folder/built/$output" 2>/dev/null || cp --reflink=auto "$published" "$folder/built/$output"

# From here on, the next feed continues with this one.
echo "$source $since $output" >"$folder/state.new"
mv "$folder/state.new" "$folder/state"
find "$folder/built" -name '*.sqlite' | sort | head -n "-$keep" | xargs -r rm
sql -c "SELECT feed.trim('$since')" >/dev/null || fail 'the snapshot is published, but old changes were not trimmed'
echo "feed.sh: $extent since transaction $since"
