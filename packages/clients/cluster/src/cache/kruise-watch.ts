import type { Clock } from '@tranche/clock'
import { createReflector, type KubeClient, type Reflector, resourcePaths } from '@tranche/kube-client'
import { type KubeObject, type Lease, keyOf, keyText } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'

/** Lease of OpenKruise Rollouts' leader election. */
export const KRUISE_LEASE_NAME = '71ddec2c.kruise.io'
/** Name of OpenKruise Rollouts' MutatingWebhookConfiguration. */
export const KRUISE_WEBHOOKS_NAME = 'kruise-rollout-mutating-webhook-configuration'
/** Webhook that OpenKruise Rollouts needs to roll out DaemonSets of apps/v1. */
export const KRUISE_DAEMON_SET_WEBHOOK = 'mdaemonset-native.kb.io'

/** Lease duration of a holder that states none, in milliseconds. */
const LEASE_MS = 15_000

/** OpenKruise's controller of native DaemonSets, as this process sees it. */
export interface KruiseLeaseActivity {
  /** Namespace and name of its Lease. */
  readonly lease: string
  readonly holder: string
  /** How long it counts as active without a further renewal, in milliseconds. */
  readonly activeForMs: number
}

/** Detects OpenKruise's controller of native DaemonSets. */
export interface KruiseWatch {
  readonly reflectors: readonly Reflector<unknown>[]
  /**
   * The controller is active while its Lease is being renewed and its webhook for native DaemonSets is registered, in the namespace of that
   * webhook's Service. Renewals count by this process's own clock, because other clocks may differ; a Lease seen for the first time counts
   * as just renewed.
   */
  activity(): KruiseLeaseActivity | null
  /** Calls back when it may have become active or inactive; not for each renewal. */
  subscribe(onChange: () => void): void
}

interface ObservedLease {
  readonly namespace: string
  readonly text: string
  readonly holder: string
  readonly lastMs: number
  readonly untilMs: number
}

/** Part of a MutatingWebhookConfiguration that identifies OpenKruise. */
export interface KruiseWebhooks extends KubeObject {
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig?: { readonly service?: { readonly namespace?: string } } }[]
}

/**
 * @returns the namespace in which the manager behind its webhook for native DaemonSets elects its leader. It is the namespace of the
 * webhook's Service; '' (any namespace) if the webhook names no Service; null without that webhook.
 */
export function kruiseNamespace({ webhooks = [] }: KruiseWebhooks): string | null {
  const webhook = webhooks.find(({ name }) => name === KRUISE_DAEMON_SET_WEBHOOK)
  return webhook === undefined ? null : (webhook.clientConfig?.service?.namespace ?? '')
}

/** Dependencies of {@link watchKruise}. */
export interface KruiseWatchOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  readonly seed?: number
}

/** Creates the two watches; the caller starts them. Each covers a single name, to which a role can be limited. */
export function watchKruise(options: KruiseWatchOptions): KruiseWatch {
  const { clock } = options
  const leases = createReflector<ObservedLease, Lease>({
    ...options,
    resource: resourcePaths.leases,
    scope: { fieldSelector: `metadata.name=${KRUISE_LEASE_NAME}` },
    transform: (lease) => toObservedLease(lease, clock.monotonicMs()),
  })
  const webhooks = createReflector<string, KruiseWebhooks>({
    ...options,
    resource: resourcePaths.mutatingWebhookConfigurations,
    scope: { fieldSelector: `metadata.name=${KRUISE_WEBHOOKS_NAME}` },
    transform: kruiseNamespace,
  })
  return {
    reflectors: [leases, webhooks],
    activity() {
      const [namespace] = webhooks.store.list()
      if (namespace === undefined) return null
      const nowMs = clock.monotonicMs()
      const held = leases.store.list().find((lease) => isOfKruise(lease, namespace) && lease.holder !== '' && lease.untilMs > nowMs)
      return held === undefined ? null : { lease: held.text, holder: held.holder, activeForMs: held.untilMs - nowMs }
    },
    subscribe(onChange) {
      webhooks.subscribe({ onChange })
      leases.subscribe({
        onChange(_key, previous, current) {
          const wasHeld = previous !== undefined && previous.holder !== '' && previous.untilMs > (current?.lastMs ?? 0)
          if (wasHeld !== (current !== undefined && current.holder !== '')) onChange()
        },
      })
    },
  }
}

/** Rejects a Lease of that name in another namespace, which any user with rights there may have created. */
function isOfKruise({ namespace }: ObservedLease, ofWebhook: string): boolean {
  return ofWebhook === '' || namespace === ofWebhook
}

function toObservedLease(lease: Lease, monotonicMs: number): ObservedLease {
  const { holderIdentity = '', leaseDurationSeconds } = lease.spec ?? {}
  const lastsMs = leaseDurationSeconds === undefined ? LEASE_MS : leaseDurationSeconds * 1000
  return {
    namespace: lease.metadata.namespace ?? '',
    text: keyText(keyOf(lease)),
    holder: holderIdentity,
    lastMs: monotonicMs,
    untilMs: monotonicMs + lastsMs,
  }
}
