import { podPolicy } from '@tranche/admission'
import { type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import type { ReleasePolicySpec } from '@tranche/api-schema'
import { type ReleaseOptions, stageKey } from '../scenarios/stage-objects.ts'
import type { ConfigLevels } from './end-config.ts'
import type { OwnerOperation, Shape } from './schedule.ts'
import { durationText } from './words.ts'

/** Names of ConfigMaps by their kind. */
const configNames = { plain: 'agent', hashed: 'agent-7g2kc9hb4m', immutable: 'agent-fixed' } as const

/** The people who own the ConfigMaps, and the Secret, that the template reads. */
export interface ConfigOwner {
  /** Creates the missing ones. */
  create(): Promise<void>
  /** Changes the plain ConfigMap or the Secret. @param later calls back after this time */
  perform(incident: ConfigIncident, later: (ms: number, act: () => Promise<void>) => void): Promise<void>
  /** Contents that they should have. */
  levels(): ConfigLevels
}

/** What the owners of config do. */
export type ConfigIncident = Extract<
  OwnerOperation,
  { readonly kind: 'writeConfig' | 'deleteConfig' | 'writeSecret' | 'deleteSecret' | 'labelSecret' | 'liftPodPolicy' }
>

/** Whether the owners of config do it. */
export function isOfConfig(operation: OwnerOperation): operation is ConfigIncident {
  return ['writeConfig', 'deleteConfig', 'writeSecret', 'deleteSecret', 'labelSecret', 'liftPodPolicy'].includes(operation.kind)
}

const PARTS = ['policy', 'binding'] as const
const group = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false }
const policyPaths: Readonly<Record<(typeof PARTS)[number], ResourcePath>> = {
  policy: { ...group, plural: 'mutatingadmissionpolicies' },
  binding: { ...group, plural: 'mutatingadmissionpolicybindings' },
}

/** Name of the Secret. */
const SECRET = 'token'

/** @param tolerant runs a request, and ignores that an object is missing or exists */
export function createConfigOwner(
  people: KubeClient,
  { config }: Shape,
  tolerant: (request: Promise<unknown>) => Promise<void>,
): ConfigOwner {
  const { namespace } = stageKey
  const plain = { namespace, name: configNames.plain }
  const secret = { namespace, name: SECRET }
  let levels: ConfigLevels = { configMap: 'info', secret: 'info' }
  const patch = (resource: ResourcePath, key: ObjectKey, body: object): Promise<void> =>
    tolerant(people.patch(resource, key, { type: 'merge', body }))
  async function createPolicy(): Promise<void> {
    for (const [at, part] of PARTS.entries()) await tolerant(people.create(policyPaths[part], podPolicy[at] as never))
  }
  async function create(): Promise<void> {
    for (const kind of config?.kinds ?? []) {
      const data = { level: kind === 'plain' ? levels.configMap : 'info' }
      const metadata = { namespace, name: configNames[kind] }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data, ...(kind === 'immutable' && { immutable: true }) }
      await tolerant(people.create(resourcePaths.configMaps, object as never))
    }
    if (config?.isPinned === true) await createPolicy()
    if (config?.secret !== true) return
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: secret, type: 'Opaque', data: secretData(levels.secret) }
    await tolerant(people.create(resourcePaths.secrets, object as never))
  }
  return {
    create,
    async perform(incident, later) {
      switch (incident.kind) {
        case 'writeConfig':
          levels = { ...levels, configMap: incident.level }
          return patch(resourcePaths.configMaps, plain, { data: { level: incident.level } })
        case 'deleteConfig':
          later(incident.forMs, create)
          return tolerant(people.delete(resourcePaths.configMaps, plain))
        case 'writeSecret':
          levels = { ...levels, secret: incident.level }
          return patch(resourcePaths.secrets, secret, { data: secretData(incident.level) })
        case 'deleteSecret':
          later(incident.forMs, create)
          return tolerant(people.delete(resourcePaths.secrets, secret))
        case 'labelSecret':
          return patch(resourcePaths.secrets, secret, { metadata: { labels: { label: incident.label } } })
        case 'liftPodPolicy':
          later(incident.forMs, createPolicy)
          return tolerant(people.delete(policyPaths[incident.part], { namespace: '', name: 'pods' }))
        default:
          return incident satisfies never
      }
    },
    levels: () => levels,
  }
}

/** @returns what the owners do, in words */
export function textOfConfig(incident: ConfigIncident): string {
  if (incident.kind === 'liftPodPolicy')
    return `the ${incident.part} for pods is deleted, and created again in ${durationText(incident.forMs)}`
  const object = incident.kind.endsWith('Config') ? 'ConfigMap' : 'Secret'
  if ('level' in incident) return `the ${object} becomes ${incident.level}`
  if ('label' in incident) return `the ${object} gets the label ${incident.label}`
  return `the ${object} is deleted, and created again in ${durationText(incident.forMs)}`
}

function secretData(level: string): Readonly<Record<string, string>> {
  return { level: Buffer.from(level).toString('base64') }
}

/** The ConfigMaps and Secrets that the template of a world reads. */
export function readingConfig({ config }: Shape): Pick<ReleaseOptions, 'configMaps' | 'secrets'> {
  if (config === undefined) return {}
  return { configMaps: config.kinds.map((kind) => configNames[kind]), ...(config.secret === true && { secrets: [SECRET] }) }
}

/** A policy as its owners write it, once they want config to be pinned. */
export function withPins(spec: ReleasePolicySpec, isPinned: boolean): ReleasePolicySpec {
  return isPinned ? { ...spec, config: 'Pin' } : spec
}
