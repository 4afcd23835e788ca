#!/bin/sh
# Runs a command in an unpacked image as a container engine would, but with nothing beyond util-linux and iproute2:
#   container.sh ROOT DATA COMMAND…
# The command is process 1 of user 1000, without capabilities, with its own network, or with that of the process JOIN. ROOT is
# read-only, DATA is /data.
set -eu
root=$1 data=$2
if [ $$ -ne 1 ]; then
  spaces='unshare --mount --ipc --uts --pid --fork --kill-child'
  # shellcheck disable=SC2086 # words
  [ -n "${JOIN:-}" ] && exec nsenter --net="/proc/$JOIN/ns/net" $spaces "$0" "$@"
  # shellcheck disable=SC2086 # words
  exec $spaces --net "$0" "$@"
fi
shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --bind "$data" "$root/data"
mount -t tmpfs none "$root/tmp"
mount -t proc none "$root/proc"
mount --bind /dev "$root/dev"
ip link set lo up
exec chroot "$root" setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
  --pdeathsig KILL env -i --chdir=/data "$@"
