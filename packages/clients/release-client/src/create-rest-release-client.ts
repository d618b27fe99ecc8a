import type { ApiClient } from '@tranche/api-client'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import { followOverRest } from './follow-over-rest.ts'
import type { AskOptions, ReleaseClient, ReleasePicture } from './release-client.ts'
import { actOverRest } from './act-over-rest.ts'

/** Creates a release client that answers from the REST API, with the permissions of its token. */
export function createRestReleaseClient(client: ApiClient, { clock }: { readonly clock: Clock }): ReleaseClient {
  const picture = (key: ObjectKey, options?: AskOptions): Promise<ReleasePicture> => readPicture(client, key, options)
  const report: ReleaseClient['report'] = (key, options) => client.rollout(key, options)
  const list: ReleaseClient['list'] = async ({ namespace, labelSelector, ...options }) => {
    if (labelSelector !== undefined)
      throw new AppError('OPTION_INVALID', 'the REST API cannot filter Rollouts by labels', {
        hint: 'Omit --server to use the cluster directly.',
      })
    return client.allRollouts(namespace === undefined ? {} : { namespace }, options)
  }
  return {
    list,
    names: list,
    report,
    picture,
    follow: (key, options) => followOverRest({ client, clock, read: { report, picture } }, key, options),
    nodes: (key, options) => client.allNodes(key, {}, options),
    explain: (key, node, options) => (node === undefined ? client.explain(key, options) : client.explainNode(key, node, options)),
    history: (key, options) => client.history(key, options),
    events: (key, options) => client.events(key, options),
    template: (key, revision, options) => client.revision(key, revision, options),
    act: (key, action, options) => actOverRest(client, { key, action }, options),
  }
}

/** Four requests in parallel, which show the same moment except for changes in between. */
async function readPicture(client: ApiClient, key: ObjectKey, options?: AskOptions): Promise<ReleasePicture> {
  const [report, nodes, batches, revisions] = await Promise.all([
    client.rollout(key, options),
    client.allNodes(key, {}, options),
    client.batches(key, options),
    client.revisions(key, options),
  ])
  return { report, nodes, batches, revisions }
}
