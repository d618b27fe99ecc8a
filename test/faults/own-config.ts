import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { ReleasePolicySpec } from '@tranche/api-schema'
import { type ReleaseOptions, stageKey } from '../scenarios/stage-objects.ts'
import type { Shape } from './schedule.ts'

/** Names of ConfigMaps by their kind. */
const configNames = { plain: 'agent', hashed: 'agent-7g2kc9hb4m', immutable: 'agent-fixed' } as const

/** The people who own the ConfigMaps that the template reads. */
export interface ConfigOwner {
  /** Creates the missing ones. */
  create(): Promise<void>
  /** The plain one has this content from now on. */
  write(level: string): Promise<void>
  /** Deletes the plain one. */
  remove(): Promise<void>
  /** Content that the plain one should have. */
  level(): string
}

/** @param tolerant runs a request, and ignores that an object is missing or exists */
export function createConfigOwner(
  people: KubeClient,
  { config }: Shape,
  tolerant: (request: Promise<unknown>) => Promise<void>,
): ConfigOwner {
  const plain = { namespace: stageKey.namespace, name: configNames.plain }
  let level = 'info'
  return {
    async create() {
      for (const kind of config?.kinds ?? []) {
        const metadata = { namespace: stageKey.namespace, name: configNames[kind] }
        const data = { level: kind === 'plain' ? level : 'info' }
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data, ...(kind === 'immutable' && { immutable: true }) }
        await tolerant(people.create(resourcePaths.configMaps, object as never))
      }
    },
    async write(next) {
      level = next
      await tolerant(people.patch(resourcePaths.configMaps, plain, { type: 'merge', body: { data: { level } } }))
    },
    remove: () => tolerant(people.delete(resourcePaths.configMaps, plain)),
    level: () => level,
  }
}

/** The ConfigMaps that the template of a world reads. */
export function readingConfig({ config }: Shape): Pick<ReleaseOptions, 'configMaps'> {
  return config === undefined ? {} : { configMaps: config.kinds.map((kind) => configNames[kind]) }
}

/** A policy as its owners write it in this world. */
export function withPins(spec: ReleasePolicySpec, { config }: Shape): ReleasePolicySpec {
  return config?.isPinned === true ? { ...spec, config: 'Pin' } : spec
}
