#!/bin/sh
# First process of a lab host in namespaces of its own: a root file system over this machine's, which keeps what is
# written to it on the host's own disk, and a /dev that holds only the devices that were handed in.
# Called as: boot.sh DISK HOSTNAME sh|systemd
set -eu
disk=$1
mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=/,upperdir=$disk/upper,workdir=$disk/work" "$disk/root"
cd "$disk/root"
mount -t proc proc proc
mount --rbind /sys sys
mount -t tmpfs -o mode=0755 dev dev
mount -t tmpfs -o mode=0755 run run
mount -t tmpfs -o mode=1777 tmp tmp
mkdir dev/pts dev/shm run/sshd
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for node in null zero full random urandom tty; do cp -a "/dev/$node" "dev/$node"; done
# A boot of its own: what was recorded before the last "reboot" belongs to another one.
mount --bind "$disk/boot_id" proc/sys/kernel/random/boot_id
hostname "$2"
ip link set lo up
if [ "$3" = systemd ]; then
  # Its control groups alone, of version 2 as systemd 258 and later need it, and nothing of what this machine starts.
  mount -t cgroup2 groups sys/fs/cgroup
  rm -rf etc/systemd/system && mkdir etc/systemd/system
  printf '[Unit]\nDefaultDependencies=no\n' > etc/systemd/system/lab.target
  touch run/booted
  exec chroot . env -i container=lab PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /usr/lib/systemd/systemd --system --unit=lab.target --log-target=null --show-status=no
fi
touch run/booted
# Whatever loses its parent comes here; `wait` takes its status, as an init does.
exec chroot . /bin/sh -c 'while :; do sleep 86400 & wait; done'
