import type { ResourceDefinition } from '../model/resource-definition.ts'
import type { JsonObject } from '../model/json.ts'
import type { AdmissionReview } from './admission.ts'
import type { RequestPlace } from './webhook-match.ts'

/** Write about to happen, as webhooks see it. */
export interface WebhookWrite extends AdmissionReview {
  readonly definition: ResourceDefinition
  /** Version in the request path. */
  readonly version: string
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. */
  readonly options: JsonObject
}

/** @returns `request` of an AdmissionReview @param version in which the webhook sees the object */
export function admissionRequest(write: WebhookWrite, uid: string, version: string): JsonObject {
  const { definition, actor, subresource, name, namespace, object, oldObject } = write
  const { group, kind, plural } = definition
  const { name: username, uid: userUid, groups, extra } = actor
  const apiVersion = group === '' ? version : `${group}/${version}`
  return {
    uid,
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    ...(subresource && { subResource: subresource }),
    requestKind: { group, version: write.version, kind },
    requestResource: { group, version: write.version, resource: plural },
    ...(subresource && { requestSubResource: subresource }),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation: write.operation,
    userInfo: { username, ...(userUid && { uid: userUid }), ...(groups && { groups }), ...(extra && { extra }) },
    object: object === undefined ? null : { ...object, apiVersion },
    oldObject: oldObject === undefined ? null : { ...oldObject, apiVersion },
    dryRun: write.dryRun,
    options: write.options,
  }
}

/** Target of a write. */
export type PlacedWrite = Pick<WebhookWrite, 'definition' | 'version' | 'operation' | 'subresource'> & Partial<Pick<WebhookWrite, 'name'>>

/** @returns view of a write for rules */
export function placeOf({ definition, version, operation, subresource, name }: PlacedWrite): RequestPlace {
  const versions = [version, ...definition.versions.filter((other) => other !== version)]
  const { group, plural: resource, namespaced } = definition
  return { operation, group, versions, resource, subresource, namespaced, name }
}
