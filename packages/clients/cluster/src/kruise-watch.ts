import type { Clock } from '@tranche/clock'
import { createReflector, type KubeClient, type Reflector, resourcePaths } from '@tranche/kube-client'
import { type KubeObject, type Lease, keyOf, keyText } from '@tranche/kube-types'
import type { Logger } from '@tranche/log'

/** Name of the Lease by which OpenKruise Rollouts elects its leader. */
export const KRUISE_LEASE_NAME = '71ddec2c.kruise.io'
/** Name of its webhooks' configuration. */
export const KRUISE_WEBHOOKS_NAME = 'kruise-rollout-mutating-webhook-configuration'
/** Name of the webhook without which it does not roll out DaemonSets of apps/v1. */
export const KRUISE_DAEMON_SET_WEBHOOK = 'mdaemonset-native.kb.io'

/** How long a holder counts as active that does not say how long, in milliseconds. */
const LEASE_MS = 15_000

/** Another controller of native DaemonSets, as this process sees it. */
export interface KruiseActivity {
  /** Namespace and name of its Lease. */
  readonly lease: string
  readonly holder: string
  /** For how long (ms) it counts as active although nothing more is heard of it. */
  readonly activeForMs: number
}

/** Looks out for OpenKruise's controller of native DaemonSets. */
export interface KruiseWatch {
  readonly reflectors: readonly Reflector<unknown>[]
  /**
   * It is active while its Lease is being renewed, by this process's own clock (others' may differ), and its webhook for
   * native DaemonSets is registered, in the namespace of that webhook's Service; a Lease seen for the first time counts as just renewed.
   */
  activity(): KruiseActivity | null
  /** Calls back when it may have become active, or may be so no longer; not for each renewal. */
  subscribe(onChange: () => void): void
}

interface ObservedLease {
  readonly namespace: string
  readonly text: string
  readonly holder: string
  readonly lastMs: number
  readonly untilMs: number
}

/** The part of a MutatingWebhookConfiguration by which OpenKruise is known. */
export interface KruiseWebhooks extends KubeObject {
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig?: { readonly service?: { readonly namespace?: string } } }[]
}

/**
 * @returns the namespace in which the manager behind its webhook for native DaemonSets elects its leader: the one of its Service; '' where
 *   the webhook names no Service, and any namespace counts; null without that webhook
 */
export function kruiseNamespace({ webhooks = [] }: KruiseWebhooks): string | null {
  const webhook = webhooks.find(({ name }) => name === KRUISE_DAEMON_SET_WEBHOOK)
  return webhook === undefined ? null : (webhook.clientConfig?.service?.namespace ?? '')
}

/** What the look-out is made of. */
export interface KruiseWatchOptions {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  readonly seed?: number
}

/** Builds the two watches; whoever asks for them starts them. Both are of one name each, which a role can name too. */
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

/** A Lease of that name in another namespace is one that any user with rights there may have made. */
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
