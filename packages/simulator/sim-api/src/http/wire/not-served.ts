import { valueIn } from '@tranche/kube-types'
import { ApiStatusError } from '../../model/status-error.ts'
import type { ResourceRoute } from './route.ts'

/** APIs that a cluster serves and the simulator does not, with the reason. */
const reasons: Readonly<Record<string, string>> = {
  'pods/attach': 'containers do not run in a simulated cluster',
  'pods/ephemeralcontainers': 'containers do not run in a simulated cluster',
  'pods/exec': 'containers do not run in a simulated cluster',
  'pods/log': 'containers do not run in a simulated cluster, so there are no logs',
  'pods/portforward': 'containers do not run in a simulated cluster',
  'pods/proxy': 'containers do not run in a simulated cluster',
  'pods/resize': 'the resources of a pod cannot change in a simulated cluster',
  'nodes/proxy': 'nodes of a simulated cluster have no kubelet server',
}

/** @returns refusal for an API that only a real cluster serves; undefined for anything else */
export function notServed({ group, resource, subresource }: ResourceRoute): ApiStatusError | undefined {
  const path = `${resource}/${subresource}`
  const reason = group === '' ? valueIn(reasons, path) : undefined
  return reason === undefined ? undefined : new ApiStatusError(501, 'NotImplemented', `${path} is not served: ${reason}`, {})
}
