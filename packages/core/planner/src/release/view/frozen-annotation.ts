import { type DaemonSet, daemonSetAnnotations, readJson } from '@tranche/kube-types'

/** Members of the annotation `tranche.dev/frozen`. Another client may have written it, so their types are not known. */
export type FrozenMembers = Readonly<Partial<Record<'revision' | 'stable' | 'step' | 'size', unknown>>>

/** @returns the members of the annotation; undefined where no release was frozen on the DaemonSet */
export function frozenMembers(daemonSet: DaemonSet | undefined): FrozenMembers | undefined {
  const frozen = daemonSet?.metadata.annotations?.[daemonSetAnnotations.frozen]
  return frozen === undefined ? undefined : membersOf(frozen)
}

/** Revision whose release was frozen on the DaemonSet; undefined without one. */
export function frozenRevision(daemonSet: DaemonSet | undefined): string | undefined {
  const { revision } = frozenMembers(daemonSet) ?? {}
  return typeof revision === 'string' ? revision : undefined
}

/** Whether the release that was frozen on the DaemonSet went back to this stable revision. */
export function isFrozenReturn(daemonSet: DaemonSet | undefined, stable: string): boolean {
  const frozen = frozenMembers(daemonSet)
  return frozen?.revision === stable && frozen.stable === stable
}

/** @returns the revision in the text of the annotation; null where it holds none */
export function revisionInText(frozen: string): string | null {
  const { revision } = membersOf(frozen)
  return typeof revision === 'string' ? revision : null
}

function membersOf(frozen: string): FrozenMembers {
  try {
    const value: unknown = readJson(frozen)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
