# syntax=docker/dockerfile:1
# The base is pinned by version. To pin it by content as well, look its digest up once
#   docker buildx imagetools inspect node:26.10.0-bookworm-slim
# and write node:26.10.0-bookworm-slim@sha256:<digest> below. Debian rather than Alpine: what is tested is glibc.
ARG NODE_IMAGE=node:26.10.0-bookworm-slim

# Only what runs: no development tools, and not the Node that npm brings for newcomers (the image has one).
FROM ${NODE_IMAGE} AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# --ignore-scripts: nothing here needs one, so nothing that a package might bring may run.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force

# The page of the dashboard, made with the development tools; these stay behind.
FROM ${NODE_IMAGE} AS dashboard
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
# With what is optional: the code of the bundler for this system is.
RUN npm ci --ignore-scripts && npm cache clean --force
COPY scripts ./scripts
COPY src ./src
RUN npm run build:dashboard

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    TRANCHE_CONFIG=/data/tranche.yaml
WORKDIR /app
COPY --from=modules /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY src ./src
COPY config ./config
COPY strategies ./strategies
COPY --from=dashboard /app/dist/dashboard ./dist/dashboard
# The program belongs to root and cannot be changed by who runs it; /data is the one place it writes to.
RUN chmod 0755 bin/tranche.js \
    && ln -s /app/bin/tranche.js /usr/local/bin/tranche \
    && install -d -o 1000 -g 1000 -m 0700 /data
USER 1000:1000
RUN ["tranche", "--version"]
WORKDIR /data
# Runs with a read-only root file system: docker run --read-only --tmpfs /tmp -v tranche:/data …
VOLUME /data
# Metrics, health and readiness. They are on the loopback address of the container unless operate.listen says otherwise.
EXPOSE 8321
STOPSIGNAL SIGTERM
# Alive, not ready: a halted desk must stay up, and a restart would not make it trade.
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:8321/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Give it time to end what is under way: docker stop -t 30
ENTRYPOINT ["tranche"]
CMD ["run"]
