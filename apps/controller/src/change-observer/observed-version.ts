import { type Rollout, OBSERVED_REASON_MAX, type ObservedChange, type ObservedChangeType, observedChangeTypes } from '@tranche/api-schema'
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
export type UndatedChange = Omit<ObservedChange, 'at'>

/** As much of an object as it takes to tell what the next version has changed. */
export interface ObservedVersion {
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
  readonly actions: readonly UndatedChange[]
}

/**
 * @param previous what was seen of its version before; undefined: the first, by which nobody has done anything
 * @returns what is seen of a Rollout of a DaemonSet; null of any other
 */
export function observeRollout(rollout: Rollout, previous: ObservedVersion | undefined): ObservedVersion | null {
  const { metadata, spec, status } = rollout
  if (!isDaemonSetRef(spec.workloadRef)) return null
  const { paused = false } = spec.strategy
  const { currentStepState, nextStepIndex } = status?.canaryStatus ?? {}
  const written = {
    metadata: { annotations: { [rolloutAnnotations.action]: metadata.annotations?.[rolloutAnnotations.action] } },
    spec: { disabled: spec.disabled ?? false, strategy: { paused } },
    status: { canaryStatus: { currentStepState, nextStepIndex } },
  }
  const observed = { ...versionOf(rollout), rollout: keyText(keyOf(rollout)), written }
  return { ...observed, actions: previous === undefined ? [] : changesOnRollout(rollout, previous, observed) }
}

/**
 * @param previous as of a Rollout; one that was bound to another Rollout counts as none
 * @returns what is seen of a DaemonSet that has a Rollout; null of any other
 */
export function observeDaemonSet(daemonSet: DaemonSet, previous: ObservedVersion | undefined): ObservedVersion | null {
  const { annotations = {}, namespace = '', generation } = daemonSet.metadata
  const name = annotations[daemonSetAnnotations.rollout]
  if (name === undefined) return null
  const observed = { ...versionOf(daemonSet), rollout: keyText({ namespace, name }), daemonSet: daemonSet.metadata.name }
  const before = previous?.rollout === observed.rollout ? previous : undefined
  // Nodes that come and go change its status all the time.
  if (before?.generation === generation && before !== undefined) return { ...observed, written: before.written, actions: [] }
  // Where the stable template is put back, the moment of that stands beside it.
  const written = { spec: { template: daemonSet.spec.template }, revertedAt: annotations[daemonSetAnnotations.reverted] }
  return { ...observed, written, actions: before === undefined ? [] : changesOnTemplate(daemonSet, before, { ...observed, written }) }
}

function versionOf({ metadata }: KubeObject): Pick<ObservedVersion, 'generation' | 'recorded'> {
  return { generation: metadata.generation, recorded: metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION] }
}

type ObservedFields = Omit<ObservedVersion, 'actions'>

function changesOnRollout(rollout: Rollout, was: ObservedVersion, is: ObservedFields): readonly UndatedChange[] {
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

function changesOnTemplate(daemonSet: DaemonSet, was: ObservedVersion, is: ObservedFields): readonly UndatedChange[] {
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
  readonly was: ObservedFields
  readonly is: ObservedFields
  readonly path: readonly string[]
}

/**
 * @returns undefined where nothing differs at this place, where our controllers made the difference, and where a recorded action did. Any
 *   program can use the name of the API or the command line: without a record its change is reported like any other.
 */
function doneTo(object: KubeObject, { was, is, path }: Difference, type: ObservedChangeType, said: Said = {}): UndatedChange | undefined {
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
function actionOf(text: string | undefined): { readonly type: ObservedChangeType; readonly said: Said } | undefined {
  if (text === undefined) return undefined
  try {
    const { type, reason } = JSON.parse(text) as { readonly type?: unknown; readonly reason?: unknown }
    const known = annotationTypes.find((one) => one === type)
    return known && { type: known, said: typeof reason === 'string' && reason !== '' ? { reason: cutReason(reason) } : {} }
  } catch {
    return undefined
  }
}

const annotationTypes = observedChangeTypes.filter((type) => ['approve', 'jump', 'promote', 'abort', 'retry'].includes(type))

/** Sixteen of them have to fit into one annotation beside all others. */
function cutReason(reason: string): string {
  const letters = Array.from(reason)
  return letters.length <= OBSERVED_REASON_MAX ? reason : `${letters.slice(0, OBSERVED_REASON_MAX - 1).join('')}…`
}
