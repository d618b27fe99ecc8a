import type { ReleasePolicy, Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { type ControllerRevision, type DaemonSet, type KubeObject, type Pod, rolloutAnnotations } from '@tranche/kube-types'
import { stageKey } from '../scenarios/stage-objects.ts'
import type { Schedule } from './schedule.ts'
import type { World } from './world.ts'

interface ConfigMap extends KubeObject {
  readonly immutable?: boolean
  readonly data?: Readonly<Record<string, string>>
}

/** What config is judged on at the end of a release. */
export interface ConfigEnd {
  readonly rollout: Rollout | undefined
  readonly daemonSet: DaemonSet | undefined
  readonly pods: readonly Pod[]
}

/**
 * @param level content that the owners want
 * @returns what differs. Every pod reads an immutable copy, all of them the same content. It is the owners', unless it was rolled back, as an
 *   owner or a policy asked for. No copy is left that nothing names
 */
export async function findUnendedPins({ people, schedule }: World, end: ConfigEnd, level: string): Promise<readonly string[]> {
  const { rollout, daemonSet, pods } = end
  if (schedule.shape.config?.isPinned !== true || daemonSet === undefined) return []
  const named = rollout?.metadata.annotations?.[rolloutAnnotations.releasePolicy]
  const { namespace } = stageKey
  const policies = (await people.list<ReleasePolicy>(resourcePaths.releasePolicies, { namespace })).items
  if (policies.find(({ metadata }) => metadata.name === named)?.spec.config !== 'Pin') return []
  const configMaps = (await people.list<ConfigMap>(resourcePaths.configMaps, { namespace })).items
  const revisions = (await people.list<ControllerRevision>(resourcePaths.controllerRevisions, { namespace })).items
  const copies = new Map(configMaps.flatMap((one) => (one.immutable === true ? [[one.metadata.name, one.data?.['level']] as const] : [])))
  const read = new Set(pods.map((pod) => copies.get(configOf(pod)) ?? `config ${configOf(pod)}, which is no copy`))
  const isRolledBack = mayBeRolledBack(schedule) && rollout?.status?.conditions?.some(({ reason }) => reason === 'RolledBack') === true
  const naming = JSON.stringify([daemonSet, pods, revisions])
  const left = configMaps.filter(
    ({ metadata }) => metadata.labels?.['tranche.dev/config-of'] !== undefined && !naming.includes(metadata.name),
  )
  return [
    ...(read.size > 1 ? [`pods read different config: ${[...read].join(', ')}`] : []),
    ...(isRolledBack || [...read].every((one) => one === level) ? [] : [`pods read ${[...read].join(', ')}, and the owners want ${level}`]),
    ...(left.length > 0 ? [`copies are left that nothing names: ${left.map(({ metadata }) => metadata.name).join(', ')}`] : []),
  ]
}

/** Whether a person may have asked for a rollback, or a policy for one after a failure. */
function mayBeRolledBack({ shape, incidents }: Schedule): boolean {
  const asks = incidents.some((one) => one.kind === 'ask' || (one.kind === 'act' && one.type === 'abort'))
  const policies = [shape.policy, ...incidents.map((one) => (one.kind === 'policy' ? one.spec : null))]
  return asks || policies.some((policy) => policy?.failure?.action === 'Rollback' || policy?.failure?.onReapply === 'Revert')
}

/** Name of the first ConfigMap that a pod reads: the plain one, or its copy. */
function configOf({ spec }: Pod): string {
  const { containers } = spec as unknown as {
    readonly containers: readonly { readonly envFrom?: readonly { readonly configMapRef?: { readonly name: string } }[] }[]
  }
  return containers[0]?.envFrom?.[0]?.configMapRef?.name ?? ''
}
