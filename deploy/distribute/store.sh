# shellcheck shell=bash
# Functions of `push` and `pull`. A store has a folder for each name of a snapshot file, and the folder `keys`:
#
#   ID.sqlite.zst          a file
#   FORMER..ID.sqlite.zst  a patch that makes it of the file pushed before
#   ID.meta                its description: lines `name value`, and `end DIGEST`, since stores may write in place
#   pointer, pin           the description of the latest; an id that overrides it
set -euo pipefail
shopt -s inherit_errexit
umask 027
export RCLONE_LOG_LEVEL=${RCLONE_LOG_LEVEL:-ERROR}
export RCLONE_RETRIES=${RCLONE_RETRIES:-1} RCLONE_CONTIMEOUT=${RCLONE_CONTIMEOUT:-10s} # The timer tries again.
exec 3>&1

root=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
node=$root/node_modules/.bin/node
[[ -x $node ]] || node=node
if [[ ${1-} == --help ]]; then
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0" && exit
fi

wrong_usage() {
  echo "${0##*/}: $1; see ${0##*/} --help" >&2
  exit 2
}

# Checks that variables are set, and that folders exist.
require() { # VARIABLE…
  local folder
  for variable; do
    [[ -n ${!variable-} ]] || wrong_usage "$variable is not set"
    folder=${!variable}
    [[ $variable != *_FILE ]] || folder=$(dirname "$folder")
    [[ $variable == STORE || -d $folder ]] || wrong_usage "$variable is ${!variable}: no such folder"
    # Files of another user, such as root, would stop all later runs.
    [[ $variable != STATE_DIR || -O $folder || ${command-} == inspect ]] ||
      wrong_usage "STATE_DIR is $folder: run as its owner, $(stat -c %U "$folder")"
  done
}

# Sets the folders of a name, in the store and on this machine.
select_name() { # NAME
  [[ $1 =~ ^[A-Za-z0-9_][A-Za-z0-9._-]*$ && $1 != *.sqlite ]] ||
    wrong_usage "\"$1\" is not a name of letters, digits, '.', '_' and '-', without .sqlite"
  name=$1 remote=$STORE/$1 state=$STATE_DIR/${0##*/}/$1
}

# Runs a function until a command fails, alone for its name. Its standard error becomes one line. -e must be off.
run() { # FUNCTION CONSEQUENCE-OF-A-FAILURE
  local report status
  report=$(
    set -e
    exec 2>&1
    mkdir -p "$state"
    exec 9>>"$state/lock"
    flock -w 60 9 || fail 'another run does not end'
    "$1"
  )
  status=$?
  ((status == 0)) || report=${report:-a step failed}$'\n'$2
  [[ -z ${file-} ]] || report=${report//"$state/new"/"$file"}
  [[ -z $report ]] || echo "${0##*/}: $remote: $(sed -E 's,^[0-9/]{10} [0-9:]{8} ,,' <<<"$report" |
    awk '!seen[$0]++ { printf "%s%s", separator, $0; separator = "; " }')" >&2
  return $((status > 0))
}

fail() { # REASON
  echo "$1" >&2
  return 1
}

# Copies the pointer and the pin to the folder `store`, those that there are. A push may write the pointer meanwhile: the
# digest in it shows whether it is complete.
read_store() {
  local report status=0
  rm -rf "$state/store.new"
  mkdir "$state/store.new" || return
  report=$(rclone copy --include '/{pointer,pin}' --local-no-check-updated --ignore-checksum --ignore-size \
    "$remote" "$state/store.new" 2>&1) || status=$?
  ((status != 3)) || report='no such folder' # In place of three sentences of rclone.
  [[ -z $report ]] || echo "$report" >&2
  ((status == 0)) && rm -rf "$state/store" && mv -T "$state/store.new" "$state/store"
}

digest() { b2sum -l 256 | cut -d ' ' -f 1; }

is_complete() { [[ -e $1 && $(tail -n 1 "$1") == "end $(head -n -1 "$1" | digest)" ]]; }

# Prints a value of a description if it is safe as a part of a path.
field() { # DESCRIPTION NAME
  if is_complete "$1"; then sed -nE "s/^$2 ([0-9A-Za-z:. -]+)$/\1/p" "$1"; fi
}

# Writes the file ID to the state from a file of the store, whole or a patch of another file, if it has the digest.
restore() { # ID DIGEST FILE [BASE]
  local found part=$state/part
  found=$(rclone cat "$remote/$3" | zstd -dcq | if (($# == 4)); then zstd -dcq --long=31 --patch-from="$4"; else cat; fi |
    tee "$part" | digest) && [[ $found == "$2" ]] && mv "$part" "$state/$1.sqlite" && return
  rm -f "$part"
  fail "$3 was not received, or is cut or altered"
}

# Publishes a file, and prints a JSON object. Lines of progress are removed from standard error.
publish() { # FOLDER FILE OPTION…
  { SNAPSHOT_DIR=$1 "$node" "$root/scripts/snapshot.ts" publish "$2" "${@:3}" --as "$name" --json 2>&1 >&4 |
    sed -E '/^(copying|checking) .*(file| %\))$/d' >&2; } 4>&1
}

# Copies a keys file, which may be written at the same time. Fails if the process would refuse it.
copy_keys() { # FROM TO
  # shellcheck disable=SC2016
  "$node" --input-type=module -e '
    const [root, from, to] = process.argv.slice(1);
    process.on("uncaughtException", ({ message }) => process.exit(console.error(`${from}: ${message}`) ?? 1));
    const { withKeysFile } = await import(`${root}/src/keys/open-keys-file.ts`);
    const bytes = withKeysFile(from, "recover", (database) => database.serialize());
    (await import("node:fs")).writeFileSync(to, bytes, { flush: true });
    (await import(`${root}/src/keys/keys-file.ts`)).readKeys(to);' "$root" "$@"
}
