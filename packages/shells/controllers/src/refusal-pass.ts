import { planRefusals, type Refusal, type RefusalView } from '@tranche/admission'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import type { Reconcile } from '@tranche/reconcile'

/** Cluster access for marking refused revisions. */
export interface RefusalPort {
  /** Reads from this process's watches; null if it is unknown what to refuse: no Rollout, no DaemonSet, or a policy not seen yet. */
  read(key: ObjectKey): RefusalView | null
  /** @throws {AppError} WRITE_CONFLICT if the revision has changed since it was read */
  mark(refusal: Refusal, signal: AbortSignal): Promise<void>
}

/**
 * Marks the revisions whose templates the API server must refuse, then runs `next` for the same Rollout: a version is refused before its
 * template is reverted. A failed mark does not delay the release; it fails the pass afterwards.
 */
export function withRefusals(next: Reconcile, cluster: RefusalPort): Reconcile {
  return async (key, signal, log) => {
    const view = cluster.read(key)
    const marked = await Promise.allSettled(
      (view === null ? [] : planRefusals(view)).map(async (refusal) => {
        const revision = refusal.revision.metadata.name
        await cluster.mark(refusal, signal)
        log.info({ rollout: keyText(key), revision, plan: refusal.isRefused ? 'refuse' : 'refuseNoMore' }, 'marked revision')
      }),
    )
    const outcome = await next(key, signal, log)
    const failed = marked.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason as Error
    return outcome
  }
}
