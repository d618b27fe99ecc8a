import { AppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import {
  explainNode,
  explainRollout,
  type ReleaseFacts,
  reportHistory,
  reportNodes,
  reportRollout,
  summarizeRollout,
} from '@tranche/reports'
import { carryOut } from './carry-out.ts'
import { followRelease, pictureOf } from './follow-release.ts'
import { readEvents } from './read-events.ts'
import { readAllFacts, readFacts, readNames } from './read-facts.ts'
import type { AskOptions, ReleaseClient } from './release-client.ts'
import { templateOfRevision } from './template-of-revision.ts'
import { readOwnUsername } from './own-username.ts'
import type { ReleaseClientPorts, ActionOrder } from './action-order.ts'

/** Dependencies of a release client over a cluster. */
export interface KubeReleaseClientOptions extends ReleaseClientPorts {
  /** Channel by which the record marks actions of this client. */
  readonly via: ActionOrder['via']
}

/**
 * Creates a release client that answers from a cluster, with a fresh read for every question and the permissions of the client's user.
 * Actions are recorded under the name by which the API server knows that user.
 */
export function createKubeReleaseClient(ports: KubeReleaseClientOptions): ReleaseClient {
  const about = async <T>(key: ObjectKey, options: AskOptions | undefined, report: (facts: ReleaseFacts) => T): Promise<T> =>
    report(await readFacts(ports, key, options))
  return {
    list: async (options) => (await readAllFacts(ports, options)).map(summarizeRollout),
    names: (options) => readNames(ports, options),
    report: (key, options) => about(key, options, reportRollout),
    picture: (key, options) => about(key, options, pictureOf),
    follow: (key, options) => followRelease(ports, key, options),
    nodes: (key, options) => about(key, options, reportNodes),
    explain: (key, node, options) =>
      about(key, options, (facts) => (node === undefined ? explainRollout(facts) : (explainNode(facts, node) ?? noNode(facts, node)))),
    history: (key, options) => about(key, options, reportHistory),
    events: (key, options) => readEvents(ports, key, options),
    template: (key, revision, options) => about(key, options, (facts) => templateOfRevision(facts, revision)),
    async act(key, { on = 'Rollout', ...action }, options) {
      const by = await readOwnUsername(ports.client, options)
      return carryOut(ports, { ...action, on, key, by, via: ports.via }, options)
    },
  }
}

function noNode({ rollout }: ReleaseFacts, node: string): never {
  throw new AppError('NODE_NOT_FOUND', `DaemonSet ${rollout.spec.workloadRef.name} does not select node ${node} and has no pod there`, {
    details: { node },
    hint: 'List node names with kubectl get nodes.',
  })
}
