import type { ObjectKey } from '@tranche/kube-types'
import type { AccountSign } from './account-signs.ts'
import type { InstalledPod } from './installed-signs.ts'
import type { ReleaseSign } from './release-signs.ts'
import type { RolloutSign } from './rollout-signs.ts'
import type { WebhookSign } from './webhook-signs.ts'

/** What was seen of a cluster; `forbidden` where we are not let look. */
export interface ClusterSigns {
  readonly server: string
  readonly context: string
  readonly version: { readonly major: string; readonly minor: string; readonly gitVersion: string }
  /** Our resources, and whether the API server serves them. */
  readonly served: Readonly<Record<string, boolean>>
  /** Which of our fields it would drop; null: none. */
  readonly schemaGap: string | null
  readonly rights: readonly Right[]
  /** Null where there is none. */
  readonly leader: LeaseSign | null | 'forbidden'
  /** Where the Lease of controllers was looked for. */
  readonly leaseNamespace: string
  /** Rollouts of DaemonSets. */
  readonly rollouts: readonly RolloutSign[] | 'forbidden'
  /** DaemonSets that wait for us to delete their pods. */
  readonly daemonSets: readonly ObjectKey[] | 'forbidden'
  readonly peer: { readonly webhook: boolean; readonly lease: LeaseSign | null } | 'forbidden'
  /** Names of what of ours sees updates of DaemonSets. */
  readonly admission: readonly string[] | 'forbidden'
  /** Pods of the chart; none where it was not installed by that. */
  readonly installed: readonly InstalledPod[] | 'forbidden'
  /** Accounts of these pods, and what they may do; `forbidden`: we may not ask. */
  readonly accounts: readonly AccountSign[] | 'forbidden'
  readonly releases: readonly ReleaseSign[] | 'forbidden'
  /** Configurations of our webhooks; none where admission is by other means. */
  readonly webhooks: readonly WebhookSign[] | 'forbidden'
  readonly redis: RedisSign
  /** The API server's time less ours, in milliseconds; null where it says none. */
  readonly skewMs: number | null
  /** Epoch milliseconds by our clock. */
  readonly nowMs: number
}

/**
 * What is known of the Redis that work is shared over. `asked`: it was looked at, `of` says by whose word (`of the executors `, or nothing);
 * `several`: the pods name different ones; `hidden`: they name one that cannot be judged from here; `none`: they name none;
 * `unknown`: nobody names one.
 */
export type RedisSign =
  | { readonly kind: 'asked'; readonly of: string; readonly problem: RedisFault | null; readonly advice: RedisFault | null }
  | { readonly kind: 'several'; readonly names: readonly string[] }
  | { readonly kind: 'hidden'; readonly name: string; readonly why: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

/** What is wrong with a Redis, or should be set otherwise. */
export interface RedisFault {
  readonly message: string
  readonly fix: string
}

/** A Lease as it was read. */
export interface LeaseSign {
  /** Empty where it was given up. */
  readonly holder: string
  /** Epoch milliseconds by its holder's clock. */
  readonly renewedMs: number
  readonly lengthMs: number
}

/** One thing that somebody may do or not. */
export interface Right {
  readonly verb: string
  /** `pods`, `rollouts.rollouts.kruise.io`. */
  readonly resource: string
  /** Without it, nothing can be shown; else single commands fail. */
  readonly needed: boolean
  readonly allowed: boolean
}
