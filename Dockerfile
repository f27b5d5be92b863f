# The PerfLab operator. Build context: the repository root, after `make build-operator`.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
COPY bin/manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
