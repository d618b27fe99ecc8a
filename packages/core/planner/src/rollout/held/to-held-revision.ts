import type { HeldRevision } from '@tranche/api-schema'
import { PINNED_CONFIG_ANNOTATION } from '@tranche/config'
import type { DaemonSet } from '@tranche/kube-types'
import type { RolloutView } from '../view/rollout-view.ts'
import { templateDigest } from './held-revisions.ts'
import { templateToPutBack } from './plan-revert.ts'

/** A version, and the one that replaces it. */
export interface RolledBackVersion {
  /** controller-revision-hash of the DaemonSet's present template. */
  readonly revision: string
  /** controller-revision-hash of the stable revision. */
  readonly stable: string | undefined
}

/** The hold to record when the DaemonSet's template is rolled back now. */
export function toHeldRevision(view: RolloutView, daemonSet: DaemonSet, { revision, stable }: RolledBackVersion): HeldRevision {
  const { template } = daemonSet.spec
  const at = new Date(view.nowMs).toISOString()
  const restored = digestWithRestoredConfig(template, templateToPutBack(view, stable))
  const also = restored === null ? {} : { digestWithRestoredConfig: restored }
  return { digest: templateDigest(template), revision, ...also, reason: 'Aborted', at, reverted: false }
}

/**
 * A manifest that is applied again does not name copies of config: those that the rollback restored stay. Null where the rollback restores no
 * other ones, and where the versions differ in nothing else: the stable one is never held.
 */
function digestWithRestoredConfig(template: Template, stable: Template | null): string | null {
  if (stable === null || pinnedText(stable) === pinnedText(template)) return null
  const digest = templateDigest(withPinned(template, pinnedText(stable)))
  return digest === templateDigest(stable) ? null : digest
}

interface Template {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> | undefined } | undefined
}

function pinnedText({ metadata }: Template): string | undefined {
  return metadata?.annotations?.[PINNED_CONFIG_ANNOTATION]
}

function withPinned(template: Template, text: string | undefined): Template {
  const { annotations: before, ...metadata } = template.metadata ?? {}
  const { [PINNED_CONFIG_ANNOTATION]: _pinned, ...others } = before ?? {}
  const annotations = text === undefined ? others : { ...others, [PINNED_CONFIG_ANNOTATION]: text }
  const hasAny = Object.keys(annotations).length > 0
  return { ...template, metadata: { ...metadata, ...(hasAny && { annotations }) } }
}
