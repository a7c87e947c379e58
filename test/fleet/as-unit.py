"""
Runs a command under the restrictions of a unit, where process 1 is not systemd. usage: as-unit.py UNIT FOLDER COMMAND…

FOLDER is /var/lib/foyer, the repository /opt/foyer, and nobody the user. Only root can do this. The variable WITHOUT has
system calls that the filter lacks. A limit of open files has no effect above that of this process.
"""

import errno
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

from seccomp import ALLOW, EQ, ERRNO, MASKED_EQ, Arg, SyscallFilter

ROOT = Path(__file__).resolve().parents[2]

# Settings that are applied to each command, so that a unit must have them.
APPLIED = """CapabilityBoundingSet= NoNewPrivileges=yes PrivateDevices=yes PrivateTmp=yes PrivateUsers=yes ProtectHome=yes
    ProtectHostname=yes ProtectProc=invisible ProtectSystem=strict RestrictNamespaces=yes SystemCallArchitectures=native
    SystemCallErrorNumber=EPERM"""
# Settings that only systemd applies: of control groups, keyrings and arguments of calls. Most repeat the lack of
# capabilities, the read-only root or the filter of calls.
NOT_APPLIED = """DevicePolicy=closed KeyringMode=private LockPersonality=yes ProtectClock=yes ProtectControlGroups=yes
    ProtectKernelLogs=yes ProtectKernelModules=yes ProtectKernelTunables=yes RemoveIPC=yes RestrictRealtime=yes
    RestrictSUIDSGID=yes"""
# Settings whose values are read below, and those that do not restrict.
OTHERS = (
    "(Environment(File)?|Exec\\w+|Group|LimitNOFILE|LogRateLimitIntervalSec|Nice|OOMPolicy|ProcSubset|ReadWritePaths|Restart(Sec)?|RestrictAddressFamilies"
    "|StateDirectory(Mode)?|SystemCallFilter|Timeout\\w+|Type|UMask|User|WorkingDirectory)="
)


def outside(unit, folder, *command):
    units = ROOT / "deploy/systemd"
    drop_ins = re.sub(r"-.*\.", "-.", unit) + ".d/*.conf"
    files = [units / unit, *sorted(units.glob(drop_ins))]
    sections = [re.sub(r"^.*\[Service\]|\[Install\].*$", "", file.read_text(), flags=re.S) for file in files]
    lines = re.findall(r"^\w+=.*", "".join(sections), re.M)
    difference = {line for line in lines if not re.match(OTHERS, line)} ^ {*APPLIED.split(), *NOT_APPLIED.split()}
    if difference:
        sys.exit(f"{unit}: restrictions are missing, or unknown to this program: {difference}")

    def values(name):
        return [line.partition("=")[2] for line in lines if line.startswith(name + "=")]

    limit = "".join(f"ulimit -n {value} 2>&-; " for value in values("LimitNOFILE"))
    proc = ",".join(["hidepid=invisible"] + [f"subset={value}" for value in values("ProcSubset")])
    bind = "--bind" if "/var/lib/foyer" in " ".join(values("ReadWritePaths")) else "--ro-bind"
    calls = permitted_calls(values("SystemCallFilter")) - set(os.environ.get("WITHOUT", "").split())
    sandbox = f"""bwrap --die-with-parent --unshare-uts --unsetenv NODE_COMPILE_CACHE --ro-bind / / --dev /dev
        --tmpfs /home --tmpfs /root --tmpfs /run/user --tmpfs /tmp --tmpfs /var/tmp
        --tmpfs /opt --ro-bind {ROOT} /opt/foyer --remount-ro /opt
        --tmpfs /var/lib {bind} {folder} /var/lib/foyer --remount-ro /var/lib --chdir /opt/foyer
        --cap-add CAP_SYS_ADMIN --cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP sh -c""".split()
    setup = f'umask {values("UMask")[0]}; {limit} mount -t proc -o {proc} proc /proc && exec "$@"'
    identity = """sh setpriv --reuid=nobody --regid=nogroup --clear-groups --bounding-set=-all --inh-caps=-all
        --no-new-privs unshare --user --map-current-user /usr/bin/python3 /opt/foyer/test/fleet/as-unit.py --inside""".split()
    os.execvp("bwrap", [*sandbox, setup, *identity, " ".join(calls), " ".join(values("RestrictAddressFamilies")), *command])


# Each value of SystemCallFilter adds calls and groups to those before it, or removes them.
def permitted_calls(filters):
    listed = subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True, check=True).stdout
    groups = {name: re.findall(r"^ +([@\w-]+)$", names, re.M) for name, names in re.findall(r"^(@.+)\n((?: .*\n)*)", listed, re.M)}

    def expand(name):
        return {call for member in groups[name] for call in expand(member)} if name in groups else {name}

    calls = set()
    for value in filters:
        named = set().union(*map(expand, value.lstrip("~").split()))
        calls = calls - named if value.startswith("~") else calls | named
    return calls


# Applies SystemCallFilter, RestrictAddressFamilies and RestrictNamespaces as systemd does.
def inside(calls, families, *command):
    # This filter comes first, since the other one may not permit to load it.
    arguments = SyscallFilter(ALLOW)
    for family in set(range(64)) - {getattr(socket, name) for name in families.split()}:
        arguments.add_rule(ERRNO(errno.EAFNOSUPPORT), "socket", Arg(0, EQ, family))
    # CLONE_NEWTIME, NS, CGROUP, UTS, IPC, USER, PID and NET. A filter cannot read the flags of clone3, in memory.
    for flag in (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        for call in ("clone", "unshare"):
            arguments.add_rule(ERRNO(errno.EPERM), call, Arg(0, MASKED_EQ, flag, flag))
    arguments.add_rule(ERRNO(errno.EPERM), "setns")
    arguments.add_rule(ERRNO(errno.ENOSYS), "clone3")
    arguments.load()
    permits = SyscallFilter(ERRNO(errno.EPERM))
    for call in calls.split():
        try:
            permits.add_rule(ALLOW, call)
        except RuntimeError:
            pass  # This libseccomp does not know the call. systemd ignores it, too.
    permits.load()
    os.execv(command[0], command)


if sys.argv[1] == "--inside":
    inside(*sys.argv[2:])
else:
    outside(*sys.argv[1:])
