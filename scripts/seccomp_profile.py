#!/usr/bin/env python3
"""Write ``runner/runs/sandbox/seccomp.json``: everything libseccomp knows, less what is denied
here.

An allow-list: a system call that is on neither list (one newer than libseccomp) is denied too. Run
it on the newest Debian there is, as libseccomp knows only the calls of its day:

    docker run --rm -i memory-bench/base python3 - < scripts/seccomp_profile.py >
    runner/runs/sandbox/seccomp.json
"""

import ctypes
import json
import sys
from typing import Any

ARCHITECTURES = {"SCMP_ARCH_X86_64": 0xC000003E, "SCMP_ARCH_AARCH64": 0xC00000B7}
HIGHEST_CALL = 1024

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
NETLINK_ROUTE = 0
NEW_NAMESPACES = 0x7E020000
"""All CLONE_NEW* flags that clone() takes: user, pid, net, ipc, uts, cgroup, mount."""
PLAIN_PERSONALITIES = (0x0, 0x0008, 0x20000, 0x20008, 0xFFFFFFFF)
FILE_TYPE, PIPE = 0o170000, 0o010000
ENOSYS = 38

DENIED: dict[str, str] = {
    "loading code into the kernel": (
        "bpf create_module delete_module finit_module get_kernel_syms init_module "
        "kexec_file_load kexec_load query_module"
    ),
    "changing or seeing mounts": (
        "chroot fsconfig fsmount fsopen fspick listmount mount mount_setattr move_mount "
        "open_tree pivot_root statmount umount2"
    ),
    "new or foreign namespaces; a user namespace gives every capability back inside itself": (
        "setns unshare"
    ),
    "files by handle, which knows no mounts": "name_to_handle_at open_by_handle_at",
    "other processes' memory, descriptors and registers": (
        "kcmp pidfd_getfd process_madvise process_vm_readv process_vm_writev ptrace"
    ),
    "keyrings, which are not namespaced": "add_key keyctl request_key",
    "submitting calls that this filter then does not see": (
        "io_uring_enter io_uring_register io_uring_setup"
    ),
    "a long history of kernel faults, for nothing a memory needs": (
        "fanotify_init fanotify_mark lookup_dcookie modify_ldt perf_event_open userfaultfd "
        "uretprobe vmsplice"
    ),
    "the machine: power, swap, clock, ports, accounting, quotas, log, terminals, host name": (
        "acct adjtimex clock_adjtime clock_settime ioperm iopl quotactl quotactl_fd reboot "
        "setdomainname sethostname settimeofday swapoff swapon syslog vhangup"
    ),
    "memory of other nodes and processes": (
        "get_mempolicy mbind migrate_pages move_pages set_mempolicy set_mempolicy_home_node"
    ),
    "security modules": ("lsm_get_self_attr lsm_list_modules lsm_set_self_attr"),
    "calls no kernel has had for years": (
        "_sysctl afs_syscall epoll_ctl_old epoll_wait_old getpmsg nfsservctl putpmsg security "
        "sysfs tuxcall uselib ustat vserver"
    ),
}

CONDITIONAL = (
    "clone",
    "clone3",
    "mknod",
    "mknodat",
    "personality",
    "socket",
    "socketcall",
    "socketpair",
)


def known(architecture: int) -> set[str]:
    """Names of all system calls libseccomp knows for one architecture."""
    library = ctypes.CDLL("libseccomp.so.2")
    resolve = library.seccomp_syscall_resolve_num_arch
    resolve.restype = ctypes.c_void_p
    resolve.argtypes = [ctypes.c_uint32, ctypes.c_int]
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    names = set()
    for number in range(HIGHEST_CALL):
        pointer = resolve(architecture, number)
        if pointer:
            names.add(ctypes.string_at(pointer).decode())
            free(pointer)
    return names


def equal(*wanted: tuple[int, int]) -> list[dict[str, Any]]:
    """Arguments, by position, that have to have exactly these values (all 64 bits of them)."""
    return [{"index": index, "value": value, "op": "SCMP_CMP_EQ"} for index, value in wanted]


def masked(index: int, mask: int, wanted: int) -> list[dict[str, Any]]:
    """An argument whose bits under a mask have to be exactly these."""
    return [{"index": index, "value": mask, "valueTwo": wanted, "op": "SCMP_CMP_MASKED_EQ"}]


def build(names: set[str]) -> dict[str, Any]:
    """The profile over these names."""
    denied = {name for group in DENIED.values() for name in group.split()}
    plain = sorted(names - denied - set(CONDITIONAL))

    def allow(call: str, args: list[dict[str, Any]]) -> dict[str, Any]:
        return {"names": [call], "action": "SCMP_ACT_ALLOW", "args": args}

    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "archMap": [{"architecture": name, "subArchitectures": []} for name in ARCHITECTURES],
        "syscalls": [
            {"names": plain, "action": "SCMP_ACT_ALLOW", "args": []},
            allow("socket", equal((0, AF_UNIX))),
            allow("socket", equal((0, AF_INET))),
            allow("socket", equal((0, AF_INET6))),
            allow("socket", equal((0, AF_NETLINK), (2, NETLINK_ROUTE))),
            allow("socketpair", equal((0, AF_UNIX))),
            *(allow("personality", equal((0, value))) for value in PLAIN_PERSONALITIES),
            allow("clone", masked(0, NEW_NAMESPACES, 0)),
            allow("mknod", masked(1, FILE_TYPE, PIPE)),  # a pipe is fine, a device is not
            allow("mknodat", masked(2, FILE_TYPE, PIPE)),
            # Its flags lie in memory, where a filter cannot look: libc falls back to clone.
            {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS, "args": []},
        ],
    }


def main() -> None:
    """Print the profile for this machine's libseccomp."""
    names: set[str] = set()
    for architecture in ARCHITECTURES.values():
        names |= known(architecture)
    json.dump(build(names), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
