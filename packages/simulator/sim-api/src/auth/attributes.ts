import type { Actor } from '../model/client.ts'
import { ApiStatusError } from '../model/status-error.ts'

/** Authorization attributes of a request. */
export type Attributes = ResourceAttributes | PathAttributes

/** Request for a resource. `verb` is one of RBAC's (`get`, `list`, `watch`, `create` …) or any word of a review. */
export interface ResourceAttributes {
  readonly kind: 'resource'
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource?: string | undefined
  /** Absent at the cluster scope and for lists over all namespaces. */
  readonly namespace?: string | undefined
  readonly name?: string | undefined
}

/** Any other request; `verb` is the method in lower case. */
export interface PathAttributes {
  readonly kind: 'path'
  readonly verb: string
  readonly path: string
}

/** Decision of the authorizer. `reason` names the binding that allowed it, or what could not be read before a refusal. */
export interface Decision {
  readonly allowed: boolean
  readonly reason: string
}

/** Members may do everything; the simulator's own actors are members unless configured otherwise. */
export const mastersGroup = 'system:masters'
/** Group of every request with a known token. */
export const authenticatedGroup = 'system:authenticated'
/** User of a request without a token. */
export const anonymous: Actor = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

/** @returns 403 Forbidden for a request that no rule allows */
export function forbiddenRequest(actor: Actor, attributes: Attributes, reason = ''): ApiStatusError {
  const cannot = `User ${JSON.stringify(actor.name)} cannot ${attributes.verb} ${whatOf(attributes)}`
  const why = `${cannot.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')}${reason === '' ? '' : `: ${reason}`}`
  if (attributes.kind === 'path') return new ApiStatusError(403, 'Forbidden', `forbidden: ${why}`, {})
  const { group, resource, name } = attributes
  const qualified = group === '' ? resource : `${resource}.${group}`
  const subject = name === undefined || name === '' ? qualified : `${qualified} ${JSON.stringify(name)}`
  return new ApiStatusError(403, 'Forbidden', `${subject} is forbidden: ${why}`, {
    ...(name && { name }),
    ...(group !== '' && { group }),
    kind: resource,
  })
}

/** @returns `pods/log`, or the resource alone */
export function combinedResource({ resource, subresource }: Pick<ResourceAttributes, 'resource' | 'subresource'>): string {
  return subresource ? `${resource}/${subresource}` : resource
}

function whatOf(attributes: Attributes): string {
  if (attributes.kind === 'path') return `path ${JSON.stringify(attributes.path)}`
  const what = `resource ${JSON.stringify(combinedResource(attributes))} in API group ${JSON.stringify(attributes.group)}`
  return attributes.namespace ? `${what} in the namespace ${JSON.stringify(attributes.namespace)}` : `${what} at the cluster scope`
}
