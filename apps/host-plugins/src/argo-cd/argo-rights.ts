import { actionTypes } from '@tranche/api-schema'
import type { OwnRights } from '../client/own-rights.ts'
import { type ArgoApi, rbacName } from './argo-api.ts'
import type { ArgoApplication } from './argo-types.ts'

/** Rights by the RBAC of Argo CD: a user who may update an application may patch its live resources, and one who sees it may read them. */
export function createArgoRights(api: Pick<ArgoApi, 'mayUpdate'>, application: ArgoApplication): OwnRights {
  return {
    async of(_rollout, _daemonSet, signal) {
      const allowed = await api.mayUpdate(signal)
      const permission = `update applications in Argo CD, on ${rbacName(application)}`
      return { items: actionTypes.map((action) => ({ action, allowed, permission })), template: true }
    },
  }
}
