import type { ApiClient } from '@tranche/api-client'
import { AppError } from '@tranche/errors'
import type { DeskWish, ReleaseDesk } from './release-desk.ts'

/** Answers from the REST API: with the rights of whoever its token stands for. */
export function createRestDesk(client: ApiClient): ReleaseDesk {
  return {
    list: ({ namespace, ...options }) => client.allRollouts(namespace === undefined ? {} : { namespace }, options),
    report: (key, options) => client.rollout(key, options),
    // Four requests at the same time, each of the same moment but for what changes in between.
    async picture(key, options) {
      const [report, nodes, batches, revisions] = await Promise.all([
        client.rollout(key, options),
        client.allNodes(key, {}, options),
        client.batches(key, options),
        client.revisions(key, options),
      ])
      return { report, nodes, batches, revisions }
    },
    nodes: (key, options) => client.allNodes(key, {}, options),
    explain: (key, node, options) => (node === undefined ? client.explain(key, options) : client.explainNode(key, node, options)),
    history: (key, options) => client.history(key, options),
    events: (key, options) => client.events(key, options),
    template: (key, revision, options) => client.revision(key, revision, options),
    wish(key, { on = 'Rollout', type, body, waitMs, idempotencyKey, dryRun = false }, options) {
      const call = { ...options, waitMs, idempotencyKey }
      if (on === 'Rollout' && !dryRun) return client.wish(key, type, body, call)
      if (on === 'Rollout' || type !== 'undo') throw notOffered({ on, type, dryRun })
      const { reason, toRevision } = body
      return client.rollBackDaemonSet(
        key,
        { dryRun, ...(reason !== undefined && { reason }), ...(toRevision !== undefined && { toRevision }) },
        call,
      )
    },
  }
}

function notOffered({ on = 'Rollout', type, dryRun }: Pick<DeskWish, 'on' | 'type' | 'dryRun'>): AppError {
  const what = on === 'Rollout' ? `${type} with dryRun=${dryRun}` : `${type} of a DaemonSet`
  return new AppError('OPTION_INVALID', `the REST API has no ${what}`, { hint: 'Leave --server out to ask the cluster itself.' })
}
