import { basename } from 'node:path'
import { descriptions } from '../../scripts/packages.ts'

/** Packages of one folder below `packages/` (or of `apps/`), and the layers they may import. */
export interface Layer {
  /** Name of the folder. */
  readonly name: string
  /** Names of its packages in the reading order of scripts/packages.ts. A package may import those before it. */
  readonly packages: readonly string[]
  /** Other layers whose packages these may import. */
  readonly mayImport: readonly string[]
}

/**
 * Layers and their allowed imports, most stable first. A layer may import only earlier ones, and not all of them. The simulator and the
 * reader of its recordings import words only, because their view of DaemonSets is independent of the core. Shells define the ports they
 * need and import no adapter.
 */
export const layers: readonly Layer[] = [
  layer('words', []),
  layer('core', ['words']),
  layer('ports', ['words', 'core']),
  layer('adapters', ['words', 'ports']),
  layer('clients', ['words', 'core', 'adapters']),
  layer('simulator', ['words']),
  layer('shells', ['words', 'core', 'ports']),
  layer('harness', ['words', 'core', 'ports', 'adapters', 'simulator', 'shells']),
  layer('apps', ['words', 'core', 'ports', 'adapters', 'clients', 'simulator', 'shells', 'harness']),
]

/** Packages that may import less than their folder, and that only tests may import. */
export const testsOnly: Readonly<Record<string, readonly string[]>> = { testing: ['words', 'core', 'simulator'] }

function layer(name: string, mayImport: readonly string[]): Layer {
  const folder = name === 'apps' ? 'apps/' : `packages/${name}/`
  const packages = Object.keys(descriptions).filter((path) => path.startsWith(folder))
  return { name, packages: packages.map((path) => basename(path)), mayImport }
}

/** Packages without clock, randomness, environment, network and Node built-ins: words (except the clock) and core. */
export const purePackages: readonly string[] = layers
  .filter((layer) => layer.name === 'words' || layer.name === 'core')
  .flatMap((layer) => layer.packages)
  .filter((name) => name !== 'clock')

/** Libraries that only these packages may import, so that a replacement changes little else. */
export const ownedLibraries: Readonly<Record<string, string | readonly string[]>> = {
  undici: ['kube-client', 'egress'],
  '@kubernetes/client-node': 'kube-client',
  zod: ['api-schema', 'api'],
  '@noble/hashes': 'kube-types',
  '@peculiar/x509': ['sim-api', 'certificates'],
  bullmq: 'queue-bullmq',
  ioredis: 'queue-bullmq',
  commander: ['cli', 'launcher'],
  'prom-client': ['metrics', 'api'],
  '@opentelemetry/api': 'tracing-otlp',
  '@opentelemetry/exporter-trace-otlp-http': 'tracing-otlp',
  '@opentelemetry/exporter-trace-otlp-proto': 'tracing-otlp',
  '@opentelemetry/resources': 'tracing-otlp',
  '@opentelemetry/sdk-trace': 'tracing-otlp',
  '@marcbachmann/cel-js': 'cel',
  '@prometheus-io/lezer-promql': 'validation',
}

/** Files above 350 lines that should not be split, with the reason. */
export const longFiles: Readonly<Record<string, string>> = {}
