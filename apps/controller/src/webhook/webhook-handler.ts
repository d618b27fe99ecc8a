import {
  type Admission,
  admissionWebhooks,
  answerReview,
  decideReview,
  readReview,
  type ReviewFacts,
  type ReviewRequest,
  type WebhookName,
} from '@tranche/admission'
import type { Rollout } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type ControllerRevision, daemonSetAnnotations, REFUSED_LABEL } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import type { Metrics } from '@tranche/metrics'

/** Dependencies of {@link createWebhookHandler}. */
export interface WebhookHandlerParts {
  /** Reads the objects that a decision needs in addition to the review. */
  readonly client: Pick<KubeClient, 'get' | 'list'>
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: Metrics | undefined
}

/** HTTP response; `body` is JSON. */
export interface WebhookAnswer {
  readonly status: number
  readonly body: string
}

/** Answers one request. @param path path with query */
export type WebhookHandler = (path: string, body: string, signal: AbortSignal) => Promise<WebhookAnswer>

const names = new Map(admissionWebhooks.map(({ name }) => [`/${name}`, name]))
/** Deadline of a read, in milliseconds; less than the webhook timeout of the API server. */
const READ_MS = 2_000

/**
 * Answers AdmissionReviews of version v1 at the path of each webhook. It is stateless: every replica gives the same answers, whether it
 * leads or not, and whether its cluster cache is synced or not.
 */
export function createWebhookHandler(parts: WebhookHandlerParts): WebhookHandler {
  const { clock, log, metrics } = parts
  return async (path, body, signal) => {
    const name = names.get(path.split('?', 1)[0] ?? '')
    if (name === undefined) return said(404, `unknown path; the webhooks are ${[...names.keys()].join(', ')}`)
    const startMs = clock.monotonicMs()
    const countReview = (outcome: 'allowed' | 'changed' | 'refused' | 'failed'): void => {
      metrics?.count('tranche_webhook_reviews_total', { webhook: name, outcome })
      metrics?.observe('tranche_webhook_review_seconds', { webhook: name }, (clock.monotonicMs() - startMs) / 1000)
    }
    try {
      const request = readReview(body)
      if (request === undefined) {
        countReview('failed')
        return said(400, 'the body is not an AdmissionReview of admission.k8s.io/v1')
      }
      const admission = decideReview(name, request, await readFacts(parts, name, request, signal))
      countReview(outcomeOf(admission))
      return { status: 200, body: JSON.stringify(answerReview(request, admission)) }
    } catch (error) {
      countReview('failed')
      log.error({ err: error, webhook: name }, 'failed to answer admission review')
      return said(500, 'the review could not be answered; the controller log has the reason')
    }
  }
}

async function readFacts(
  { client, log }: WebhookHandlerParts,
  name: WebhookName,
  { namespace = '', oldObject }: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewFacts> {
  const options = { signal, deadlineMs: READ_MS }
  if (name === 'reapply') {
    const labelSelector = `${REFUSED_LABEL}=true`
    const { items } = await client.list<ControllerRevision>(resourcePaths.controllerRevisions, { ...options, namespace, labelSelector })
    return { refused: items, rollout: null }
  }
  const bound = name === 'daemonsets' ? oldObject?.metadata.annotations?.[daemonSetAnnotations.rollout] : undefined
  if (bound === undefined) return { refused: [], rollout: null }
  // The Rollout is needed only for warnings: without it, the review is answered without warnings.
  const rollout = await client.get<Rollout>(resourcePaths.rollouts, { namespace, name: bound }, options).catch((error: unknown) => {
    log.debug({ err: error, namespace, name: bound }, 'answering admission review without its Rollout')
    return null
  })
  return { refused: [], rollout }
}

function outcomeOf({ kind }: Admission): 'allowed' | 'changed' | 'refused' {
  return ({ allow: 'allowed', patch: 'changed', deny: 'refused' } as const)[kind]
}

function said(status: number, message: string): WebhookAnswer {
  return { status, body: `${JSON.stringify({ message })}\n` }
}
