import type { Rollout } from '@tranche/api-schema'
import { growthOf, specOf } from '@tranche/fit'
import { type DaemonSet, daemonSetAnnotations, WORKLOAD_TYPE_LABEL, valueIn } from '@tranche/kube-types'
import {
  isDaemonSetRef,
  problemText,
  validateBinding,
  validateDaemonSetBudget,
  validateKeys,
  validateSettings,
  validateSpec,
} from '@tranche/validation'
import { type Admission, type AdmissionOperation, allow, firstWarnings, isOurWrite, type AdmissionPatchOperation } from './admission.ts'
import { isSameAsSent } from './same-json.ts'

/** A write to a DaemonSet (not to its status) and the Rollout that may be in charge. */
export interface DaemonSetRequest {
  readonly operation: AdmissionOperation
  /** The stored object; null for CREATE. */
  readonly oldObject: DaemonSet | null
  /** The object to store; null for DELETE. */
  readonly newObject: DaemonSet | null
  /** The Rollout in the same namespace that is bound to the DaemonSet, or names it in `workloadRef`; null without one. */
  readonly rollout: Rollout | null
  /** `options.fieldManager` of the request; writes by Tranche itself pass unchanged. */
  readonly fieldManager?: string | undefined
}

/**
 * Decides on an update of a DaemonSet.
 *
 * - A new template on a DaemonSet with an enabled Rollout starts a release. The strategy becomes `OnDelete`, and `in-progressing`
 *   names the Rollout. The type in the request is stored unless one is stored already.
 * - While a type is stored or a release holds the DaemonSet, `RollingUpdate` is reset to `OnDelete` (G11).
 * - The annotations and the label that Tranche owns keep their values, even if the request changes them.
 * - All other updates pass unchanged, such as those of a DaemonSet without a Rollout, or whose Rollout is for another workload,
 *   disabled or being deleted.
 *
 * Pure and idempotent. Never denies: every user may change their DaemonSets.
 */
export function admitDaemonSet(request: DaemonSetRequest): Admission {
  const { oldObject, newObject, rollout, fieldManager } = request
  if (request.operation !== 'UPDATE' || oldObject === null || newObject === null) return allow()
  if (rollout === null || !isInCharge(rollout, oldObject) || isOurWrite(fieldManager)) return allow()
  if (!isWhole(newObject)) return allow()

  return decideUpdate({ oldObject, newObject, name: rollout.metadata.name, rollout })
}

/** An update of a DaemonSet as a webhook receives it. */
export interface BoundDaemonSetRequest extends Omit<DaemonSetRequest, 'rollout'> {
  /** The Rollout that the DaemonSet is bound to, used only for warnings; null while unknown. */
  readonly rollout: Rollout | null
}

/**
 * Decides the same from the binding alone, as the policies do: the Rollout in the annotation of the stored DaemonSet is in charge,
 * whether it was read or not. A read that is too slow therefore cannot change the decision.
 */
export function admitBoundDaemonSet(request: BoundDaemonSetRequest): Admission {
  const { operation, oldObject, newObject, rollout, fieldManager } = request
  const name = oldObject?.metadata.annotations?.[daemonSetAnnotations.rollout]
  if (operation !== 'UPDATE' || oldObject === null || newObject === null || name === undefined) return allow()
  if (isOurWrite(fieldManager) || !isWhole(newObject)) return allow()
  return decideUpdate({ oldObject, newObject, name, rollout: rollout !== null && isInCharge(rollout, oldObject) ? rollout : null })
}

interface BoundUpdate {
  readonly oldObject: DaemonSet
  readonly newObject: DaemonSet
  /** Name of the Rollout in charge. */
  readonly name: string
  readonly rollout: Rollout | null
}

function decideUpdate({ oldObject, newObject, name, rollout }: BoundUpdate): Admission {
  const begins = !isSameAsSent(oldObject.spec.template, newObject.spec.template)
  const annotations = { ...ourAnnotations(oldObject), ...(begins && releaseAnnotations(name, oldObject, newObject)) }
  const patch = [
    ...annotationPatch(newObject, annotations),
    ...labelPatch(oldObject, newObject),
    ...(begins || isHeld(oldObject) ? strategyPatch(newObject) : []),
  ]
  const warnings = [
    ...strategyWarnings(oldObject, newObject, name),
    ...keyWarnings(oldObject, newObject),
    ...newKeyWarnings(oldObject, newObject),
    ...(begins && rollout !== null ? startWarnings(newObject, rollout) : []),
    ...(begins ? growthWarnings(oldObject, newObject) : []),
  ]
  return patch.length === 0 ? allow(warnings) : { kind: 'patch', patch, warnings: firstWarnings(warnings) }
}

/**
 * Finds the Rollout for {@link admitDaemonSet}: the one that the DaemonSet is bound to, or, before the binding, the one that it
 * will be bound to.
 *
 * @param rollouts Rollouts of any namespace
 */
export function rolloutInCharge(daemonSet: DaemonSet, rollouts: readonly Rollout[]): Rollout | null {
  const candidates = rollouts.filter((rollout) => isInCharge(rollout, daemonSet))
  return candidates.find((rollout) => validateBinding(rollout, candidates, null).length === 0) ?? null
}

function isInCharge(rollout: Rollout, daemonSet: DaemonSet): boolean {
  const { metadata, spec } = rollout
  const boundTo = daemonSet.metadata.annotations?.[daemonSetAnnotations.rollout] ?? metadata.name
  return (
    boundTo === metadata.name &&
    metadata.deletionTimestamp === undefined &&
    spec.disabled !== true &&
    isDaemonSetRef(spec.workloadRef) &&
    spec.workloadRef.name === daemonSet.metadata.name &&
    metadata.namespace === daemonSet.metadata.namespace
  )
}

/** Whether an object has spec and template. Admission runs before validation, and the API server rejects objects without them. */
function isWhole(daemonSet: DaemonSet): boolean {
  const { spec } = daemonSet as { readonly spec?: Partial<DaemonSet['spec']> | null }
  return spec?.template !== undefined && spec.template !== null
}

/** Whether a release holds the DaemonSet or has left nodes behind, or Tranche stored its strategy at the binding. */
function isHeld(daemonSet: DaemonSet): boolean {
  const { originalUpdateStrategy, inProgressing, controlInfo } = daemonSetAnnotations
  return [originalUpdateStrategy, inProgressing, controlInfo].some((key) => valueIn(daemonSet.metadata.annotations, key) !== undefined)
}

function ourAnnotations(daemonSet: DaemonSet): Readonly<Record<string, string>> {
  const keys: readonly string[] = Object.values(daemonSetAnnotations)
  return Object.fromEntries(Object.entries(daemonSet.metadata.annotations ?? {}).filter(([key]) => keys.includes(key)))
}

/** Warns the user at once about problems that will hold the release. */
function startWarnings(newObject: DaemonSet, rollout: Rollout): readonly string[] {
  const desired = newObject.status?.desiredNumberScheduled ?? null
  const problems = [
    ...validateSpec(rollout, { desired }),
    ...validateSettings(rollout),
    ...validateDaemonSetBudget(newObject, desired ?? 1),
  ]
  return problems.map((problem) => `the release will not start: ${problemText(problem)}`)
}

/** Warns of nodes on which the new pods may not fit. */
function growthWarnings(oldObject: DaemonSet, newObject: DaemonSet): readonly string[] {
  const growth = growthOf(specOf(oldObject.spec.template), specOf(newObject.spec.template))
  if (growth.length === 0) return []
  return [
    `new pods request more than the old ones: ${growth.join(', ')}; a node with too little room for them loses its pod, unless the ReleasePolicy has nodes.room: Check`,
  ]
}

function releaseAnnotations(name: string, oldObject: DaemonSet, newObject: DaemonSet): Readonly<Record<string, string>> {
  const { originalUpdateStrategy, inProgressing } = daemonSetAnnotations
  return {
    [originalUpdateStrategy]: rememberedType(oldObject) ?? typeToRestore(newObject),
    [inProgressing]: JSON.stringify({ rolloutName: name }),
  }
}

/**
 * Strategy type that the request asks for. With `OnDelete` and a stored type in the request, the stored type is right. Such a
 * request is our own patched object (an API server may call twice), or a manifest exported during a release.
 */
function typeToRestore(newObject: DaemonSet): string {
  const type = strategyType(newObject)
  return type === 'OnDelete' && rememberedType(newObject) === 'RollingUpdate' ? 'RollingUpdate' : type
}

function rememberedType(daemonSet: DaemonSet): string | undefined {
  return daemonSet.metadata.annotations?.[daemonSetAnnotations.originalUpdateStrategy]
}

function annotationPatch(newObject: DaemonSet, annotations: Readonly<Record<string, string>>): readonly AdmissionPatchOperation[] {
  const has = newObject.metadata.annotations ?? undefined
  const changed = Object.entries(annotations).filter(([key, value]) => has?.[key] !== value)
  if (changed.length === 0) return []
  if (has === undefined) return [{ op: 'add', path: '/metadata/annotations', value: Object.fromEntries(changed) }]
  return changed.map(([key, value]) => ({ op: 'add', path: `/metadata/annotations/${escaped(key)}`, value }))
}

function labelPatch(oldObject: DaemonSet, newObject: DaemonSet): readonly AdmissionPatchOperation[] {
  const value = oldObject.metadata.labels?.[WORKLOAD_TYPE_LABEL]
  const has = newObject.metadata.labels ?? undefined
  if (value === undefined || has?.[WORKLOAD_TYPE_LABEL] === value) return []
  if (has === undefined) return [{ op: 'add', path: '/metadata/labels', value: { [WORKLOAD_TYPE_LABEL]: value } }]
  return [{ op: 'add', path: `/metadata/labels/${escaped(WORKLOAD_TYPE_LABEL)}`, value }]
}

/** Keeps the `rollingUpdate` block, which has the budget of the release. */
function strategyPatch(newObject: DaemonSet): readonly AdmissionPatchOperation[] {
  if (strategyType(newObject) === 'OnDelete') return []
  const strategy = newObject.spec.updateStrategy ?? undefined
  if (strategy === undefined) return [{ op: 'add', path: '/spec/updateStrategy', value: { type: 'OnDelete' } }]
  return [{ op: strategy.type === undefined ? 'add' : 'replace', path: '/spec/updateStrategy/type', value: 'OnDelete' }]
}

function strategyWarnings(oldObject: DaemonSet, newObject: DaemonSet, name: string): readonly string[] {
  if (!isHeld(oldObject) || strategyType(newObject) === 'OnDelete') return []
  return [
    `spec.updateStrategy.type stays OnDelete while the Rollout ${name} controls this DaemonSet; ` +
      `it is restored to ${rememberedType(oldObject) ?? 'the original type'} when the Rollout detaches`,
  ]
}

function keyWarnings(oldObject: DaemonSet, newObject: DaemonSet): readonly string[] {
  const changed = Object.entries(ourAnnotations(oldObject)).filter(([key, value]) => valueIn(newObject.metadata.annotations, key) !== value)
  if (changed.length === 0) return []
  return [`annotations of the release were restored: ${changed.map(([key]) => key).join(', ')}`]
}

/** Warns about invalid new annotations, but keeps them: every user may change their DaemonSets. */
function newKeyWarnings(oldObject: DaemonSet, newObject: DaemonSet): readonly string[] {
  const stored = ourAnnotations(oldObject)
  const added = Object.fromEntries(Object.entries(ourAnnotations(newObject)).filter(([key]) => stored[key] === undefined))
  return validateKeys({ annotations: added }).map(problemText)
}

function strategyType(daemonSet: DaemonSet): string {
  return daemonSet.spec.updateStrategy?.type ?? 'RollingUpdate'
}

/** Escapes a key for a JSON Pointer; our keys have no `~`. @see RFC 6901 */
function escaped(key: string): string {
  return key.replaceAll('/', '~1')
}
