// The program that a host of namespaces is booted with.
#include "orchestrator/lab/netns_lab.h"

namespace ordeal {

const std::string_view kHostInit = R"bash(#!/bin/bash
# host-init HOST STATE SCRATCH DISK_MIB: first process of a host, in namespaces of its own. Builds
# the host's root, moves into it, starts sshd, and then collects what ended.
set -euo pipefail
host=$1 state=$2 scratch=$3 disk_mib=$4
read -r pid _ < /proc/self/stat   # as the machine numbers it: its /proc is still there
echo "$pid" > "$state/$host/pid"

mount --make-rprivate /
# An overlay's upper layer cannot lie on an overlay, as the machine's own root is in a container.
if [ "$(stat -f -c %T "$scratch")" = overlayfs ]; then
  mount -t tmpfs -o mode=755 scratch "$scratch/$host"
fi
disk=$scratch/$host
root=$disk/root
mkdir -p "$root" "$disk/tmp" "$disk/home-root"
mount -t tmpfs -o mode=755,size=16m root "$root"
cd "$root"
mkdir dev proc sys run tmp mnt srv media root oldroot

for tree in usr etc var home opt bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$tree" ]; then
    ln -s "$(readlink "/$tree")" "$tree"
  elif [ -d "/$tree" ]; then
    mkdir -p "$tree" "$disk/up/$tree" "$disk/work/$tree"
    chmod --reference="/$tree" "$disk/up/$tree"
    layers=lowerdir=/$tree,upperdir=$disk/up/$tree,workdir=$disk/work/$tree
    mount -t overlay -o "$layers" overlay "$tree"
  fi
done

mount -t tmpfs -o mode=755,size=1m dev dev
for device in null zero full random urandom tty; do
  : > "dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs -o mode=755 run run
mount --bind "$disk/tmp" tmp
chmod 1777 tmp
mount --bind "$disk/home-root" root
chmod 700 root
mkdir -p run/sshd run/lock run/ordeal var/lib/ordeal
if [ "$disk_mib" != 0 ]; then
  mount -t tmpfs -o "mode=755,size=${disk_mib}m" disk var/lib/ordeal
fi

hostname "$host"
echo "$host" > etc/hostname
cp "$state/hosts" etc/hosts
rm -f etc/ssh/ssh_host_*
install -m 600 "$state/$host/host_key" etc/ssh/ordeal_host_key
cp "$state/$host/sshd_config" etc/ssh/ordeal_sshd_config
mkdir -p root/.ssh
chmod 700 root/.ssh
install -m 600 "$state/id.pub" root/.ssh/authorized_keys
# sshd takes "!" for a locked account, whose keys it refuses; "*" merely has no password.
sed -i 's/^root:[^:]*:/root:*:/' etc/shadow

pivot_root . oldroot
cd /
umount -l /oldroot
rmdir /oldroot
unset ORDEAL_LAB
/usr/sbin/sshd -f /etc/ssh/ordeal_sshd_config -E /var/log/sshd.log
if iptables -w -N ordeal-probe && iptables -w -A ordeal-probe -j DROP \
    && iptables -w -F ordeal-probe && iptables -w -X ordeal-probe; then
  packet_filter=1
fi > /dev/null 2>&1
for kind in "netem delay 1ms" "tbf rate 1mbit burst 32k latency 1s"; do
  tc qdisc add dev lo root handle 1: htb \
    && tc class add dev lo parent 1: classid 1:2 htb rate 1mbit \
    && tc qdisc add dev lo parent 1:2 $kind && declare "${kind%% *}=1"
  tc qdisc del dev lo root || true
done > /dev/null 2>&1
echo "packet_filter=${packet_filter:-0} netem=${netem:-0} tbf=${tbf:-0}" > /run/ordeal/.abilities
mv /run/ordeal/.abilities /run/ordeal/abilities
trap 'exit 0' TERM
while :; do
  sleep infinity &
  wait $! || true
done
)bash";

}  // namespace ordeal
