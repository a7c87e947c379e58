#!/bin/sh
# Builds the images of deploy/container as an ordinary user, from a base of Debian's packages, or runs a command with one.
# The user is `nobody`, with subordinate ids such as `useradd` gives. usage, in a folder of its own, as root:
#
#   images.sh REPOSITORY build NODE                         writes the configuration of each image to IMAGE.json
#   images.sh REPOSITORY run IMAGE USER GROUP DIR COMMAND…  with a read-only root, and `files` as /var/lib/foyer
# shellcheck disable=SC2016 # The inner shells expand these.
set -eu
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot

as_user() {
  unshare --mount sh -c 'mount --bind ids /etc/subuid && mount --bind ids /etc/subgid && mount --bind "$0" context &&
    exec setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME="$PWD/home" XDG_RUNTIME_DIR="$PWD/home" "$@"' "$@"
}

repository=$1 mode=$2
shift 2
if [ "$mode" = run ]; then
  as_user "$repository" buildah unshare sh -c 'root=$(buildah mount "$0") && user=$1 group=$2 dir=$3 && shift 3 &&
    exec bwrap --die-with-parent --bind "$root" / --proc /proc --dev /dev --perms 1777 --tmpfs /tmp --ro-bind files /var/lib/foyer \
      --remount-ro / --chdir "$dir" setpriv --reuid="$user" --regid="$group" --clear-groups --bounding-set=-all \
      --no-new-privs env -i "$@"' "$@"
  exit
fi

mkdir base context home
chown nobody home
echo nobody:100000:65536 >ids
printf 'registry=%s\ncafile=/etc/ssl/certs/ca-certificates.crt\n' "$(npm config get registry)" >npmrc
# The Node and the npm of this machine, since Debian's are older, and its certificates.
npm=$(realpath "$(command -v npm)")
mmdebstrap --quiet --variant=minbase --skip=output/dev --include=ca-certificates,libatomic1,libstdc++6 \
  --customize-hook="cp '$1' \"\$1/usr/local/bin\" && cp -r '${npm%/bin/*}' \"\$1/usr/local/lib\"" \
  --customize-hook='ln -s ../lib/npm/bin/npm-cli.js "$1/usr/local/bin/npm"' \
  --customize-hook='cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs"' bookworm base/base.tar
printf 'FROM scratch\nADD base.tar /\n' >base/Containerfile
as_user "$repository" buildah build --quiet --tag base base
for image in foyer pull; do
  as_user "$repository" buildah build --quiet --format docker --file context/deploy/container/Containerfile \
    --build-arg BASE=localhost/base --secret id=npmrc,src=npmrc --target "$image" --tag "$image" context
  as_user "$repository" buildah from --name "$image" "localhost/$image"
  as_user "$repository" buildah inspect --type image "$image" >"$image.json"
done
