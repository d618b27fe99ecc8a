import { planRefusals, type Refusal, type RefusalView } from '@tranche/admission'
import { keyText, type ObjectKey } from '@tranche/kube-types'
import type { Reconcile } from '@tranche/reconcile'

/** What marking refused revisions needs from the cluster. */
export interface RefusalPort {
  /** Reads from this process's own watches; null where it is not known what to refuse: no Rollout, no DaemonSet, a policy unseen. */
  read(key: ObjectKey): RefusalView | null
  /** @throws AppError WRITE_CONFLICT when the revision changed since it was read */
  mark(refusal: Refusal, signal: AbortSignal): Promise<void>
}

/**
 * Marks the revisions whose templates the API server is to refuse, then lets `next` pass over the same Rollout: a version is
 * refused before its template is put back. A mark that cannot be written keeps no release waiting; it fails the pass afterwards.
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
