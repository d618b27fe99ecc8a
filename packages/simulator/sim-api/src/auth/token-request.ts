import { type ApiObject, resources } from '../model/client.ts'
import { badRequest, conflict, invalidObject, notFound } from '../model/errors.ts'
import { invalid } from '../model/field-errors.ts'
import type { StatusCause } from '../model/status-error.ts'
import { isObject, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { apiAudience, boundResource, type ReadObject, type ServiceAccountTokens } from './service-account-tokens.ts'
import { timestamp } from '../model/timestamp.ts'

/** Dependencies of the token issuer. */
export interface TokenIssuer {
  readonly access: { readonly tokens: ServiceAccountTokens; readonly readObject: ReadObject }
  readonly nowMs: () => number
}

/**
 * Handles a TokenRequest for a service account.
 *
 * @param at account in the path
 * @throws {ApiStatusError} 404 when the account or the bound object does not exist; 400, 409, 422
 */
export function issueToken(
  { access, nowMs }: TokenIssuer,
  at: { readonly name: string; readonly namespace: string },
  body: JsonObject,
): object {
  const { tokens, readObject } = access
  const account = readObject(resources.serviceAccounts, at.name, at.namespace)
  if (account === undefined) throw notFound(resources.serviceAccounts, at.name)
  const spec = objectOrEmpty(body['spec'])
  const { expirationSeconds = 3600, boundObjectRef } = spec
  const causes = expirationCauses(expirationSeconds)
  if (causes.length > 0) throw invalidObject({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', causes)
  const asked = listOrEmpty(spec['audiences']).map(String)
  const audiences = asked.length === 0 ? [apiAudience] : asked
  const boundTo = isObject(boundObjectRef) ? boundObject(readObject, account, boundObjectRef) : undefined
  const seconds = Number(expirationSeconds)
  const token = tokens.issue({ account, audiences, expirationSeconds: seconds, boundTo })
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name: at.name, namespace: at.namespace, uid: account.metadata.uid, creationTimestamp: timestamp(nowMs()) },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: boundObjectRef ?? null },
    status: { token, expirationTimestamp: timestamp(nowMs() + seconds * 1000) },
  }
}

const SHORTEST_SECONDS = 600

function expirationCauses(seconds: unknown): readonly StatusCause[] {
  const field = 'spec.expirationSeconds'
  if (!Number.isInteger(seconds) || Number(seconds) < SHORTEST_SECONDS)
    return [invalid(field, seconds, 'may not specify a duration less than 10 minutes')]
  return Number(seconds) > 2 ** 32 ? [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')] : []
}

function boundObject(readObject: ReadObject, account: ApiObject, reference: JsonObject): ApiObject {
  const { kind, apiVersion = 'v1', name, uid } = reference
  const id = apiVersion === 'v1' ? boundResource(String(kind)) : undefined
  if (id === undefined) throw badRequest(`cannot bind token to object of type ${String(apiVersion)}, Kind=${String(kind)}`)
  const object = readObject(id, String(name), kind === 'Node' ? undefined : account.metadata.namespace)
  if (object === undefined) throw notFound(id, String(name))
  if (kind === 'Pod' && (objectOrEmpty(object['spec'])['serviceAccountName'] ?? 'default') !== account.metadata.name)
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account.metadata.name)} to pod running with different serviceaccount name.`,
    )
  if (uid && uid !== object.metadata.uid)
    throw conflict(
      id,
      String(name),
      `the UID in the bound object reference (${String(uid)}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  return object
}
