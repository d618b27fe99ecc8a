import type { PatchOperation } from '@tranche/fence'
import { type DaemonSet, daemonSetAnnotations, WORKLOAD_TYPE_DAEMONSET, WORKLOAD_TYPE_LABEL, valueIn } from '@tranche/kube-types'

/** Changes to a DaemonSet in one write; Tranche changes nothing else of the user's object (G11). */
export interface DaemonSetChange {
  /** Annotation key → value, or null to remove it. */
  readonly annotations?: Readonly<Record<string, string | null>>
  readonly workloadTypeLabel?: 'set' | 'remove'
  /** New `updateStrategy.type`. */
  readonly strategy?: string
}

/**
 * The change as a JSON Patch that tests what was read, so it never undoes a concurrent write; null when nothing differs.
 *
 * @param precondition `values`: its status may have changed meanwhile, where {@link testsOfValues} says enough
 */
export function daemonSetPatch(
  daemonSet: DaemonSet,
  change: DaemonSetChange,
  precondition: 'version' | 'values' = 'version',
): readonly PatchOperation[] | null {
  const operations = [
    ...annotationOperations(daemonSet, change),
    ...labelOperations(daemonSet, change),
    ...strategyOperations(daemonSet, change),
  ]
  if (operations.length === 0) return null
  const tests = (precondition === 'values' ? testsOfValues(daemonSet, change) : null) ?? [testOfVersion(daemonSet)]
  return [{ op: 'test', path: '/metadata/uid', value: daemonSet.metadata.uid }, ...tests, ...operations]
}

/**
 * The status of a DaemonSet changes with every pod, and each change would fail a test of the resourceVersion. Where the change replaces
 * annotations only, these values, the generation and who is in charge say as much. A JSON Patch cannot test that an annotation is absent.
 *
 * @returns null where a value is absent, or the change is of another kind
 */
function testsOfValues(
  { metadata }: DaemonSet,
  { annotations = {}, workloadTypeLabel, strategy }: DaemonSetChange,
): readonly PatchOperation[] | null {
  const { generation, annotations: present = {} } = metadata
  const control = daemonSetAnnotations.controlInfo
  const replaced = Object.entries(annotations).filter(([key, value]) => (valueIn(present, key) ?? null) !== value)
  const isByValue = workloadTypeLabel === undefined && strategy === undefined && replaced.every(([key]) => Object.hasOwn(present, key))
  if (!isByValue || !Object.hasOwn(present, control)) return null
  const keys = new Set([control, ...replaced.map(([key]) => key)])
  return [
    { op: 'test', path: '/metadata/generation', value: generation },
    ...[...keys].map((key): PatchOperation => ({ op: 'test', path: annotationPath(key), value: valueIn(present, key) })),
  ]
}

function testOfVersion({ metadata }: DaemonSet): PatchOperation {
  return { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion }
}

/** Sets the strategy to `OnDelete` and records its former type, once; a recorded type is never overwritten (G11). */
export function takeOverStrategy(daemonSet: DaemonSet): DaemonSetChange {
  const type = strategyOf(daemonSet)
  const remembered = daemonSet.metadata.annotations?.[daemonSetAnnotations.originalUpdateStrategy]
  return {
    annotations: remembered === undefined ? { [daemonSetAnnotations.originalUpdateStrategy]: type } : {},
    ...(type !== 'OnDelete' && { strategy: 'OnDelete' }),
  }
}

/**
 * @returns the type to restore; undefined where none or an invalid one is recorded: then the type stays as it is
 */
export function originalStrategy({ metadata }: DaemonSet): 'RollingUpdate' | 'OnDelete' | undefined {
  const remembered = metadata.annotations?.[daemonSetAnnotations.originalUpdateStrategy]
  return remembered === 'RollingUpdate' || remembered === 'OnDelete' ? remembered : undefined
}

/** @returns `spec.updateStrategy.type`, with the API's default */
export function strategyOf(daemonSet: DaemonSet): string {
  return daemonSet.spec.updateStrategy?.type ?? 'RollingUpdate'
}

/** @returns the JSON pointer of an annotation. @see RFC 6901 */
export function annotationPath(key: string): string {
  return `/metadata/annotations/${escapePointer(key)}`
}

function annotationOperations(daemonSet: DaemonSet, { annotations = {} }: DaemonSetChange): PatchOperation[] {
  const present = daemonSet.metadata.annotations
  const changes = Object.entries(annotations).filter(([key, value]) => (present?.[key] ?? null) !== value)
  if (changes.length === 0) return []
  const parent: PatchOperation[] = present === undefined ? [{ op: 'add', path: '/metadata/annotations', value: {} }] : []
  return [...parent, ...changes.map(([key, value]) => setOrRemove(annotationPath(key), value))]
}

function labelOperations(daemonSet: DaemonSet, { workloadTypeLabel }: DaemonSetChange): PatchOperation[] {
  const labels = daemonSet.metadata.labels
  const present = labels?.[WORKLOAD_TYPE_LABEL]
  const path = `/metadata/labels/${escapePointer(WORKLOAD_TYPE_LABEL)}`
  if (workloadTypeLabel === 'set' && present !== WORKLOAD_TYPE_DAEMONSET) {
    const parent: PatchOperation[] = labels === undefined ? [{ op: 'add', path: '/metadata/labels', value: {} }] : []
    return [...parent, { op: 'add', path, value: WORKLOAD_TYPE_DAEMONSET }]
  }
  return workloadTypeLabel === 'remove' && present !== undefined ? [{ op: 'remove', path }] : []
}

function strategyOperations(daemonSet: DaemonSet, { strategy }: DaemonSetChange): PatchOperation[] {
  const type = strategyOf(daemonSet)
  if (strategy === undefined || strategy === type) return []
  return [
    { op: 'test', path: '/spec/updateStrategy/type', value: type },
    { op: 'replace', path: '/spec/updateStrategy/type', value: strategy },
  ]
}

function setOrRemove(path: string, value: string | null): PatchOperation {
  return value === null ? { op: 'remove', path } : { op: 'add', path, value }
}

/** @see RFC 6901 */
function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
