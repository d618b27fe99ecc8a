# The image of every component. How it is built, pinned and checked: docs/operations/image.md
ARG NODE_IMAGE=node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe

FROM ${NODE_IMAGE} AS bundle
WORKDIR /src
COPY package.json ./
# With its version, as package.json has it.
# hadolint ignore=DL3016
RUN npm install --global "$(node --print "JSON.parse(fs.readFileSync('package.json')).packageManager")"
COPY . .
RUN --mount=type=cache,target=/root/.local/share/pnpm/store sh scripts/image-root.sh /opt/tranche

FROM ${NODE_IMAGE}
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="tranche" \
      org.opencontainers.image.description="Progressive delivery for Kubernetes DaemonSets" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
# Nothing is installed in a running container.
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack \
      /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-* \
    && ln -s /opt/tranche/bin/tranche.mjs /usr/local/bin/tranche
COPY --from=bundle /opt/tranche /opt/tranche
WORKDIR /
USER 65532:65532
ENTRYPOINT ["tranche"]
CMD ["--help"]
