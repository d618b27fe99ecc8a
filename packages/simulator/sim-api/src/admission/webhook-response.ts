import { readJson } from '@tranche/kube-types'
import { ApiStatusError, type ApiStatus } from '../model/status-error.ts'
import { isObject, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import type { WebhookAnswer } from './webhook-client.ts'

/** Parsed response of a webhook. */
export interface WebhookVerdict {
  readonly allowed: boolean
  readonly warnings: readonly string[]
  /** Operations of a JSON Patch; empty without a patch. */
  readonly patch: readonly unknown[]
  readonly result: JsonObject
}

/**
 * Parses the response of a webhook.
 *
 * @param expected uid of the request, and whether the webhook may change the object
 * @throws {Error} in the words of the real API server when the response is invalid
 */
export function readVerdict(answer: WebhookAnswer, expected: { readonly uid: string; readonly mutating: boolean }): WebhookVerdict {
  const review = reviewOf(answer)
  const fault = (text: string): Error => new Error(`received invalid webhook response: ${text}`)
  const { response, kind, apiVersion } = review
  if (!isObject(response)) throw fault('webhook response was absent')
  if (response['uid'] !== expected.uid)
    throw fault(`expected response.uid=${JSON.stringify(expected.uid)}, got ${JSON.stringify(response['uid'] ?? '')}`)
  if (apiVersion !== 'admission.k8s.io/v1' || kind !== 'AdmissionReview')
    throw fault(`expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${String(apiVersion)}, Kind=${String(kind)}`)
  return {
    allowed: response['allowed'] === true,
    warnings: listOrEmpty(response['warnings']).map(String),
    patch: patchOf(response, expected.mutating, fault),
    result: objectOrEmpty(response['status']),
  }
}

/** @returns error for a request that a webhook has denied */
export function deniedBy(webhook: string, result: JsonObject): ApiStatusError {
  const { code, message, reason, details } = result
  const says = `admission webhook ${JSON.stringify(webhook)} denied the request`
  const text = message ? `${says}: ${String(message)}` : reason ? `${says}: ${String(reason)}` : `${says} without explanation`
  // Only an error status code and a whole number of seconds can be sent.
  const status = Number.isInteger(code) && Number(code) >= 400 && Number(code) < 600 ? Number(code) : 400
  const { retryAfterSeconds, ...others } = objectOrEmpty(details)
  const kept = Number.isInteger(retryAfterSeconds) ? { ...others, retryAfterSeconds } : others
  const reported = isObject(details) ? (kept as ApiStatus['details']) : undefined
  return new ApiStatusError(status, typeof reason === 'string' ? reason : '', text, reported)
}

function reviewOf({ status, body }: WebhookAnswer): JsonObject {
  if (status < 200 || status > 206) throw new Error(`failed to call webhook: ${statusText(status, body)}`)
  let review: unknown
  try {
    review = readJson(body)
  } catch (error) {
    throw new Error(`failed to call webhook: couldn't get version/kind; json parse error: ${(error as Error).message}`, { cause: error })
  }
  if (isObject(review) && review['kind'] && review['apiVersion']) return review
  const missing = isObject(review) && review['kind'] ? 'apiVersion' : 'Kind'
  throw new Error(`failed to call webhook: Object '${missing}' is missing in '${body.trim()}'`)
}

function statusText(status: number, body: string): string {
  if (status === 404) return 'the server could not find the requested resource'
  if (status === 401) return 'the server has asked for the client to provide credentials'
  if (status === 403) return 'forbidden'
  if (status >= 500) return `an error on the server (${JSON.stringify(body.trim() || 'unknown')}) has prevented the request from succeeding`
  return 'the server rejected our request for an unknown reason'
}

function patchOf({ patch, patchType }: JsonObject, mutating: boolean, fault: (text: string) => Error): readonly unknown[] {
  const hasPatch = typeof patch === 'string' && patch !== ''
  if (!mutating) {
    if (hasPatch) throw fault('validating webhook may not return response.patch')
    if (patchType != null) throw fault('validating webhook may not return response.patchType')
    return []
  }
  if (hasPatch && patchType == null) throw fault('webhook returned response.patch but not response.patchType')
  if (!hasPatch && patchType != null) throw fault('webhook returned response.patchType but not response.patch')
  if (!hasPatch) return []
  if (patchType !== 'JSONPatch') throw new Error(`unsupported patch type ${JSON.stringify(patchType)}`)
  let operations: unknown
  try {
    operations = readJson(Buffer.from(patch, 'base64').toString())
  } catch (error) {
    throw new Error(`received undecodable patch in webhook response: ${(error as Error).message}`, { cause: error })
  }
  if (!Array.isArray(operations)) throw new Error('received undecodable patch in webhook response: it is not a list of operations')
  return operations
}
