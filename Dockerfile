# The bench: the orchestrator, the gateway, and what it needs to build the other images.
#
# BENCH_BASE is the project's base image, or any Debian 13 that is to become it: the first step
# makes the second into the first and does nothing to the first.
ARG BENCH_BASE=docker.io/library/debian:trixie-20260803-slim

# Every step ends with bench-seal, and what comes from elsewhere is mounted and not copied by a step
# of its own: no layer then holds a time that is another one when it is built again. All steps but the
# first only add files, where none were: how an engine tells what a step changed, if it set nothing
# but a time or left a file as it was, differs from build to build. So /tmp is none of the image's.
FROM ${BENCH_BASE} AS base
ARG SOURCE_DATE_EPOCH=1785715200
RUN --mount=type=bind,source=images/base,target=/dev/base \
    --mount=type=secret,id=apt,target=/dev/apt.sources \
    /dev/base/install && \
    bench-apt docker-cli docker-buildx && \
    bench-seal
ENV LANG=C.UTF-8 TZ=UTC

FROM base AS uv
ARG SOURCE_DATE_EPOCH=1785715200
RUN --mount=type=bind,source=scripts/uv.txt,target=/dev/uv.txt \
    --mount=type=secret,id=ca,target=/dev/ca.crt \
    python3 -m venv /opt/uv && \
    bench-with-ca /opt/uv/bin/pip install --no-cache-dir --require-hashes --only-binary :all: \
        -r /dev/uv.txt

FROM base
ARG SOURCE_DATE_EPOCH=1785715200
RUN --mount=type=tmpfs,target=/tmp \
    --mount=type=bind,from=uv,source=/opt/uv,target=/dev/uv \
    --mount=type=bind,source=pyproject.toml,target=/dev/project/pyproject.toml \
    --mount=type=bind,source=uv.lock,target=/dev/project/uv.lock \
    --mount=type=bind,source=images/engine/pyproject.toml,target=/dev/project/images/engine/pyproject.toml \
    --mount=type=secret,id=ca,target=/dev/ca.crt \
    cd /dev/project && \
    UV_PROJECT_ENVIRONMENT=/opt/memory-bench/venv UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never \
        UV_LINK_MODE=copy \
        bench-with-ca /dev/uv/bin/uv sync --locked --no-dev --no-install-workspace && \
    rm -f /opt/memory-bench/venv/.lock && \
    python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/memory-bench/venv/lib && \
    bench-seal /opt/memory-bench/venv
# The lock's own check was made above; here the project alone is added, which needs no network.
RUN --mount=type=tmpfs,target=/tmp \
    --mount=type=bind,from=uv,source=/opt/uv,target=/dev/uv \
    --mount=type=bind,target=/dev/checkout \
    cp -r /dev/checkout/. /opt/memory-bench && \
    find /opt/memory-bench -path /opt/memory-bench/venv -prune -o -exec chmod u+w,go=u-w {} + && \
    cd /opt/memory-bench && \
    UV_PROJECT_ENVIRONMENT=/opt/memory-bench/venv UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never \
        UV_OFFLINE=1 /dev/uv/bin/uv sync --locked --no-dev --no-editable && \
    # When it was installed is in one of uv's own files.
    rm -f venv/.lock venv/lib/python3.*/site-packages/memory_bench-*.dist-info/uv_cache.json && \
    sed -i '/\/uv_cache\.json,/d' venv/lib/python3.*/site-packages/memory_bench-*.dist-info/RECORD && \
    python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash \
        venv/lib/python3.*/site-packages/runner && \
    install -d -m 1777 /results && \
    bench-seal /opt/memory-bench/venv
ENV PATH=/opt/memory-bench/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    BENCH_ROOT=/opt/memory-bench \
    BENCH_RESULTS=/results
WORKDIR /results
ENTRYPOINT ["tini", "--"]
CMD ["bench"]
