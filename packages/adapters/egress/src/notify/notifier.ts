import type { Receiver } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import type { EgressClient, EgressRequest, EgressResult } from '../egress-client.ts'
import type { SecretReader } from '../secret-reader.ts'
import { messageText, type NotifierRequest } from './message-text.ts'
import { SIGNATURE_HEADER, signatureOf } from './signature.ts'

/** Result of a notification. */
export type NotifierResult =
  | { readonly kind: 'taken' }
  /**
   * `message` begins with the field of the receiver that it is about, and names the fix. `retryAfterMs`: wait that the receiver asks for;
   * null: none.
   */
  | { readonly kind: 'refused'; readonly message: string; readonly retryAfterMs: number | null }

/** Sends notifications to receivers. */
export interface Notifier {
  /** @throws the signal's reason once it aborts, and nothing else */
  notify(notifyRequest: NotifierRequest, signal: AbortSignal): Promise<NotifierResult>
}

/** Dependencies of {@link createNotifier}. */
export interface NotifierParts {
  readonly egress: EgressClient
  readonly secrets: SecretReader
  readonly clock: Clock
}

/** Time limit of a receiver, in milliseconds. */
export const NOTIFY_TIMEOUT_MS = 10_000

/** Creates a notifier that posts to Slack and to webhooks. Every failure comes with a reason for a person, and is retried. */
export function createNotifier(parts: NotifierParts): Notifier {
  return {
    async notify(notifyRequest, signal) {
      try {
        const request = await toRequest(notifyRequest, parts, signal)
        const result = await parts.egress.send(
          { ...request, caller: notifyRequest.namespace, method: 'POST', timeoutMs: NOTIFY_TIMEOUT_MS },
          signal,
        )
        return answerOf(result, notifyRequest.receiver)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof Unsendable) return refused(error.message)
        throw error
      }
    },
  }
}

/** The notification cannot be sent at all; the message names the field. */
class Unsendable extends Error {}

type Post = Omit<EgressRequest, 'caller' | 'method' | 'timeoutMs'>

async function toRequest(notifyRequest: NotifierRequest, parts: NotifierParts, signal: AbortSignal): Promise<Post> {
  const { slack, webhook } = notifyRequest.receiver
  const secret = (field: string, ref: SecretKey): Promise<string> => readSecret({ ...parts, notifyRequest, signal }, field, ref)
  if (slack !== undefined) {
    const url = (await secret('slack.url', slack.url)).trim()
    // A value that is not a URL may be any secret, so no part of it is shown, not even what looks like its host.
    if (!/^https?:\/\/\S+$/i.test(url) || !URL.canParse(url))
      throw new Unsendable(
        `slack.url: the key ${slack.url.key} of the Secret ${slack.url.name} does not hold a URL; write one that starts with https://`,
      )
    return { url, headers: commonHeaders(notifyRequest), body: JSON.stringify({ text: messageText(notifyRequest, escapeForSlack) }) }
  }
  if (webhook === undefined) throw new Unsendable('slack and webhook are missing; set one of them')
  const body = webhookBody(notifyRequest)
  const headers: Record<string, string> = { ...commonHeaders(notifyRequest), 'x-tranche-event': notifyRequest.notification.event }
  if (webhook.hmac !== undefined) {
    const key = await secret('webhook.hmac', webhook.hmac)
    headers[SIGNATURE_HEADER] = signatureOf(body, key, Math.floor(parts.clock.nowMs() / 1000))
  }
  const privateHeaders = new Map<string, string>()
  for (const [index, { name, value = '', valueFrom }] of (webhook.headers ?? []).entries())
    privateHeaders.set(
      name.toLowerCase(),
      valueFrom === undefined ? value : (await secret(`webhook.headers[${index}].valueFrom`, valueFrom)).trim(),
    )
  return { url: webhook.url, headers, privateHeaders: Object.fromEntries(privateHeaders), body }
}

interface SecretKey {
  readonly name: string
  readonly key: string
}

interface Reading extends NotifierParts {
  readonly notifyRequest: NotifierRequest
  readonly signal: AbortSignal
}

async function readSecret({ secrets, notifyRequest, signal }: Reading, field: string, ref: SecretKey): Promise<string> {
  let answer: Awaited<ReturnType<SecretReader['read']>>
  try {
    answer = await secrets.read({ namespace: notifyRequest.namespace, name: ref.name, key: ref.key }, signal)
  } catch {
    signal.throwIfAborted()
    // The error may quote the response, so its message is not repeated.
    throw new Unsendable(`${field}: the Secret ${ref.name} cannot be read: the API server did not answer`)
  }
  if (answer.kind === 'missing') throw new Unsendable(`${field}: ${answer.message}; ${answer.fix}`)
  if (answer.value.trim() === '') throw new Unsendable(`${field}: the key ${ref.key} of the Secret ${ref.name} is empty; set a value`)
  return answer.value
}

/** Headers with an id that stays the same for every attempt at this receiver. */
function commonHeaders({ notification }: NotifierRequest): Readonly<Record<string, string>> {
  return { 'content-type': 'application/json', 'idempotency-key': notification.id }
}

/** Body of a webhook; docs/guides/notifications.md lists every field. */
function webhookBody(notifyRequest: NotifierRequest): string {
  const { namespace, rollout, notification } = notifyRequest
  const { id, event, at, message, revision = '', step = 0, nodes = [], dropped = 0 } = notification
  return JSON.stringify({ id, event, at, namespace, rollout, revision, step, nodes, message, text: messageText(notifyRequest), dropped })
}

/** @see https://api.slack.com/reference/surfaces/formatting#escaping */
function escapeForSlack(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Keeps only Slack's own words of the response: another server might echo the secrets that it was sent. */
function answerOf(result: EgressResult, { slack }: Receiver): NotifierResult {
  const field = slack === undefined ? 'webhook.url' : 'slack.url'
  if (result.kind === 'failed') return refused(`${field}: ${result.message}`)
  if (result.status >= 200 && result.status < 300) return { kind: 'taken' }
  const said = slack !== undefined && /^[a-z_]{1,64}$/.test(result.body.trim()) ? `: ${result.body.trim()}` : ''
  return refused(`${field}: answered with ${result.status}${said}`, retryAfterMs(result.headers))
}

/** Reads seconds; a date is ignored. */
function retryAfterMs(headers: Readonly<Record<string, string>>): number | null {
  const seconds = headers['retry-after']
  return seconds !== undefined && /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : null
}

function refused(message: string, retryMs: number | null = null): NotifierResult {
  return { kind: 'refused', message, retryAfterMs: retryMs }
}
