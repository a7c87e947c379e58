#!/usr/bin/env bash
# Measures the time from a commit in PostgreSQL to the first response that shows it, while feeds run one after the other
# and other transactions change 100 tickets a second. Needs curl, the environment of feed.sh, and a running replica that
# serves the feed, with RATE_LIMIT_PER_MINUTE=0.
#
# usage: freshness.sh ORIGIN CREDENTIAL [COUNT [random|event|latest]]
#   ORIGIN      such as http://127.0.0.1:3000
#   CREDENTIAL  of an organization of the database, as `npm run keys -- create` prints it
#   COUNT       number of commits to follow, by default 20
#   random      the others change any tickets, by default; event: those of one event; latest: those issued last
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

declare -A changed=(
  [random]='SELECT id FROM tickets TABLESAMPLE SYSTEM (1) ORDER BY random() LIMIT 100'
  [event]='SELECT ticket.id FROM tickets AS ticket JOIN order_items AS item ON item.id = ticket.order_item_id
    JOIN event_sessions AS session ON session.id = item.session_id WHERE session.event_id = (
      SELECT event_id FROM event_sessions WHERE id = (SELECT max(session_id) FROM order_items))
    ORDER BY random() LIMIT 100'
  [latest]='SELECT id FROM tickets ORDER BY issued_at DESC LIMIT 100'
)
others=${4:-random}
if (($# < 2 || $# > 4)) || [[ ! -v changed[$others] ]]; then
  echo 'usage: freshness.sh ORIGIN CREDENTIAL [COUNT [random|event|latest]]' >&2
  exit 2
fi
origin=$1 credential=$2 count=${3:-20}
organization=$(cut -d: -f3 <<<"$credential")

sql() { psql --no-psqlrc --quiet --no-align --tuples-only -v ON_ERROR_STOP=1 "$@"; }

# Changes the status of a ticket of the organization. Prints its id.
change() {
  sql -v organization="$organization" -v status="$1" <<<"
    UPDATE tickets SET status = :'status', updated_at = now() WHERE id = (
      SELECT id FROM tickets WHERE organization_id = :'organization' ORDER BY random() LIMIT 1)
    RETURNING id"
}

while ./feed.sh >/dev/null; do :; done &
feeds=$!
while sql -c "UPDATE tickets SET updated_at = now() WHERE id IN (${changed[$others]})"; do sleep 1; done &
writer=$!
trap 'kill "$feeds" "$writer" 2>/dev/null' EXIT

times=()
for ((i = 1; i <= count; i++)); do
  # Commits come at any moment of a feed.
  sleep "$((RANDOM % 3)).$((RANDOM % 10))"
  status="SEEN-$RANDOM-$i"
  ticket=$(change "$status")
  committed=$(date +%s%N)
  until response=$(curl --silent --show-error --fail --header "Authorization: Bearer $credential" \
    "$origin/v1/tickets/$ticket") || exit 1 && [[ $response == *"$status"* ]]; do
    kill -0 "$feeds" 2>/dev/null || { echo 'freshness.sh: a feed failed' >&2; exit 1; }
    sleep 0.05
  done
  times+=("$((($(date +%s%N) - committed) / 1000000))")
  echo "${times[-1]} ms"
done
mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)
echo "median ${times[(count - 1) / 2]} ms, longest ${times[-1]} ms"
