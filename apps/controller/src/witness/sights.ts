import { type Rollout, type SeenAction, type SeenType, seenTypes } from '@tranche/api-schema'
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
export type SeenAct = Omit<SeenAction, 'at'>

/** As much of an object as it takes to tell what the next version has changed. */
export interface Sight {
  /** `namespace/name` of the Rollout that it is about. */
  readonly rollout: string
  readonly generation: number | undefined
  readonly recorded: string | undefined
  /** What people write, as it stands; of a Rollout or of a DaemonSet. */
  readonly written: object
  /** What others than we have done to make this version of the one before, and nobody has recorded. */
  readonly acts: readonly SeenAct[]
}

/** What is seen of a Rollout of a DaemonSet, after what was seen of its version before; null of any other. At first sight nothing was done. */
export function sightOfRollout(rollout: Rollout, previous: Sight | undefined): Sight | null {
  const { metadata, spec, status } = rollout
  if (!isDaemonSetRef(spec.workloadRef)) return null
  const { paused = false } = spec.strategy
  const { currentStepState, nextStepIndex } = status?.canaryStatus ?? {}
  const written = {
    metadata: { annotations: { [rolloutAnnotations.action]: metadata.annotations?.[rolloutAnnotations.action] } },
    spec: { disabled: spec.disabled ?? false, strategy: { paused } },
    status: { canaryStatus: { currentStepState, nextStepIndex } },
  }
  const sight = { ...sightOf(rollout), rollout: keyText(keyOf(rollout)), written }
  return { ...sight, acts: previous === undefined ? [] : actsOnRollout(rollout, previous, sight) }
}

/** What is seen of a DaemonSet that has a Rollout; null of any other. */
export function sightOfDaemonSet(daemonSet: DaemonSet, previous: Sight | undefined): Sight | null {
  const { annotations = {}, namespace = '', generation } = daemonSet.metadata
  const name = annotations[daemonSetAnnotations.rollout]
  if (name === undefined) return null
  const sight = { ...sightOf(daemonSet), rollout: keyText({ namespace, name }) }
  const before = previous?.rollout === sight.rollout ? previous : undefined
  // Nodes that come and go change its status all the time.
  if (before?.generation === generation && before !== undefined) return { ...sight, written: before.written, acts: [] }
  // Where the stable template is put back the mark of that stands beside it.
  const written = { spec: { template: daemonSet.spec.template }, mark: annotations[daemonSetAnnotations.reverted] }
  return { ...sight, written, acts: before === undefined ? [] : actsOnTemplate(daemonSet, before, { ...sight, written }) }
}

function sightOf({ metadata }: KubeObject): Pick<Sight, 'generation' | 'recorded'> {
  return { generation: metadata.generation, recorded: metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION] }
}

type Seen = Omit<Sight, 'acts'>

function actsOnRollout(rollout: Rollout, was: Sight, is: Seen): readonly SeenAct[] {
  const { spec, status, metadata } = rollout
  const { currentStepState, currentStepIndex, nextStepIndex } = status?.canaryStatus ?? {}
  const action = actionOf(metadata.annotations?.[rolloutAnnotations.action])
  const told = [
    doneTo(rollout, { was, is, path: ['spec', 'strategy', 'paused'] }, spec.strategy.paused === true ? 'pause' : 'resume'),
    doneTo(rollout, { was, is, path: ['spec', 'disabled'] }, spec.disabled === true ? 'disable' : 'enable'),
    action && doneTo(rollout, { was, is, path: ['metadata', 'annotations', rolloutAnnotations.action] }, action),
  ]
  // A status is ours: only who is named as somebody else has wished by it.
  const wished = [
    currentStepState === 'StepReady' &&
      doneTo(rollout, { was, is, path: ['status', 'canaryStatus', 'currentStepState'] }, 'approve', currentStepIndex),
    nextStepIndex !== undefined && doneTo(rollout, { was, is, path: ['status', 'canaryStatus', 'nextStepIndex'] }, 'jump', nextStepIndex),
  ].filter((act) => act !== false && act?.manager !== undefined)
  return [...told, ...wished].filter((act) => act !== undefined && act !== false)
}

function actsOnTemplate(daemonSet: DaemonSet, was: Sight, is: Seen): readonly SeenAct[] {
  const act = doneTo(daemonSet, { was, is, path: ['spec', 'template'] }, 'template')
  if (act === undefined) return []
  const isPutBack = act.manager === undefined && !isSameJson(at(was.written, ['mark']), at(is.written, ['mark']))
  return isPutBack ? [] : [act]
}

interface Difference {
  readonly was: Seen
  readonly is: Seen
  readonly path: readonly string[]
}

/** Undefined where nothing differs at this place, where one of our programs made the difference, and where a wish on record did. */
function doneTo(object: KubeObject, { was, is, path }: Difference, type: SeenType, step?: number): SeenAct | undefined {
  const [before, after] = [at(was.written, path), at(is.written, path)]
  if (isSameJson(before, after)) return undefined
  const writers = writersOf(ownersOf(object), under(path, before), under(path, after))
  const [manager] = writers.filter((writer) => !ours.has(writer))
  if (manager === undefined && (writers.length > 0 || was.recorded !== is.recorded)) return undefined
  const id = `seen-${object.metadata.resourceVersion}-${type}`
  return { id, type, ...(manager !== undefined && { manager }), ...(step !== undefined && { step }) }
}

const ours: ReadonlySet<string> = new Set(Object.values(fieldManagers))

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
function actionOf(text: string | undefined): SeenType | undefined {
  if (text === undefined) return undefined
  try {
    const { type } = JSON.parse(text) as { readonly type?: unknown }
    return actionTypes.find((one) => one === type)
  } catch {
    return undefined
  }
}

const actionTypes = seenTypes.filter((type) => ['approve', 'jump', 'promote', 'abort', 'retry'].includes(type))
