/** A row of the map: packages in reading order, and the layers they may look at. */
export interface Layer {
  readonly name: string
  /** Folders below `packages/` (below `apps/` for the last layer). A package may import those that stand before it in its own row. */
  readonly packages: readonly string[]
  /** Other layers, whole, that these packages may import. */
  readonly mayImport: readonly string[]
}

/**
 * Who may import whom, most stable first: arrows point up this list only, and not to every row.
 * The simulator (and the reader of its recordings) sees words alone, so that what it knows of DaemonSets is a second opinion on the core.
 * Shells define the ports they need and never see an adapter.
 */
export const layers: readonly Layer[] = [
  { name: 'words', packages: ['errors', 'clock', 'log', 'tracing', 'wire', 'cel', 'manifests', 'kube-types', 'api-schema'], mayImport: [] },
  {
    name: 'core',
    packages: ['fleet', 'flight', 'validation', 'analysis', 'verdict', 'planner', 'actions', 'reports', 'admission'],
    mayImport: ['words'],
  },
  { name: 'ports', packages: ['queue', 'queue-conformance', 'kube-conformance'], mayImport: ['words', 'core'] },
  {
    name: 'adapters',
    packages: [
      'kube-client',
      'queue-bullmq',
      'outgoing',
      'notifier',
      'certificates',
      'connections',
      'metrics',
      'tracing-otlp',
      'api-client',
    ],
    mayImport: ['words', 'ports'],
  },
  { name: 'cluster', packages: ['cluster', 'steering'], mayImport: ['words', 'core', 'adapters'] },
  { name: 'simulator', packages: ['recording', 'sim-api', 'sim-controllers', 'sim-nodes', 'sim', 'sim-faults'], mayImport: ['words'] },
  { name: 'shells', packages: ['crash-points', 'reconcile', 'controllers', 'partition-executor'], mayImport: ['words', 'core', 'ports'] },
  { name: 'forecast', packages: ['forecast'], mayImport: ['words', 'core', 'ports', 'adapters', 'simulator', 'shells'] },
  { name: 'testing', packages: ['testing'], mayImport: ['words', 'core', 'simulator'] },
  {
    name: 'apps',
    packages: ['controller', 'executor', 'api', 'cli'],
    mayImport: ['words', 'core', 'ports', 'adapters', 'cluster', 'simulator', 'shells', 'forecast'],
  },
]

/** No clock, no randomness, no environment, no network, no Node built-ins: words (but the clock) and core. */
export const purePackages: readonly string[] = layers
  .filter((layer) => layer.name === 'words' || layer.name === 'core')
  .flatMap((layer) => layer.packages)
  .filter((name) => name !== 'clock')

/** Libraries that only these packages may know, so that changing one of them changes little else. */
export const ownedLibraries: Readonly<Record<string, string | readonly string[]>> = {
  undici: ['kube-client', 'outgoing'],
  '@kubernetes/client-node': 'kube-client',
  zod: ['api-schema', 'api'],
  '@noble/hashes': 'kube-types',
  '@peculiar/x509': ['sim-api', 'certificates'],
  bullmq: 'queue-bullmq',
  ioredis: 'queue-bullmq',
  commander: 'cli',
  'prom-client': ['metrics', 'api'],
  '@opentelemetry/api': 'tracing-otlp',
  '@opentelemetry/exporter-trace-otlp-http': 'tracing-otlp',
  '@opentelemetry/exporter-trace-otlp-proto': 'tracing-otlp',
  '@opentelemetry/resources': 'tracing-otlp',
  '@opentelemetry/sdk-trace': 'tracing-otlp',
  '@marcbachmann/cel-js': 'cel',
  '@prometheus-io/lezer-promql': 'validation',
}

/** Files above 350 lines that are one thing nevertheless, each with the reason. */
export const longFiles: Readonly<Record<string, string>> = {}
