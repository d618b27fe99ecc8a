import type { Permit } from '@tranche/api-schema'
import { CORDON_ANNOTATION, type KubeObject, readJson } from '@tranche/kube-types'

/** The permit for which a node is drained. No two permits are equal: a withdrawn one leaves its pod with another resourceVersion (F7). */
export interface DrainedPermit {
  /** BatchRelease whose record has the permit. */
  readonly release: { readonly namespace: string; readonly name: string; readonly uid: string }
  readonly permit: Pick<Permit, 'podUid' | 'podResourceVersion'>
  /** Name of its pod; undefined where the process does not see the pod. */
  readonly podName?: string | undefined
}

/** Content of the annotation `tranche.dev/cordon` of a node. */
export interface CordonMark {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly podUid: string
  readonly podResourceVersion: string
  /** Whether an executor made the node unschedulable, and no user has made it schedulable since. Only then it is uncordoned. */
  readonly cordoned: boolean
}

/** @returns the mark of a node; null without one; undefined for an annotation that is no mark */
export function cordonMarkOf({ metadata }: KubeObject): CordonMark | null | undefined {
  const text = metadata.annotations?.[CORDON_ANNOTATION]
  return text === undefined ? null : parseCordonMark(text)
}

/** @returns the mark for a permit */
export function toMark({ release, permit }: DrainedPermit, cordoned: boolean): CordonMark {
  const { podUid, podResourceVersion } = permit
  return { namespace: release.namespace, name: release.name, uid: release.uid, podUid, podResourceVersion, cordoned }
}

/** Whether the mark belongs to the BatchRelease. One of another namespace with its uid does not (F15). */
export function isMarkOf(mark: CordonMark, release: { readonly namespace?: string; readonly uid: string }): boolean {
  return mark.uid === release.uid && mark.namespace === release.namespace
}

/** Whether the mark was made for exactly this permit. */
export function isMarkFor(mark: CordonMark, { release, permit }: DrainedPermit): boolean {
  return isMarkOf(mark, release) && isSamePermit(mark, permit)
}

/** Whether both are one permit; a mark counts as the permit that it was made for. */
export function isSamePermit(a: DrainedPermit['permit'], b: DrainedPermit['permit']): boolean {
  return a.podUid === b.podUid && a.podResourceVersion === b.podResourceVersion
}

/** @returns the mark in an annotation; undefined if it is none */
export function parseCordonMark(text: string): CordonMark | undefined {
  try {
    const value = readJson(text) as CordonMark | null
    const isMark = textFields.every((field) => typeof value?.[field] === 'string') && typeof value?.cordoned === 'boolean'
    return isMark ? (value ?? undefined) : undefined
  } catch {
    return undefined
  }
}

const textFields = ['namespace', 'name', 'uid', 'podUid', 'podResourceVersion'] as const
