#!/usr/bin/env bash
# Checks views.sql, changes.sql and watched.sql, also for another schema: changes each column of some rows of each table
# that the views read, deletes rows, and prints each change that the feed would not notice, what could not be changed,
# and which indexes its look-ups lack. Everything is rolled back. The role needs all rights on the tables. What it
# changes is locked meanwhile: use a copy of the database with some thousand rows.
#
# usage: check.sh
#
# The exit status is 0 when everything is noticed, 1 when something is not or the check fails, 2 on wrong usage.
set -euo pipefail

if (($# > 0)); then
  echo 'usage: check.sh' >&2
  exit 2
fi
result=$(psql --no-psqlrc --quiet -f "$(dirname "${BASH_SOURCE[0]}")/check.sql") || {
  echo 'check.sh: the check failed' >&2
  exit 1
}
echo "$result"
! grep -qE '^(not noticed|0 changes)' <<<"$result"
