import { type Rollout, SEEN_REASON_MAX, type SeenAction, type SeenType, seenTypes } from '@tranche/api-schema'
import {
  type DaemonSet,
  daemonSetAnnotations,
  fieldManagers,
  isSameJson,
  keyOf,
  type KubeObject,
  keyText,
  RECORDED_ACTIONS_ANNOTATION,
  rolloutAnnotations,
} from '@tranche/kube-types'
import { isDaemonSetRef } from '@tranche/validation'
import { type FieldOwner, writersOf } from './field-writers.ts'

/** What was done between two versions of an object; when it was seen is for the caller to say. */
export type UndatedAction = Omit<SeenAction, 'at'>

/** As much of an object as it takes to tell what the next version has changed. */
export interface SeenVersion {
  /** `namespace/name` of the Rollout that it is about. */
  readonly rollout: string
  /** Name of the DaemonSet that says so: whoever may write one may name any Rollout in it. Undefined of a Rollout itself. */
  readonly daemonSet?: string
  readonly generation: number | undefined
  /** The recorded actions, as text: a program that adds one has recorded the other differences too. */
  readonly recorded: string | undefined
  /** What people write, as it stands; of a Rollout or of a DaemonSet. */
  readonly written: object
  /** What others than we have done to make this version of the one before, and nobody has recorded. */
  readonly actions: readonly UndatedAction[]
}

/**
 * @param previous what was seen of its version before; undefined: the first, by which nobody has done anything
 * @returns what is seen of a Rollout of a DaemonSet; null of any other
 */
export function seeRollout(rollout: Rollout, previous: SeenVersion | undefined): SeenVersion | null {
  const { metadata, spec, status } = rollout
  if (!isDaemonSetRef(spec.workloadRef)) return null
  const { paused = false } = spec.strategy
  const { currentStepState, nextStepIndex } = status?.canaryStatus ?? {}
  const written = {
    metadata: { annotations: { [rolloutAnnotations.action]: metadata.annotations?.[rolloutAnnotations.action] } },
    spec: { disabled: spec.disabled ?? false, strategy: { paused } },
    status: { canaryStatus: { currentStepState, nextStepIndex } },
  }
  const seen = { ...versionOf(rollout), rollout: keyText(keyOf(rollout)), written }
  return { ...seen, actions: previous === undefined ? [] : actionsOnRollout(rollout, previous, seen) }
}

/**
 * @param previous as of a Rollout; one that was bound to another Rollout counts as none
 * @returns what is seen of a DaemonSet that has a Rollout; null of any other
 */
export function seeDaemonSet(daemonSet: DaemonSet, previous: SeenVersion | undefined): SeenVersion | null {
  const { annotations = {}, namespace = '', generation } = daemonSet.metadata
  const name = annotations[daemonSetAnnotations.rollout]
  if (name === undefined) return null
  const seen = { ...versionOf(daemonSet), rollout: keyText({ namespace, name }), daemonSet: daemonSet.metadata.name }
  const before = previous?.rollout === seen.rollout ? previous : undefined
  // Nodes that come and go change its status all the time.
  if (before?.generation === generation && before !== undefined) return { ...seen, written: before.written, actions: [] }
  // Where the stable template is put back, the moment of that stands beside it.
  const written = { spec: { template: daemonSet.spec.template }, revertedAt: annotations[daemonSetAnnotations.reverted] }
  return { ...seen, written, actions: before === undefined ? [] : actionsOnTemplate(daemonSet, before, { ...seen, written }) }
}

function versionOf({ metadata }: KubeObject): Pick<SeenVersion, 'generation' | 'recorded'> {
  return { generation: metadata.generation, recorded: metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION] }
}

type Seen = Omit<SeenVersion, 'actions'>

function actionsOnRollout(rollout: Rollout, was: SeenVersion, is: Seen): readonly UndatedAction[] {
  const { spec, status, metadata } = rollout
  const { currentStepState, currentStepIndex, nextStepIndex } = status?.canaryStatus ?? {}
  const action = actionOf(metadata.annotations?.[rolloutAnnotations.action])
  const specActions = [
    doneTo(rollout, { was, is, path: ['spec', 'strategy', 'paused'] }, spec.strategy.paused === true ? 'pause' : 'resume'),
    doneTo(rollout, { was, is, path: ['spec', 'disabled'] }, spec.disabled === true ? 'disable' : 'enable'),
    action && doneTo(rollout, { was, is, path: ['metadata', 'annotations', rolloutAnnotations.action] }, action.type, action.said),
  ]
  // The status is ours: a change is an action only where `managedFields` names another program.
  const statusActions = [
    currentStepState === 'StepReady' &&
      doneTo(rollout, { was, is, path: ['status', 'canaryStatus', 'currentStepState'] }, 'approve', { step: currentStepIndex }),
    nextStepIndex !== undefined &&
      doneTo(rollout, { was, is, path: ['status', 'canaryStatus', 'nextStepIndex'] }, 'jump', { step: nextStepIndex }),
  ].filter((one) => one !== false && one?.manager !== undefined)
  return [...specActions, ...statusActions].filter((one) => one !== undefined && one !== false)
}

function actionsOnTemplate(daemonSet: DaemonSet, was: SeenVersion, is: Seen): readonly UndatedAction[] {
  const action = doneTo(daemonSet, { was, is, path: ['spec', 'template'] }, 'template')
  if (action === undefined) return []
  const isPutBack = action.manager === undefined && !isSameJson(at(was.written, ['revertedAt']), at(is.written, ['revertedAt']))
  return isPutBack ? [] : [action]
}

/** What is known of an action besides who wrote it. */
interface Said {
  readonly step?: number | undefined
  readonly reason?: string | undefined
}

interface Difference {
  readonly was: Seen
  readonly is: Seen
  readonly path: readonly string[]
}

/**
 * @returns undefined where nothing differs at this place, where our controllers made the difference, and where a recorded action did. Any
 *   program can use the name of the API or the command line: without a record its change is reported like any other.
 */
function doneTo(object: KubeObject, { was, is, path }: Difference, type: SeenType, said: Said = {}): UndatedAction | undefined {
  const [before, after] = [at(was.written, path), at(is.written, path)]
  if (isSameJson(before, after)) return undefined
  const writers = writersOf(ownersOf(object), under(path, before), under(path, after))
  const isRecorded = was.recorded !== is.recorded
  const [manager] = writers.filter((writer) => !controllers.has(writer) && !(isRecorded && actors.has(writer)))
  if (manager === undefined && (writers.length > 0 || isRecorded)) return undefined
  const id = `seen-${object.metadata.resourceVersion}-${type}`
  const { step, reason } = said
  return {
    id,
    type,
    ...(manager !== undefined && { manager }),
    ...(step !== undefined && { step }),
    ...(reason !== undefined && { reason }),
  }
}

const controllers: ReadonlySet<string> = new Set([fieldManagers.controller, fieldManagers.executor])
const actors: ReadonlySet<string> = new Set([fieldManagers.api, fieldManagers.cli])

function ownersOf({ metadata }: KubeObject): readonly FieldOwner[] {
  return (metadata as { readonly managedFields?: readonly FieldOwner[] }).managedFields ?? []
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((below, name) => (below as Readonly<Record<string, unknown>> | undefined)?.[name], value)
}

function under(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((below, name) => ({ [name]: below }), value)
}

/** Who writes the annotation may write anything: what is no action is none. */
function actionOf(text: string | undefined): { readonly type: SeenType; readonly said: Said } | undefined {
  if (text === undefined) return undefined
  try {
    const { type, reason } = JSON.parse(text) as { readonly type?: unknown; readonly reason?: unknown }
    const known = annotationTypes.find((one) => one === type)
    return known && { type: known, said: typeof reason === 'string' && reason !== '' ? { reason: cutReason(reason) } : {} }
  } catch {
    return undefined
  }
}

const annotationTypes = seenTypes.filter((type) => ['approve', 'jump', 'promote', 'abort', 'retry'].includes(type))

/** Sixteen of them have to fit into one annotation beside all others. */
function cutReason(reason: string): string {
  const letters = Array.from(reason)
  return letters.length <= SEEN_REASON_MAX ? reason : `${letters.slice(0, SEEN_REASON_MAX - 1).join('')}…`
}
