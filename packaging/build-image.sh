#!/bin/sh
# Builds the image of the Dockerfile without a container engine and without a registry of images: on Debian, as root, with
# buildah and debootstrap. The base is a minimal Debian with the Node of this project's own package.
#
#   packaging/build-image.sh [NAME]     (default: tranche)
#
# Exit code 69: a tool is missing, or Debian's packages cannot be downloaded.
set -eu
cd "$(dirname "$0")/.."
name=${1:-tranche}
npm=$(npm root -g)/npm
node=$(npm exec --offline -- node -p process.execPath)

for tool in buildah debootstrap; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install $tool" >&2; exit 69; }
done
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=libatomic1 bookworm "$root" >"$root.log" 2>&1 || { tail -5 "$root.log" >&2; exit 69; }
rm -rf "$root.log" "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/*
install -m 0755 "$node" "$root/usr/local/bin/node"
mkdir -p "$root/usr/local/lib/node_modules"
cp -r "$npm" "$root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
# npm trusts the authorities of this machine, such as that of a proxy.
mkdir -p "$root/usr/local/etc" "$root/etc/ssl/certs"
if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  echo cafile=/etc/ssl/certs/ca-certificates.crt >"$root/usr/local/etc/npmrc"
fi

base=$(buildah from scratch)
buildah copy --quiet "$base" "$root" / >/dev/null
buildah commit --quiet --rm "$base" "$name-base" >/dev/null
# The health check exists only in this format.
buildah build --quiet --isolation chroot --format docker --build-arg "NODE_IMAGE=localhost/$name-base" --tag "$name" .
