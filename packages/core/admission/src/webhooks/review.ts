import type { Rollout } from '@tranche/api-schema'
import {
  type ControllerRevision,
  cutDeepJson,
  type DaemonSet,
  JSON_LEVELS_MAX,
  type KubeObject,
  parseExactJson,
  wellFormedJson,
} from '@tranche/kube-types'
import { type Admission, type AdmissionOperation, allow } from '../admission.ts'
import { admitBoundDaemonSet } from '../admit-daemon-set.ts'
import { admitReapply } from '../admit-reapply.ts'
import { admitRollout, admitRolloutStatus } from '../admit-rollout.ts'
import type { WebhookName } from './admission-webhooks.ts'

/** The used parts of `request` of an AdmissionReview. @see admission/v1 AdmissionRequest */
export interface ReviewRequest {
  readonly uid: string
  readonly operation: AdmissionOperation
  readonly namespace?: string
  /** Absent while the API server has not generated it yet. */
  readonly name?: string
  readonly kind?: { readonly group?: string; readonly kind?: string }
  /** The object to store; null for DELETE. */
  readonly object: KubeObject | null
  /** The stored object; null for CREATE. */
  readonly oldObject: KubeObject | null
  readonly options?: { readonly fieldManager?: string } | null
  /** Whether the request adds values that are nested too deeply. Where both objects have such values, both are cut. */
  readonly addsDeepValues: boolean
}

/** Facts read from the cluster before a decision. */
export interface ReviewFacts {
  /** ControllerRevisions of the namespace whose template is refused; only for `reapply`. */
  readonly refused: readonly ControllerRevision[]
  /** The Rollout that the DaemonSet is bound to; null while unknown. Only for `daemonsets`, and only for its warnings. */
  readonly rollout: Rollout | null
}

/** @returns the request of an AdmissionReview of version v1; undefined for any other text */
export function readReview(text: string): ReviewRequest | undefined {
  let review: unknown
  try {
    // Digests of templates are compared with those that the controller has recorded.
    review = parseExactJson(wellFormedJson(text))
  } catch {
    return undefined
  }
  if (!isObject(review) || review['kind'] !== 'AdmissionReview' || review['apiVersion'] !== 'admission.k8s.io/v1') return undefined
  const { request } = review
  if (!isObject(request) || typeof request['uid'] !== 'string' || typeof request['operation'] !== 'string') return undefined
  const object = objectOf(request['object'])
  const oldObject = objectOf(request['oldObject'])
  if (object === undefined || oldObject === undefined) return undefined
  const [isDeep, wasDeep] = [cutDeepJson(object), cutDeepJson(oldObject)]
  return { ...request, object, oldObject, addsDeepValues: isDeep && !wasDeep } as unknown as ReviewRequest
}

const TOO_DEEP = `the object has objects and lists nested more than ${JSON_LEVELS_MAX} deep; use fewer levels`

/**
 * Makes the same decision as the policies for the same write. It also denies a write that adds values nested too deeply: a walk over them
 * would fail, and a webhook that fails may allow the write. An object that has such values already can still be paused and repaired.
 */
export function decideReview(name: WebhookName, request: ReviewRequest, { refused, rollout }: ReviewFacts): Admission {
  const { operation, options } = request
  if (request.addsDeepValues) return { kind: 'deny', message: TOO_DEEP, causes: [] }
  const fieldManager = options?.fieldManager
  const daemonSets = { oldObject: request.oldObject as DaemonSet | null, newObject: request.object as DaemonSet | null }
  const rollouts = { oldObject: request.oldObject as Rollout | null, newObject: request.object as Rollout | null }
  switch (name) {
    case 'daemonsets':
      return admitBoundDaemonSet({ operation, ...daemonSets, rollout, fieldManager })
    case 'reapply':
      return admitReapply({ operation, ...daemonSets, refused, fieldManager })
    case 'rollouts':
      return admitRollout({ operation, ...rollouts, others: [] })
    case 'rollout-status': {
      const { oldObject, newObject } = rollouts
      return oldObject === null || newObject === null ? allow() : admitRolloutStatus({ oldObject, newObject, fieldManager })
    }
  }
}

/** @returns the AdmissionReview of the response, as a JSON object */
export function answerReview(request: Pick<ReviewRequest, 'uid' | 'name' | 'kind'>, admission: Admission): object {
  const response = { uid: request.uid, ...responseOf(request, admission) }
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }
}

/** Includes the name of a rejected object, so that kubectl prints `The Rollout "node-agent" is invalid`. */
function responseOf({ name, kind }: Pick<ReviewRequest, 'name' | 'kind'>, admission: Admission): object {
  switch (admission.kind) {
    case 'allow':
      return { allowed: true, ...warningsOf(admission.warnings) }
    case 'patch':
      return { allowed: true, patchType: 'JSONPatch', patch: base64(JSON.stringify(admission.patch)), ...warningsOf(admission.warnings) }
    case 'deny': {
      const { message, causes } = admission
      const details = causes.length > 0 && { details: { name, group: kind?.group, kind: kind?.kind, causes } }
      return { allowed: false, status: { status: 'Failure', code: 422, reason: 'Invalid', message, ...details } }
    }
  }
}

function warningsOf(warnings: readonly string[]): object {
  return warnings.length === 0 ? {} : { warnings }
}

/** Base64 of the UTF-8 text, without Node.js APIs. */
function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))
}

/** @returns the object, null when absent, undefined when it has no metadata */
function objectOf(value: unknown): KubeObject | null | undefined {
  if (value === undefined || value === null) return null
  return isObject(value) && isObject(value['metadata']) ? (value as unknown as KubeObject) : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
