import type { ClusterSnapshot, ReleasePolicy } from '@tranche/api-schema'
import { PINNED_CONFIG_ANNOTATION, pinKey, pinnedObjects, pinsText } from '@tranche/config'
import type { DaemonSet } from '@tranche/kube-types'

/** What pinned config of a plan rests on. */
export interface PlannedPins {
  /** The cluster before the plan. */
  readonly snapshot: ClusterSnapshot
  /** As planned. */
  readonly policy: ReleasePolicy | undefined
}

/** Stands for the name of a copy, which depends on content that a plan does not read. */
const SOME_COPY = 'a-copy'

/**
 * DaemonSet with the annotation that names copies. One that its template has stays: manifests do not state it, and tools that apply them leave
 * it. A policy that pins config from now on adds it, which is a release even without another change. All ConfigMaps are taken to exist.
 */
export function withPlannedPins(planned: DaemonSet, { snapshot, policy }: PlannedPins): DaemonSet {
  const { template } = planned.spec
  const { annotations } = template.metadata ?? {}
  if (annotations?.[PINNED_CONFIG_ANNOTATION] !== undefined) return planned
  const pins =
    snapshot.daemonSet?.spec.template.metadata?.annotations?.[PINNED_CONFIG_ANNOTATION] ?? firstPins(planned, { snapshot, policy })
  if (pins === undefined) return planned
  const metadata = { ...template.metadata, annotations: { ...annotations, [PINNED_CONFIG_ANNOTATION]: pins } }
  return { ...planned, spec: { ...planned.spec, template: { ...template, metadata } } }
}

function firstPins({ spec }: DaemonSet, { snapshot, policy }: PlannedPins): string | undefined {
  if (policy?.spec.config !== 'Pin' || snapshot.policy?.spec.config === 'Pin') return undefined
  const objects = pinnedObjects(spec.template).filter(({ kind }) => kind === 'ConfigMap')
  return objects.length === 0 ? undefined : pinsText(new Map(objects.map((object) => [pinKey(object), SOME_COPY])))
}
