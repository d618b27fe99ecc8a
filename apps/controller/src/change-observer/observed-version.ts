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
  readJson,
  valueIn,
} from '@tranche/kube-types'
import { isDaemonSetRef } from '@tranche/validation'
import { type FieldOwner, writersOf } from './field-writers.ts'

/** A change between two versions of an object; the caller adds the time of the observation. */
export type UndatedChange = Omit<ObservedChange, 'at'>

/** The part of an object that is needed to detect changes in its next version. */
export interface ObservedVersion {
  /** `namespace/name` of the Rollout concerned. */
  readonly rollout: string
  /** Name of the DaemonSet that names the Rollout; not trusted, because it can name any Rollout. Undefined for a Rollout itself. */
  readonly daemonSet?: string
  readonly generation: number | undefined
  /** Raw annotation of recorded actions: a program that changes it has also recorded the other differences. */
  readonly recorded: string | undefined
  /** Fields that users write, of a Rollout or a DaemonSet. */
  readonly written: object
  /** Unrecorded changes by other programs since the previous version. */
  readonly actions: readonly UndatedChange[]
}

/**
 * @param previous the previous version; undefined for the first one, which has no changes
 * @returns null for a Rollout of another workload kind
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
 * @param previous as for a Rollout; ignored if it was bound to another Rollout
 * @returns null for a DaemonSet without a Rollout
 */
export function observeDaemonSet(daemonSet: DaemonSet, previous: ObservedVersion | undefined): ObservedVersion | null {
  const { annotations = {}, namespace = '', generation } = daemonSet.metadata
  const name = annotations[daemonSetAnnotations.rollout]
  if (name === undefined) return null
  const observed = { ...versionOf(daemonSet), rollout: keyText({ namespace, name }), daemonSet: daemonSet.metadata.name }
  const before = previous?.rollout === observed.rollout ? previous : undefined
  // Most updates change only the status.
  if (before?.generation === generation && before !== undefined) return { ...observed, written: before.written, actions: [] }
  // The controller records the time when it restores the stable template.
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
  // The controller writes the status: a change is an action only if `managedFields` names another program.
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

/** Details of an action besides its writer. */
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
 * @returns undefined if the value at `path` has not changed, or if our controllers or a recorded action changed it. Any program can use
 *   the manager name of a recorder, so an unrecorded change under these names is reported too.
 */
function doneTo(object: KubeObject, { was, is, path }: Difference, type: ObservedChangeType, said: Said = {}): UndatedChange | undefined {
  const [before, after] = [at(was.written, path), at(is.written, path)]
  if (isSameJson(before, after)) return undefined
  const writers = writersOf(ownersOf(object), under(path, before), under(path, after))
  const isRecorded = was.recorded !== is.recorded
  const [manager] = writers.filter((writer) => !controllers.has(writer) && !(isRecorded && recorders.has(writer)))
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
/** Programs that record the actions that they write. The server of Argo CD writes those of its tab, which records them. */
const recorders: ReadonlySet<string> = new Set([fieldManagers.api, fieldManagers.cli, 'argocd-server'])

function ownersOf({ metadata }: KubeObject): readonly FieldOwner[] {
  return (metadata as { readonly managedFields?: readonly FieldOwner[] }).managedFields ?? []
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((below, name) => valueIn(below as Readonly<Record<string, unknown>> | undefined, name), value)
}

function under(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((below, name) => ({ [name]: below }), value)
}

/** @returns undefined if the annotation, which users can write, is not a valid action */
function actionOf(text: string | undefined): { readonly type: ObservedChangeType; readonly said: Said } | undefined {
  if (text === undefined) return undefined
  try {
    const { type, reason } = readJson(text) as { readonly type?: unknown; readonly reason?: unknown }
    const known = annotationTypes.find((one) => one === type)
    return known && { type: known, said: typeof reason === 'string' && reason !== '' ? { reason: cutReason(reason) } : {} }
  } catch {
    return undefined
  }
}

const annotationTypes = observedChangeTypes.filter((type) => ['approve', 'jump', 'promote', 'abort', 'retry'].includes(type))

/** Cuts a reason to OBSERVED_REASON_MAX characters: sixteen of them have to fit into one annotation. */
function cutReason(reason: string): string {
  const letters = Array.from(reason)
  return letters.length <= OBSERVED_REASON_MAX ? reason : `${letters.slice(0, OBSERVED_REASON_MAX - 1).join('')}…`
}
