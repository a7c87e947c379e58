#!/bin/sh
# Boots a copy of this system with systemd as process 1, without a network, runs a program of bash in it as root, and
# discards the copy. The repository is /opt/foyer. Only root can do this. usage, in a folder of its own:
#
#   boot.sh REPOSITORY <PROGRAM   prints the output of the program, and exits with its status
set -eu

# Mounts are those of this process, and end with it.
[ -n "${INSIDE-}" ] || INSIDE=yes exec unshare --mount "$0" "$@"

mkdir copy groups
mount -t tmpfs copy copy
mkdir copy/changes copy/work copy/root
mount -t overlay overlay -o lowerdir=/,upperdir=copy/changes,workdir=copy/work copy/root
cat >copy/root/program
: >copy/root/output
: >copy/root/etc/fstab
cat >copy/root/etc/systemd/system/program.service <<END
[Unit]
AllowIsolate=yes
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
ExecStart=/bin/bash -e /program
WorkingDirectory=/
StandardOutput=append:/output
StandardError=inherit
END

# A control group of its own, which is the root of the groups of the booted system.
mount -t cgroup2 cgroup2 groups
group=groups/$(basename "$PWD")
mkdir "$group"
status=0
# shellcheck disable=SC2016 # The inner shells expand these.
sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
  bwrap --die-with-parent --unshare-cgroup --unshare-ipc --unshare-net --unshare-pid --unshare-uts --as-pid-1 --cap-add ALL --clearenv --setenv container other \
  --bind copy/root / --proc /proc --ro-bind /proc/sys /proc/sys --dev /dev --perms 1777 --tmpfs /dev/shm --ro-bind /sys /sys \
  --tmpfs /run --perms 1777 --tmpfs /tmp --ro-bind "$1" /opt/foyer \
  sh -c 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec /lib/systemd/systemd --unit=program.service' >systemd.log 2>&1 ||
  status=$?
cat copy/root/output
find "$group" -depth -type d -exec rmdir {} +
exit $status
