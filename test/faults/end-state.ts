import type { BatchRelease, Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import {
  CORDON_ANNOTATION,
  type DaemonSet,
  daemonSetAnnotations as keys,
  DRAIN_REASON,
  type Lease,
  type Node,
  type Pod,
  rolloutAnnotations,
  TOUCHED_ANNOTATION,
} from '@tranche/kube-types'
import type { RecordedDaemonSet, RecordedWrite } from '@tranche/recording'
import { stageKey } from '../scenarios/stage-objects.ts'
import { type ConfigLevels, findUnendedPins } from './end-config.ts'
import type { Shape } from './schedule.ts'
import { daemonSetOf, rolloutOf } from './owners.ts'
import type { World } from './world.ts'

/** Everything on which the end of a release is judged. */
interface EndView {
  readonly rollout: Rollout | undefined
  readonly daemonSet: DaemonSet | undefined
  readonly releases: readonly BatchRelease[]
  readonly pods: readonly Pod[]
  /** Names. */
  readonly nodes: ReadonlySet<string>
  /** Names of nodes that take no new pods, or that have a mark or our condition of a drain. */
  readonly cordoned: readonly string[]
  /** Keys of the DaemonSet that stay until the next release, which has not begun. */
  readonly kept: readonly string[]
}

/** @returns each difference from the required state at the end of a release, in words; empty if it has ended */
export async function findUnended(world: World, tag: string, levels: ConfigLevels): Promise<readonly string[]> {
  const { namespace } = stageKey
  const { people, schedule } = world
  const nodes = (await people.list<Node>(resourcePaths.nodes)).items
  const view: EndView = {
    rollout: await rolloutOf(world),
    daemonSet: await daemonSetOf(world),
    releases: (await people.list<BatchRelease>(resourcePaths.batchReleases, { namespace })).items,
    pods: (await people.list<Pod>(resourcePaths.pods, { namespace })).items,
    nodes: new Set(nodes.map(({ metadata }) => metadata.name)),
    cordoned: nodes.filter(isCordoned).map(({ metadata }) => metadata.name),
    kept: awaitsRelease(world.recording.writes) ? [keys.unsettled] : [],
  }
  const cordons = view.cordoned.length === 0 ? [] : [`nodes are cordoned or marked: ${view.cordoned.join(', ')}`]
  const leases = (await people.list<Lease>(resourcePaths.leases)).items.filter(({ spec }) => spec?.holderIdentity?.startsWith('tranche/'))
  const locks = leases.map(({ metadata }) => `a release holds the Lease ${metadata.name}`)
  const { shape } = schedule
  const pins = await findUnendedPins(world, view, levels)
  return [
    ...cordons,
    ...locks,
    ...pins,
    ...unendedRollout(view),
    ...unendedPods(view, tag),
    ...unendedKeys(view, shape),
    ...unendedConfig(view, shape),
  ]
}

/**
 * Whether only the DaemonSet controller has something to do: observe a generation, or create the pod of a node without one. It waits for
 * pods of the previous DaemonSet until its expectations expire, and after that for any event.
 */
export async function standsStill(world: World): Promise<boolean> {
  const { namespace } = stageKey
  const daemonSet = await daemonSetOf(world)
  if (daemonSet === undefined) return false
  if (daemonSet.status?.observedGeneration !== daemonSet.metadata.generation) return true
  const pods = (await world.people.list<Pod>(resourcePaths.pods, { namespace })).items
  const served = new Set(pods.map(({ spec }) => spec?.nodeName ?? pinnedTo(spec)))
  const nodes = (await world.people.list<Node>(resourcePaths.nodes)).items
  return nodes.some(({ metadata }) => !served.has(metadata.name))
}

function isCordoned({ metadata, spec, status }: Node): boolean {
  const hasCondition = status?.conditions?.some(({ reason }) => reason === DRAIN_REASON) === true
  return hasCondition || spec?.unschedulable === true || metadata.annotations?.[CORDON_ANNOTATION] !== undefined
}

function unendedRollout({ rollout, releases }: EndView): readonly string[] {
  if (rollout === undefined) return ['there is no Rollout']
  const { status, metadata } = rollout
  const unended: string[] = []
  if (status?.phase !== 'Healthy') unended.push(`the Rollout is ${status?.phase ?? 'without status'}: ${status?.message ?? ''}`)
  if (status?.observedGeneration !== metadata.generation)
    unended.push(`the Rollout's observedGeneration is ${status?.observedGeneration}, its generation ${metadata.generation}`)
  const asked = metadata.annotations?.[rolloutAnnotations.action]
  const { id = '' } = asked === undefined ? {} : (JSON.parse(asked) as { readonly id?: string })
  if (asked !== undefined && status?.lastAction?.id !== id && status?.answeredActions?.includes(id) !== true)
    unended.push(`the action ${asked} was never answered`)
  for (const { metadata, status } of releases)
    unended.push(`the BatchRelease ${metadata.name} still exists: ${status?.phase}, ${status?.message ?? ''}`)
  return unended
}

/**
 * A pod that was created for a node on its way out stays unbound. The removal of a node does not wake the DaemonSet controller: only its
 * next pass, for another reason, deletes such a pod.
 */
function unendedPods({ daemonSet, pods: all, nodes }: EndView, tag: string): readonly string[] {
  const pods = all.filter(({ spec }) => spec?.nodeName !== undefined || nodes.has(pinnedTo(spec)))
  const { status, metadata } = daemonSet ?? {}
  if (status === undefined || metadata === undefined) return ['there is no DaemonSet']
  const unended: string[] = []
  if (status.observedGeneration !== metadata.generation) unended.push('the DaemonSet controller has not observed the last generation')
  if ((status.numberAvailable ?? 0) !== nodes.size || pods.length !== nodes.size)
    unended.push(`${status.numberAvailable ?? 0} of ${nodes.size} nodes have an available pod, and there are ${pods.length} pods`)
  const others = pods.filter(({ spec }) => !imagesOf(spec).every((image) => image.endsWith(`:${tag}`)))
  if (others.length > 0) unended.push(`${others.length} pods do not run ${tag}: ${others.map(({ spec }) => spec?.nodeName).join(', ')}`)
  return unended
}

/** The node that the affinity of a DaemonSet's pod names. */
function pinnedTo(spec: Pod['spec']): string {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return terms?.[0]?.matchFields?.[0]?.values?.[0] ?? ''
}

function imagesOf(spec: Pod['spec']): readonly string[] {
  return (spec as unknown as { readonly containers: readonly { readonly image: string }[] }).containers.map(({ image }) => image)
}

/** Whether no release has begun since one detached and left nodes in flight: only the next one removes their record (docs/reference/actions.md). */
export function awaitsRelease(writes: readonly RecordedWrite[]): boolean {
  const ofStage = writes.filter(({ namespace }) => namespace === stageKey.namespace)
  const carries = ({ kind, type, o }: RecordedWrite): boolean =>
    kind === 'DaemonSet' && type !== 'DELETED' && (o as Pick<RecordedDaemonSet, 'annotations'>).annotations?.[keys.unsettled] !== undefined
  const daemonSets = ofStage.filter(({ kind }) => kind === 'DaemonSet')
  const last = daemonSets.findLast((write, at) => carries(write) && !(at > 0 && carries(daemonSets[at - 1]!)))
  return last !== undefined && !ofStage.some(({ kind, type, rv }) => kind === 'BatchRelease' && type === 'ADDED' && rv > last.rv)
}

function unendedKeys({ daemonSet, kept }: EndView, { admission, declares }: Shape): readonly string[] {
  if (daemonSet === undefined) return []
  const { metadata, spec } = daemonSet
  const unended: string[] = []
  const flips = admission === 'none' && declares === 'RollingUpdate'
  const type = flips ? 'OnDelete' : declares
  if (spec.updateStrategy?.type !== type) unended.push(`the strategy is ${spec.updateStrategy?.type}, and should be ${type}`)
  const left = Object.keys(metadata.annotations ?? {}).filter((key) => leaving.includes(key) && !kept.includes(key))
  if (left.length > 0) unended.push(`the DaemonSet still carries ${left.join(', ')}`)
  const original = metadata.annotations?.[keys.originalUpdateStrategy]
  if (flips && original !== declares) unended.push(`the recorded original strategy is ${original}, and was ${declares}`)
  return unended
}

/** The condition must follow from the names and the objects that the owners wrote. */
function unendedConfig({ rollout }: EndView, { config }: Shape): readonly string[] {
  // Copies are judged by themselves.
  if (config?.isPinned === true) return []
  const kinds = config?.kinds ?? []
  const isUnversioned = kinds.includes('plain') || (kinds.includes('immutable') && config?.isRead === false)
  const condition = rollout?.status?.conditions?.find(({ type }) => type === 'ConfigUnversioned')
  if ((condition?.status === 'True') === isUnversioned) return []
  return [`the condition ConfigUnversioned is ${condition?.status ?? 'absent'}, and the template reads ${kinds.join(', ')} config`]
}

/** Keys that the end of a release removes. */
const leaving: readonly string[] = [
  keys.canaryRevision,
  keys.stableRevision,
  keys.partition,
  keys.paused,
  keys.controlInfo,
  keys.inProgressing,
  keys.frozen,
  keys.unsettled,
  keys.reverted,
  TOUCHED_ANNOTATION,
]
