import { type ApiObject, type ResourceId, resources } from '../model/client.ts'
import { badRequest, forbidden, internalError } from '../model/errors.ts'
import type { Change } from '../store/change.ts'
import { jsonEqual } from '../model/json.ts'
import { unpackDeepValues } from '../model/packed-values.ts'
import { type Random, randomUuid } from '../model/random.ts'
import type { Store } from '../store/store.ts'
import type { CallWebhook } from './webhook-client.ts'
import { type MatchCondition, readWebhooks, type Webhook } from './webhook-configuration.ts'
import { patchedObject } from './patched-object.ts'
import { matchedVersion, type RequestPlace, selectsWrite } from './webhook-match.ts'
import { deniedBy, readVerdict, type WebhookVerdict } from './webhook-response.ts'
import { admissionRequest, placeOf, type WebhookWrite } from './webhook-write.ts'

/** Calls the webhooks of the stored configurations. */
export interface Webhooks {
  /** @returns whether any webhook matches such a request */
  handles(place: RequestPlace): boolean
  /** Calls the mutating webhooks in sequence. @throws {ApiStatusError} when one refuses or fails */
  mutate(write: WebhookWrite): Promise<{ readonly object: ApiObject | undefined; readonly warnings: readonly string[] }>
  /** Calls the validating webhooks in parallel. @throws {ApiStatusError} when one refuses or fails */
  validate(write: WebhookWrite): Promise<readonly string[]>
}

/** Dependencies of the webhook calls. */
export interface WebhooksOptions {
  readonly store: Store
  readonly call: CallWebhook
  /** Source of request uids. */
  readonly names: Random
  /** @returns whether all conditions hold; throws when that cannot be decided */
  readonly meets: (conditions: readonly MatchCondition[], request: object) => boolean
}

/** `follow` must be called with every change, so that changed configurations are read again. */
export function createWebhooks(options: WebhooksOptions): Webhooks & { readonly follow: (change: Change) => void } {
  const read = new Map<ResourceId, readonly Webhook[]>()
  const webhooksOf = (id: ResourceId): readonly Webhook[] => {
    let webhooks = read.get(id)
    if (webhooks === undefined) read.set(id, (webhooks = configurationsOf(options.store, id).flatMap(readWebhooks)))
    return webhooks
  }
  const mutating = (): readonly Webhook[] => webhooksOf(resources.mutatingWebhookConfigurations)
  const validating = (): readonly Webhook[] => webhooksOf(resources.validatingWebhookConfigurations)
  return {
    handles(place) {
      const isExempt = place.group === resources.mutatingWebhookConfigurations.group
      const wants = (webhook: Webhook): boolean => matchedVersion(webhook, place) !== undefined
      return !isExempt && (mutating().some(wants) || validating().some(wants))
    },
    mutate: (write) => mutate(options, mutating(), write),
    validate: (write) => validate(options, validating(), write),
    follow(change) {
      if (change.id.group === resources.mutatingWebhookConfigurations.group) read.clear()
    },
  }
}

function configurationsOf(store: Store, id: ResourceId): readonly ApiObject[] {
  const { keys, objects } = store.bucket(id).current()
  return keys.map((key) => objects.get(key)!)
}

async function mutate(options: WebhooksOptions, webhooks: readonly Webhook[], first: WebhookWrite) {
  const warnings: string[] = []
  const again = new Set<string>()
  const invoked = new Set<string>()
  let write = first
  for (const round of [1, 2])
    for (const webhook of webhooks) {
      if (round === 2 && !again.has(webhook.id)) continue
      const verdict = await ask(options, webhook, write, true)
      if (verdict === undefined) continue
      warnings.push(...verdict.warnings)
      const object = patchedObject(write, verdict.patch, `admission webhook ${JSON.stringify(webhook.name)}`)
      // Webhooks that ask for reinvocation are called again about changes since their first call.
      if (round === 1 && !jsonEqual(object, write.object)) for (const id of invoked) again.add(id)
      if (webhook.reinvocationPolicy === 'IfNeeded') invoked.add(webhook.id)
      write = { ...write, object }
    }
  return { object: write.object, warnings: [...new Set(warnings)] }
}

async function validate(options: WebhooksOptions, webhooks: readonly Webhook[], write: WebhookWrite): Promise<readonly string[]> {
  const asked = await Promise.allSettled(webhooks.map((webhook) => ask(options, webhook, write, false)))
  const refused = asked.find((outcome) => outcome.status === 'rejected')
  if (refused !== undefined) throw refused.reason as Error
  return [...new Set(asked.flatMap((outcome) => (outcome.status === 'fulfilled' ? (outcome.value?.warnings ?? []) : [])))]
}

/** @returns undefined when the webhook does not match the request, or failed with failure policy Ignore */
async function ask(
  options: WebhooksOptions,
  webhook: Webhook,
  write: WebhookWrite,
  mutating: boolean,
): Promise<WebhookVerdict | undefined> {
  const version = matchedVersion(webhook, placeOf(write))
  if (version === undefined) return undefined
  if (!selectsWrite(webhook, write, (name) => options.store.bucket(resources.namespaces).get(name))) return undefined
  const uid = randomUuid(options.names)
  const request = admissionRequest(write, uid, version)
  if (!meetsConditions(options, webhook, request, write)) return undefined
  if (write.dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun')
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`)
  let verdict: WebhookVerdict
  try {
    const body = unpackDeepValues(JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request }))
    verdict = readVerdict(await called(options, webhook, body), { uid, mutating })
  } catch (error) {
    if (webhook.failurePolicy === 'Ignore') return undefined
    throw internalError(`failed calling webhook ${JSON.stringify(webhook.name)}: ${(error as Error).message}`)
  }
  if (!verdict.allowed) throw deniedBy(webhook.name, verdict.result)
  return verdict
}

async function called({ call }: WebhooksOptions, webhook: Webhook, body: string) {
  if (!webhook.admissionReviewVersions.includes('v1'))
    throw new Error('could not create admission objects: webhook does not accept known AdmissionReview versions (v1)')
  try {
    return await call(webhook.client, webhook.timeoutSeconds, body)
  } catch (error) {
    throw new Error(`failed to call webhook: ${(error as Error).message}`, { cause: error })
  }
}

function meetsConditions(options: WebhooksOptions, webhook: Webhook, request: object, write: WebhookWrite): boolean {
  if (webhook.matchConditions.length === 0) return true
  try {
    return options.meets(webhook.matchConditions, request)
  } catch (error) {
    if (webhook.failurePolicy === 'Ignore') return false
    throw forbidden(write.resource, write.name, (error as Error).message)
  }
}
