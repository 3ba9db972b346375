// The recipe of the guests' image, and the program that is a guest's first process.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "orchestrator/lab/guest.h"
#include "orchestrator/lab/guest_image.h"

namespace ordeal {
namespace {

// What hosts run, and what faults are made of; then the kernel for qemu.
constexpr std::string_view kPackages[] = {"faketime",
                                          "iproute2",
                                          "iptables",
                                          "iputils-ping",
                                          "kmod",
                                          "openssh-server",
                                          "postgresql-15",
                                          "procps",
                                          "python3-minimal",
                                          "strace",
                                          "linux-image-cloud-amd64",
                                          "initramfs-tools",
                                          "zstd"};

constexpr std::string_view kInit = R"sh(#!/bin/sh
# First process of a guest. The kernel gave it two variables: ORDEAL_SEED is a disk with a tar
# archive of the files that make this guest itself, ORDEAL_DATA (where there is one) a disk with the
# file system of its servers' files.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
place() { # TYPE DIRECTORY OPTIONS
  mountpoint -q "$2" || { mkdir -p "$2" && mount -t "$1" -o "$3" "$1" "$2"; }
}
place proc /proc defaults
place sysfs /sys defaults
place devtmpfs /dev mode=755
place devpts /dev/pts mode=620,gid=5,ptmxmode=666
place tmpfs /dev/shm mode=1777
place tmpfs /run mode=755
ln -sfn /proc/self/fd /dev/fd
ln -sfn /proc/self/fd/0 /dev/stdin
ln -sfn /proc/self/fd/1 /dev/stdout
ln -sfn /proc/self/fd/2 /dev/stderr
mkdir -p /run/sshd /run/lock /run/ordeal /var/lib/ordeal
[ -z "$ORDEAL_DATA" ] || mount -o noatime "$ORDEAL_DATA" /var/lib/ordeal
tar -xf "$ORDEAL_SEED" -C / --no-overwrite-dir
unset ORDEAL_SEED ORDEAL_DATA
hostname "$(cat /etc/hostname)"
ip link set lo up
for card in /sys/class/net/*; do
  [ -e "$card/device" ] || continue
  ip address add "$(cat /etc/ordeal-address)" dev "${card##*/}"
  ip link set "${card##*/}" up
done
# It writes the file once it listens, which is after its first process ended.
/usr/sbin/sshd -f /etc/ssh/ordeal_sshd_config -E /var/log/sshd.log
until [ -s /run/sshd/pid ]; do sleep 0.05; done
echo '@UP@' > /dev/console
while :; do
  sleep 3600 &
  wait $!
done
)sh";

// @...@ are filled in. The lock is held by whoever runs this. debootstrap mounts what it needs in
// the mount namespace that this runs in.
constexpr std::string_view kRecipe = R"bash(#!/bin/bash
# bash -c "$(cat recipe)" recipe DIRECTORY: builds the image that guests boot.
set -euo pipefail
final=$1 work=$(dirname "$1")/building
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
rm -rf --one-file-system "$work"
mkdir -p "$root"

mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
  sed -n 's/ bookworm$//p' | head -n 1)
[ -n "$mirror" ] || { echo "apt knows no mirror of Debian bookworm" >&2; exit 1; }
debootstrap --variant=minbase --include=@PACKAGES@ bookworm "$root" "$mirror" || {
  tail -n 3 "$root/debootstrap/debootstrap.log" >&2 || true
  exit 1
}

printf '%s\n' MODULES=list COMPRESS=zstd > "$root/etc/initramfs-tools/conf.d/ordeal"
printf '%s\n' virtio_pci virtio_blk virtio_net virtio_rng ext4 crc32c_generic \
  >> "$root/etc/initramfs-tools/modules"
chroot "$root" update-initramfs -u
cp "$root"/boot/vmlinuz-* "$work/vmlinuz"
cp "$root"/boot/initrd.img-* "$work/initrd.img"

# The kernel of User-Mode Linux has no nf_tables; that of Debian has both.
chroot "$root" update-alternatives --set iptables /usr/sbin/iptables-legacy
chroot "$root" update-alternatives --set ip6tables /usr/sbin/ip6tables-legacy
for version in @UML@; do cp -a "/usr/lib/uml/modules/$version" "$root/lib/modules/"; done

# sshd takes "!" for a locked account, whose keys it refuses; "*" merely has no password.
sed -i 's/^root:[^:]*:/root:*:/' "$root/etc/shadow"
rm -rf "$root"/etc/ssh/ssh_host_* "$root"/boot/initrd.img-* "$root"/var/cache/apt/archives/*.deb \
  "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale} \
  "$root"/etc/postgresql/15 "$root"/var/lib/postgresql/15
cat > "$root/usr/local/sbin/ordeal-guest-init" <<'END OF INIT'
@INIT@END OF INIT
chmod 755 "$root/usr/local/sbin/ordeal-guest-init"

mke2fs -q -t ext4 -d "$root" -L ordeal -E lazy_itable_init=1 "$work/root.img" @SIZE@M
rm -rf --one-file-system "$root"
printf '%s' "$BASH_EXECUTION_STRING" > "$work/recipe"
sync -f "$work"
rm -rf "$final"
mv -T "$work" "$final"
)bash";

// Sparse: what guests can fill, each in its own layer.
constexpr std::string_view kSizeMib = "6144";

void replace(std::string& text, std::string_view what, std::string_view by) {
  text.replace(text.find(what), what.size(), by);
}

}  // namespace

std::string image_recipe(const std::vector<std::string>& uml_kernel_versions) {
  std::string text(kRecipe);
  replace(text, "@PACKAGES@", fmt::format("{}", fmt::join(kPackages, ",")));
  replace(text, "@UML@", fmt::format("{}", fmt::join(uml_kernel_versions, " ")));
  replace(text, "@INIT@", kInit);
  replace(text, "@UP@", kGuestIsUp);
  replace(text, "@SIZE@", kSizeMib);
  return text;
}

}  // namespace ordeal
