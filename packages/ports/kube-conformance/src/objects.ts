/** Parts of an object that replace those of the builder. */
type Overrides = Readonly<Record<string, unknown>>

/** @returns a ConfigMap to post */
export function configMap(name: string, overrides: Overrides = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' }, ...overrides }
}

/**
 * Creates a pod that is never scheduled, because its scheduler does not exist.
 *
 * @param spec fields of its spec, in place of the builder's
 */
export function idlePod(name: string, spec: Overrides = {}, metadata: Overrides = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { schedulerName: 'no-scheduler', containers: [{ name: 'main', image: 'main:v1' }], ...spec },
  }
}

/**
 * A DaemonSet to post. Its pods match no node, unless `podSpec` says otherwise.
 */
export function daemonSet(
  name: string,
  {
    spec = {},
    podSpec = {},
    template = {},
    metadata = {},
  }: Readonly<Partial<Record<'spec' | 'podSpec' | 'template' | 'metadata', Overrides>>> = {},
): object {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, ...metadata },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { nodeSelector: { 'conformance.tranche.dev/node': 'none' }, containers: [{ name: 'main', image: 'main:v1' }], ...podSpec },
        ...template,
      },
      ...spec,
    },
  }
}

/** @returns a Lease to post */
export function lease(name: string, spec: Overrides = {}): object {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec }
}
