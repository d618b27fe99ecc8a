import type { ReleasePolicy, Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { type ControllerRevision, type DaemonSet, type KubeObject, type Pod, rolloutAnnotations } from '@tranche/kube-types'
import { stageKey } from '../scenarios/stage-objects.ts'
import { configNamesIn } from './live-pods.ts'
import type { Schedule } from './schedule.ts'
import type { World } from './world.ts'

/** A ConfigMap or Secret. */
interface ConfigObject extends KubeObject {
  readonly immutable?: boolean
  readonly data?: Readonly<Record<string, string>>
}

/** Contents that the owners want. */
export interface ConfigLevels {
  readonly configMap: string
  readonly secret: string
}

/** What config is judged on at the end of a release. */
export interface ConfigEnd {
  readonly rollout: Rollout | undefined
  readonly daemonSet: DaemonSet | undefined
  readonly pods: readonly Pod[]
}

/**
 * @returns what differs. Every pod reads an immutable copy, all of them the same content. It is the owners', unless it was rolled back, as an
 *   owner or a policy asked for. No copy is left that nothing names. The same holds for the Secret
 */
export async function findUnendedPins({ people, schedule }: World, end: ConfigEnd, levels: ConfigLevels): Promise<readonly string[]> {
  const { rollout, daemonSet, pods } = end
  const { config } = schedule.shape
  if (config?.isPinned !== true || daemonSet === undefined) return []
  const named = rollout?.metadata.annotations?.[rolloutAnnotations.releasePolicy]
  const { namespace } = stageKey
  const policies = (await people.list<ReleasePolicy>(resourcePaths.releasePolicies, { namespace })).items
  if (policies.find(({ metadata }) => metadata.name === named)?.spec.config !== 'Pin') return []
  const configMaps = (await people.list<ConfigObject>(resourcePaths.configMaps, { namespace })).items
  const secrets = (await people.list<ConfigObject>(resourcePaths.secrets, { namespace })).items.map(decoded)
  const revisions = (await people.list<ControllerRevision>(resourcePaths.controllerRevisions, { namespace })).items
  const isRolledBack = mayBeRolledBack(schedule) && rollout?.status?.conditions?.some(({ reason }) => reason === 'RolledBack') === true
  const naming = JSON.stringify([daemonSet, pods, revisions])
  const common = { pods, naming, isRolledBack }
  return [
    ...unendedOf({ ...common, kind: 'config', objects: configMaps, level: levels.configMap }),
    ...(config.secret === true ? unendedOf({ ...common, kind: 'secret', objects: secrets, level: levels.secret }) : []),
  ]
}

interface OfKind {
  readonly kind: 'config' | 'secret'
  readonly objects: readonly ConfigObject[]
  readonly level: string
  readonly pods: readonly Pod[]
  /** Everything that may name a copy, as text. */
  readonly naming: string
  readonly isRolledBack: boolean
}

function unendedOf({ kind, objects, level, pods, naming, isRolledBack }: OfKind): readonly string[] {
  const copies = new Map(objects.flatMap((one) => (one.immutable === true ? [[one.metadata.name, one.data?.['level']] as const] : [])))
  const names = pods.map((pod) => configNamesIn(pod)[kind][0] ?? '')
  const read = new Set(names.map((name) => copies.get(name) ?? `${kind} ${name}, which is no copy`))
  const left = objects.filter(({ metadata }) => metadata.labels?.['tranche.dev/config-of'] !== undefined && !naming.includes(metadata.name))
  return [
    ...(read.size > 1 ? [`pods read different ${kind}: ${[...read].join(', ')}`] : []),
    ...(isRolledBack || [...read].every((one) => one === level)
      ? []
      : [`pods read the ${kind} ${[...read].join(', ')}, and the owners want ${level}`]),
    ...(left.length > 0 ? [`copies are left that nothing names: ${left.map(({ metadata }) => metadata.name).join(', ')}`] : []),
  ]
}

function decoded(secret: ConfigObject): ConfigObject {
  const data = Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()])
  return { ...secret, data: Object.fromEntries(data) as Readonly<Record<string, string>> }
}

/** Whether a person may have asked for a rollback, also by disabling the Rollout, or a policy for one after a failure. */
function mayBeRolledBack({ shape, incidents }: Schedule): boolean {
  const asks = incidents.some(asksForRollback)
  const policies = [shape.policy, ...incidents.map((one) => (one.kind === 'policy' ? one.spec : null))]
  return asks || policies.some((policy) => policy?.failure?.action === 'Rollback' || policy?.failure?.onReapply === 'Revert')
}

function asksForRollback(incident: Schedule['incidents'][number]): boolean {
  if (incident.kind === 'onDelete') return incident.policy === 'Rollback'
  return incident.kind === 'ask' || (incident.kind === 'act' && incident.type === 'abort')
}
