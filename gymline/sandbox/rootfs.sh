#!/bin/sh
# Makes a Debian root in TARGET. Runs as root in a mount namespace of its own, so its mounts end with it.
# Usage: rootfs.sh TARGET SUITE MIRROR SOURCES HOST_APT_CONF CA_BUNDLE PACKAGE...
set -eu
target=$1 suite=$2 mirror=$3 sources=$4 host_apt_conf=$5 ca_bundle=$6
shift 6
here=$(dirname "$0")

echo "debootstrap $suite"
debootstrap --variant=minbase --include=ca-certificates "$suite" "$target" "$mirror"

# How the host reaches its mirror (proxy, certificates) is lent while packages are fetched, then taken away.
cp "$host_apt_conf" "$target/etc/apt/apt.conf.d/90gymline-host"
mkdir -p "$target/run/gymline"
[ -z "$ca_bundle" ] || cp "$ca_bundle" "$target/run/gymline/ca.crt"
cp "$sources" "$target/etc/apt/sources.list"
cp "$here/rootfs.preferences.txt" "$target/etc/apt/preferences.d/gymline"
cp "$here/rootfs.dpkg.txt" "$target/etc/dpkg/dpkg.cfg.d/gymline"
printf '#!/bin/sh\nexit 101\n' >"$target/usr/sbin/policy-rc.d"
chmod 755 "$target/usr/sbin/policy-rc.d"
mount -t proc proc "$target/proc"

in_root() { chroot "$target" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"; }
echo "apt-get update"
in_root apt-get -q update
in_root apt-get -qy -o Dpkg::Use-Pty=0 dist-upgrade
echo "apt-get install $*"
in_root apt-get -qy -o Dpkg::Use-Pty=0 install --no-install-recommends "$@"
in_root apt-get clean
umount "$target/proc"

echo "clean"
cd "$target"
printf 'gymline:x:1000:1000::/tmp:/bin/sh\n' >>etc/passwd
printf 'gymline:x:1000:\n' >>etc/group
printf 'gymline\n' >etc/hostname
printf '127.0.0.1 localhost gymline\n::1 localhost\n' >etc/hosts
# Empty files, for the online stage to be mounted over.
: >etc/resolv.conf
: >etc/apt/apt.conf.d/90gymline-host
: >etc/machine-id
rm -rf dev run tmp var/tmp var/log var/cache var/lib/apt usr/share/doc usr/share/man usr/share/info \
    usr/share/locale var/lib/dpkg/*-old var/lib/systemd var/lib/dbus etc/*- etc/.pwd.lock root/.[a-z]* usr/sbin/policy-rc.d
mkdir -p dev run root var/log var/cache/apt/archives/partial var/lib/apt/lists/partial usr/share/doc usr/share/man \
    usr/share/info usr/share/locale
mkdir -m 1777 tmp var/tmp
