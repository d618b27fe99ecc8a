import type { ConfigCopy, ExistingCopy, PinPlan, PinView } from '@tranche/config'
import type { PatchOperation } from '@tranche/fence'
import type { DaemonSet } from '@tranche/kube-types'

/** Annotations that a pin writes: in the template, where it changes, and on the DaemonSet. */
export interface PinWrite extends Extract<PinPlan, { readonly kind: 'pin' }> {
  /** Objects as they were read, by key. */
  readonly sources: PinView['sources']
  /** Further operations of the same patch; empty where the template stays. */
  readonly operations: readonly PatchOperation[]
}

/** Objects that may name a copy, read from the API server after the DaemonSet was touched. */
export type LiveNames = Pick<PinView, 'template' | 'offered' | 'revisions' | 'pods' | 'isObserved'>

/** Cluster access for copies of config. Writes throw WRITE_CONFLICT if another write came first. */
export interface PinPort {
  /**
   * Versions of the objects that the template names, and of the copies of the DaemonSet, as a watch shows them. A text that differs when one of
   * them changes; null while that is unknown.
   */
  versions(daemonSet: DaemonSet): string | null
  /**
   * Reads the objects that the template names, and the copies of the DaemonSet, from the API server. Of a copy that something names and that is not
   * recorded, it compares the content.
   *
   * @param revisions templates to which the DaemonSet may return
   */
  read(daemonSet: DaemonSet, revisions: PinView['revisions'], signal: AbortSignal): Promise<Omit<PinView, 'revisions' | 'pods'>>
  /** Does nothing if an object of this name exists. If that is no copy, the next reading names it among those that are taken. */
  createCopy(copy: ConfigCopy, signal: AbortSignal): Promise<void>
  /** Sets or removes the mark of an unused copy, with the resourceVersion that was read. */
  mark(daemonSet: DaemonSet, copy: ExistingCopy, isUnused: boolean, signal: AbortSignal): Promise<void>
  /**
   * Reads the copies that the template will name: each must exist without a mark, and hold what its name or its object says, or be
   * recorded. Then patches the DaemonSet that was read, and records these copies too.
   */
  pin(daemonSet: DaemonSet, write: PinWrite, signal: AbortSignal): Promise<void>
  /**
   * Touches the DaemonSet that was read, then reads live what names copies.
   *
   * @param release name of its BatchRelease, which may keep a template that the history lost
   */
  touch(daemonSet: DaemonSet, release: string, signal: AbortSignal): Promise<LiveNames>
  /** Deletes a copy with the uid and resourceVersion that were read. */
  deleteCopy(daemonSet: DaemonSet, copy: ExistingCopy, signal: AbortSignal): Promise<void>
}
