# shellcheck shell=bash
# What scripts/bench and scripts/test share: makes this machine ready, and only what is missing.
#
# Sourced by bash under `set -euo pipefail`. One entry: `prepare bench|unit|test`.
# Whatever engine answers is used as it is; nothing of it is upgraded, restarted or reconfigured.

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(dirname "$here")
state=${BENCH_STATE:-${XDG_STATE_HOME:-${HOME:-/root}/.local/state}/memory-bench}
venv=$root/.venv
run_dir=/var/run
proc=/proc

# Where the docker command looks for its plugins, after the user's own folder.
system_plugins=(/usr/local/lib/docker/cli-plugins /usr/local/libexec/docker/cli-plugins
    /usr/lib/docker/cli-plugins /usr/libexec/docker/cli-plugins)

say() { printf '%s: %s\n' "${script_name:-scripts}" "$*" >&2; }

die() {
    say "$1"
    shift
    local line
    for line in "$@"; do printf '    %s\n' "$line" >&2; done
    exit 6
}

# prepare WHAT: bench and test need an engine; test and unit need the development tools too.
prepare() {
    local what=$1
    umask 022
    trust
    if [ "$what" != unit ] && ! engine_ready; then
        under_lock make_engine_ready
    fi
    if ! venv_ready "$what"; then
        under_lock make_venv "$what"
    fi
    if [ "$what" = test ] && ! command -v chromium >/dev/null; then
        (under_lock make_browser) || say "going on without chromium: tests that look at pages are skipped"
    fi
}

# One process at a time; the lock is never inherited by an engine that is started under it.
under_lock() {
    mkdir -p "$state"
    exec 9>"$state/setup.lock"
    flock 9
    "$@"
    exec 9>&-
}

# Installers of Python packages know their own list of authorities; a machine with one of its own
# has it in the system's list.
trust() {
    local bundle=/etc/ssl/certs/ca-certificates.crt
    if [ -z "${SSL_CERT_FILE:-}" ] && [ -s "$bundle" ]; then
        export PIP_CERT=${PIP_CERT:-$bundle}
        export UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS:-true}
    fi
}

# ---------------------------------------------------------------- packages of the system

on_debian_as_root() { [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null && command -v dpkg >/dev/null; }

# need WHY PACKAGE...: installs them, or says what to install.
need() {
    local why=$1
    shift
    on_debian_as_root || die "$why is missing, and only root on Debian gets it installed from here." \
        "Install what Debian calls: $*" "then run this again."
    say "installing $* ($why)"
    refresh_lists
    DEBIAN_FRONTEND=noninteractive apt_quietly install -y --no-install-recommends "$@"
}

# Other programs that are to read what the bench writes. Where they cannot be had their tests are
# skipped, and say so.
other_readers() {
    if ! command -v skopeo >/dev/null && on_debian_as_root; then
        (under_lock need "to read archives with" skopeo) || say "going on without skopeo"
    fi
}

# What tests look at pages with. The tests drive Debian's; none is downloaded from elsewhere.
make_browser() { command -v chromium >/dev/null || need "a browser to test pages with" chromium; }

# Once is enough: what is offered does not change within a minute.
refresh_lists() {
    [ -z "${lists_are_fresh:-}" ] || return 0
    apt_quietly update
    lists_are_fresh=yes
}

apt_quietly() {
    local log
    log=$(mktemp)
    if ! apt-get -q -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 9>&-; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "apt-get $1 failed; its last lines are above."
    fi
    rm -f "$log"
}

# from_debian_13 FOLDER PACKAGE...: unpacks packages of Debian 13 into a folder. The machine's own
# sources, lists, preferences and package database are neither read nor changed; signatures are
# checked against the archive's keys as ever.
from_debian_13() {
    local folder=$1 keys=/usr/share/keyrings/debian-archive-keyring.gpg private deb
    shift
    on_debian_as_root || die "$* of Debian 13 can be unpacked by root on Debian only."
    [ -s "$keys" ] || need "the archive's keys" debian-archive-keyring
    private=$(mktemp -d)
    mkdir -p "$private/lists/partial" "$private/cache/archives/partial" "$private/debs"
    : >"$private/status"
    echo "deb [signed-by=$keys] ${BENCH_DEBIAN_MIRROR:-http://deb.debian.org/debian} trixie main" \
        >"$private/sources.list"
    local options=(
        -o Dir::Etc::SourceList="$private/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
        -o Dir::State="$private" -o Dir::State::Lists="$private/lists"
        -o Dir::State::status="$private/status" -o Dir::Cache="$private/cache"
        -o Acquire::Languages=none -o APT::Sandbox::User=root
    )
    apt_quietly "${options[@]}" update
    (cd "$private/debs" && apt_quietly "${options[@]}" download "$@")
    for deb in "$private"/debs/*.deb; do dpkg-deb -x "$deb" "$folder"; done
    rm -rf "$private"
}

# candidate PACKAGE: the version this machine's own sources offer, or nothing.
candidate() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p' | grep -v '(none)' || true; }

# ---------------------------------------------------------------- the engine and its command

engine_ready() {
    command -v docker >/dev/null && engine_answers && plugin buildx &&
        { plugin compose || ! on_debian_as_root; } &&
        { command -v mmdebstrap >/dev/null || have_base || ! on_debian_as_root; }
}

engine_answers() { timeout 10 docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# Debian is built from packages only where it was not built yet.
have_base() { [ -n "$(docker images --quiet memory-bench/base 2>/dev/null)" ]; }

plugin() {
    local folder
    for folder in "${DOCKER_CONFIG:-${HOME:-/root}/.docker}/cli-plugins" "${system_plugins[@]}"; do
        [ ! -x "$folder/docker-$1" ] || return 0
    done
    return 1
}

make_engine_ready() {
    make_docker_command
    engine_answers || start_engine
    make_plugins
    if ! command -v mmdebstrap >/dev/null && ! have_base && on_debian_as_root; then
        need "what builds the base image where no registry answers" mmdebstrap debian-archive-keyring
    fi
}

# The command alone, where an engine answers already: the package that brings both would start
# an engine of its own beside it.
make_docker_command() {
    ! command -v docker >/dev/null || return 0
    if socket_answers "${DOCKER_HOST:-unix:///var/run/docker.sock}"; then
        say "installing the docker command of Debian 13 in /usr/local/bin (an engine answers already)"
        local folder
        folder=$(mktemp -d)
        from_debian_13 "$folder" docker-cli
        install -m 0755 "$folder/usr/bin/docker" /usr/local/bin/docker
        rm -rf "$folder"
    else
        install_engine
    fi
}

socket_answers() {
    case $1 in
    unix://*) listening "${1#unix://}" ;;
    *) return 0 ;; # An address that was set is someone's choice: nothing is installed in its place.
    esac
}

# Whether any process listens on a Unix socket; a file that a dead process left does not count.
listening() { awk -v path="$(readlink -f "$1")" -v given="$1" \
    '$4 == "00010000" && ($8 == path || $8 == given || "/var" $8 == given) {found = 1} END {exit !found}' \
    "$proc/net/unix"; }

install_engine() {
    local packages=(docker.io iptables ca-certificates)
    if on_debian_as_root; then refresh_lists; fi
    # Debian 13 packs the command apart from the engine.
    if on_debian_as_root && [ -n "$(candidate docker-cli)" ]; then packages+=(docker-cli); fi
    need "a container engine" "${packages[@]}"
    hash -r
}

make_plugins() {
    local name missing=() folder
    for name in buildx compose; do plugin "$name" || missing+=("docker-$name"); done
    [ "${#missing[@]}" -gt 0 ] || return 0
    if ! on_debian_as_root; then
        # Compose is another way to run the bench; builds need buildx.
        ! plugin buildx || return 0
        die "The docker command has no plugin buildx, and only root on Debian gets it installed from here." \
            "Install it (https://docs.docker.com/engine/install/), then run this again."
    fi
    refresh_lists
    local own=() other=()
    for name in "${missing[@]}"; do
        case $(candidate "$name") in
        '' | 1.*) other+=("$name") ;; # Compose 1 is another program.
        *) own+=("$name") ;;
        esac
    done
    [ "${#own[@]}" -eq 0 ] || need "plugins of the docker command" "${own[@]}"
    [ "${#other[@]}" -gt 0 ] || return 0
    say "installing ${other[*]} of Debian 13 in ${system_plugins[0]}"
    folder=$(mktemp -d)
    from_debian_13 "$folder" "${other[@]}"
    for name in "${other[@]}"; do
        install -D -m 0755 "$folder/usr/libexec/docker/cli-plugins/$name" "${system_plugins[0]}/$name"
    done
    rm -rf "$folder"
}

# ---------------------------------------------------------------- starting an engine

start_engine() {
    if [ -n "${DOCKER_HOST:-}" ]; then
        die "The engine at DOCKER_HOST=$DOCKER_HOST does not answer." \
            "Start it, or unset DOCKER_HOST to use this machine's own."
    fi
    local context
    context=$(docker context show 2>/dev/null || echo default)
    [ "$context" = default ] || die "The engine of the docker context '$context' does not answer." \
        "Start it, or go back to this machine's own: docker context use default"
    if [ "$(id -u)" -ne 0 ]; then
        die "No container engine answers this user." \
            "Start it (systemctl start docker), or join its group: usermod -aG docker $(id -un)"
    fi
    command -v dockerd >/dev/null || install_engine
    ! engine_answers || return 0
    if [ -d /run/systemd/system ]; then
        say "starting the container engine (systemctl start docker)"
        systemctl start docker || die "systemctl could not start docker." "journalctl -u docker says why."
        wait_for_engine 60 || die "The engine does not answer." "journalctl -u docker says why."
        return 0
    fi
    start_by_hand
}

start_by_hand() {
    local log=$state/dockerd.log
    if named_process "$(recorded docker.pid)" dockerd; then
        # It is someone's, and may still be getting ready.
        say "an engine is running but does not answer yet: waiting"
        wait_for_engine 30 ||
            die "An engine process runs (dockerd) but does not answer; it was left alone." \
                "End it or wait for it, then run this again."
        return 0
    fi
    clear_stale
    mount_cgroups
    say "starting the container engine (dockerd, log in $log)"
    # A session of its own: it outlives this shell and gets none of its signals.
    setsid dockerd </dev/null >>"$log" 2>&1 9>&- &
    local pid=$!
    disown "$pid"
    if ! wait_for_engine 60 "$pid"; then
        tail -n 15 "$log" >&2
        die "The container engine did not start; its last lines are above." "The whole log: $log"
    fi
}

# recorded FILE: the process id in one of the engine's files, or nothing.
recorded() { cat "$run_dir/$1" 2>/dev/null || true; }

# named_process PID NAME: whether that process lives and is what the file was written for; numbers
# are given out again after a crash or a restart, and a dead process nobody waited for keeps its own.
named_process() {
    [ -n "$1" ] && [ "$(cat "$proc/$1/comm" 2>/dev/null)" = "$2" ] &&
        ! grep -q '^State:[[:space:]]*[ZX]' "$proc/$1/status" 2>/dev/null
}

# Removes what an engine that was killed left behind and its next start trips on.
clear_stale() {
    local containerd=$run_dir/docker/containerd
    if [ -e "$run_dir/docker.pid" ] && ! named_process "$(recorded docker.pid)" dockerd; then
        say "removing $run_dir/docker.pid of an engine that is gone"
        rm -f "$run_dir/docker.pid"
    fi
    if [ -e "$containerd/containerd.pid" ] &&
        ! named_process "$(recorded docker/containerd/containerd.pid)" containerd; then
        say "removing $containerd/containerd.pid of an engine that is gone"
        rm -f "$containerd/containerd.pid" "$containerd"/*.sock "$containerd"/*.sock.ttrpc
    fi
    if [ -S "$run_dir/docker.sock" ] && ! listening "$run_dir/docker.sock"; then
        say "removing $run_dir/docker.sock, on which nothing listens"
        rm -f "$run_dir/docker.sock"
    fi
}

# Without an init system nobody may have mounted what containers are limited by: version 2, or
# version 1 where the kernel has given its controllers to that.
mount_cgroups() {
    local at=/sys/fs/cgroup controller
    ! grep -q ' cgroup2\? ' "$proc/mounts" || return 0
    say "mounting the control groups in $at"
    if mount -t cgroup2 cgroup2 "$at" 2>/dev/null; then
        ! grep -qw memory "$at/cgroup.controllers" || return 0
        umount "$at"
    fi
    mount -t tmpfs -o mode=755 cgroup "$at" ||
        die "Control groups cannot be mounted here: no engine can run on this machine."
    while read -r controller _ _ enabled; do
        if [ "$enabled" = 1 ]; then
            mkdir "$at/$controller"
            mount -t cgroup -o "$controller" cgroup "$at/$controller" || rmdir "$at/$controller"
        fi
    done < <(sed 1d "$proc/cgroups")
}

# wait_for_engine SECONDS [PID]: gives up early when that process ends.
wait_for_engine() {
    local tries=$(($1 * 5))
    while [ "$tries" -gt 0 ]; do
        ! engine_answers || return 0
        if [ -n "${2:-}" ] && ! kill -0 "$2" 2>/dev/null; then return 1; fi
        sleep 0.2
        tries=$((tries - 1))
    done
    return 1
}

# ---------------------------------------------------------------- Python

# The stamp says what the environment was made from; the folder is part of it, since an
# environment does not survive being moved.
venv_key() {
    {
        printf '%s\n' "$root"
        cat "$root/uv.lock" "$root/pyproject.toml" "$root/images/engine/pyproject.toml" "$here/uv.txt"
    } | sha256sum | cut -c 1-64
}

# venv_ready WHAT: an environment with the development tools serves for everything.
venv_ready() {
    local stamp
    [ -x "$venv/bin/bench" ] || return 1
    [ "$1" = bench ] || [ -x "$venv/bin/pytest" ] || return 1
    stamp=$(cat "$venv/.memory-bench" 2>/dev/null) || return 1
    case "$stamp" in
    "$(venv_key) dev") return 0 ;;
    "$(venv_key) run") [ "$1" = bench ] ;;
    *) return 1 ;;
    esac
}

make_venv() {
    local kind=dev sync=(sync --locked --quiet)
    ! venv_ready "$1" || return 0
    if [ "$1" = bench ]; then
        kind=run
        # Development tools that are there already stay.
        sync+=(--no-dev --inexact)
    fi
    find_python
    make_uv
    # An environment that works is kept: naming another Python would have it made anew.
    "$venv/bin/python" -c 'import sys' 2>/dev/null || sync+=(--python "$python")
    say "installing the Python packages of uv.lock in $venv"
    rm -f "$venv/.memory-bench"
    # Byte code now, not at every start on a machine that is told to write none.
    (cd "$root" && UV_PROJECT_ENVIRONMENT=$venv UV_PYTHON_DOWNLOADS=never UV_COMPILE_BYTECODE=1 \
        "$uv" "${sync[@]}" 9>&-) ||
        die "The Python packages could not be installed; the reason is above."
    echo "$(venv_key) $kind" >"$venv/.memory-bench"
}

# Sets $python to the first that is new enough and can make an environment.
find_python() {
    local name
    python=
    for name in python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            python=$(command -v "$name")
            break
        fi
    done
    if [ -z "$python" ]; then
        need "Python 3.11 or newer" python3 python3-venv
        python=/usr/bin/python3
    fi
    "$python" -c 'import ensurepip, venv' 2>/dev/null || need "Python's venv" python3-venv
}

# Sets $uv to the pinned uv, in an environment of its own under the state folder.
make_uv() {
    local key folder
    key=$(sha256sum "$here/uv.txt" | cut -c 1-12)
    folder=$state/uv-$key
    uv=$folder/bin/uv
    ! "$uv" --version >/dev/null 2>&1 || return 0
    say "installing $(grep -o '^uv==[0-9.]*' "$here/uv.txt") in $folder"
    rm -rf "$folder"
    "$python" -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
        --only-binary :all: --requirement "$here/uv.txt" ||
        die "uv could not be installed from the Python package index." \
            "Behind a private certificate authority, set SSL_CERT_FILE or PIP_CERT to its bundle."
}
