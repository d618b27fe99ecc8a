import { targetOf } from '@tranche/actions'
import { actionTypes, type Permissions } from '@tranche/api-schema'
import type { KubeClient, ResourcePath } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'

/** Rights of the user of a host on a Rollout and its DaemonSet. */
export interface OwnRights {
  /** @param daemonSet name of the DaemonSet of the Rollout */
  of(rollout: ObjectKey, daemonSet: string, signal?: AbortSignal): Promise<Permissions>
}

const accessReviews: ResourcePath = { group: 'authorization.k8s.io', version: 'v1', plural: 'selfsubjectaccessreviews', namespaced: false }

interface Question {
  readonly verb: 'get' | 'patch'
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

/**
 * Asks the API server for the rights of the user, by SelfSubjectAccessReview, which every user may create. An action is a patch of the
 * Rollout; `undo` and `restart` are patches of its DaemonSet.
 */
export function createOwnRights(client: KubeClient): OwnRights {
  const ask = async ({ verb, ...resource }: Question, signal: AbortSignal | undefined): Promise<boolean> => {
    const spec = { resourceAttributes: { verb, ...resource } }
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', metadata: {}, spec }
    const { status } = (await client.create(accessReviews, review, { signal })) as { status?: { allowed?: boolean; denied?: boolean } }
    return status?.allowed === true && status.denied !== true
  }
  return {
    async of({ namespace, name }, daemonSet, signal) {
      const onRollout: Question = { verb: 'patch', group: 'rollouts.kruise.io', resource: 'rollouts', namespace, name }
      const onDaemonSet: Question = { verb: 'patch', group: 'apps', resource: 'daemonsets', namespace, name: daemonSet }
      const [mayAct, mayChange, template] = await Promise.all([
        ask(onRollout, signal),
        ask(onDaemonSet, signal),
        ask({ ...onDaemonSet, verb: 'get' }, signal),
      ])
      const items = actionTypes.map((action) => {
        const isOnRollout = targetOf(action) === 'Rollout'
        return { action, allowed: isOnRollout ? mayAct : mayChange, permission: questionText(isOnRollout ? onRollout : onDaemonSet) }
      })
      return { items, template }
    },
  }
}

function questionText({ verb, group, resource, namespace, name }: Question): string {
  return `${verb} ${resource}.${group} ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)}`
}
